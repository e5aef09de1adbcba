from hypothesis import given
from hypothesis import strategies as st

from ragsonde.judging.lexical.essential import Candidate, explain_insufficient, pick_essential

TARGETS = {"tower": 1.0, "complet": 1.0, "1889": 1.0, "march": 1.0}


def candidate(number, probability, *words):
    return Candidate(number, probability, frozenset(words))


def test_the_best_sentence_alone_where_nothing_else_adds():
    candidates = [candidate("1.1", 0.2, "tower"), candidate("1.2", 0.9, *TARGETS)]
    assert pick_essential(candidates, targets=TARGETS, sufficient=0.3) == ("1.2",)


def test_sentences_that_add_a_tenth_are_added_in_the_order_of_the_trace():
    candidates = [
        candidate("1.1", 0.4, "1889", "march"),
        candidate("1.2", 0.5, "sea"),
        candidate("2.1", 0.9, "tower", "complet"),
        candidate("2.2", 0.88, "tower", "complet"),
    ]
    assert pick_essential(candidates, targets=TARGETS, sufficient=0.3) == ("1.1", "2.1", "2.2")


def test_a_smaller_gain_is_not_worth_a_sentence():
    targets = {f"w{place}": 1.0 for place in range(20)}
    candidates = [candidate("1.1", 0.9, *list(targets)[:19]), candidate("1.2", 0.5, "w19")]
    assert pick_essential(candidates, targets=targets, sufficient=0.3) == ("1.1",)


def test_five_sentences_at_most_even_where_more_would_add():
    targets = {f"w{place}": 1.0 for place in range(8)}
    candidates = [candidate(f"1.{place}", 0.9 - place / 10, f"w{place}") for place in range(8)]
    assert len(pick_essential(candidates, targets=targets, sufficient=0.3)) == 5


def test_below_the_cut_off_the_contexts_do_not_suffice():
    assert pick_essential([candidate("1.1", 0.29, "tower")], targets=TARGETS, sufficient=0.3) is None
    assert pick_essential([], targets=TARGETS, sufficient=0.3) is None


def test_why_they_do_not_suffice_names_the_best_sentence_and_what_is_needed():
    candidates = [candidate("1.1", 0.1, "tower"), candidate("2.3", 0.27, "tower")]
    told = explain_insufficient(candidates, sufficient=0.29)
    assert "the best, 2.3, reaches 0.27 of the 0.29" in told
    assert explain_insufficient([], sufficient=0.29) == "the contexts hold no sentence"


@given(
    st.lists(st.tuples(st.floats(0, 1), st.frozensets(st.sampled_from(list(TARGETS)))), max_size=100),
    st.floats(0, 1),
)
def test_at_most_five_and_the_best_among_them(sentences, sufficient):
    candidates = [candidate(f"1.{place}", score, *words) for place, (score, words) in enumerate(sentences)]
    picked = pick_essential(candidates, targets=TARGETS, sufficient=sufficient)
    best = max((one.probability for one in candidates), default=-1.0)
    if best < sufficient:
        assert picked is None
    else:
        assert 1 <= len(picked) <= 5
        assert best in {one.probability for one in candidates if one.number in picked}
