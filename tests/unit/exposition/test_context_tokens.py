"""How much of what was retrieved is relevant: by length, and only where somebody said so."""

from hypothesis import given
from hypothesis import strategies as st

from fakes.judged_traces import make_trace
from ragsonde.exposition.context_tokens import count_tokens
from ragsonde_schemas.assessment import Assessment, ContextVerdict
from ragsonde_schemas.trace import Context


def assess(*texts: str, relevant: tuple[bool | None, ...]) -> dict[str, float]:
    contexts = tuple(Context(rank=rank, content=text) for rank, text in enumerate(texts))
    verdicts = {str(number): ContextVerdict(relevant=one) for number, one in enumerate(relevant, start=1)}
    return count_tokens(make_trace().model_copy(update={"contexts": contexts}), Assessment(contexts=verdicts))


def test_four_bytes_are_a_token_and_a_begun_one_counts():
    assert assess("abcd", "abcde", "保修期两年", relevant=(True, False, False)) == {"yes": 1, "no": 2 + 4}


def test_a_blank_context_has_none_and_both_are_told_for_a_first_event_to_be_an_increase():
    assert assess("", relevant=(False,)) == {"yes": 0, "no": 0}


def test_without_a_verdict_on_relevance_nothing_is_told():
    assert assess("abcd", relevant=(None,)) == {}
    assert count_tokens(make_trace(), Assessment()) == {}


def test_a_context_that_lacks_its_verdict_is_in_neither():
    assert assess("abcd", "abcd", relevant=(True, None)) == {"yes": 1, "no": 0}


@given(st.lists(st.tuples(st.text(max_size=40), st.booleans()), min_size=1, max_size=6))
def test_every_context_is_on_one_side(judged):
    counts = assess(*(text for text, _ in judged), relevant=tuple(one for _, one in judged))
    assert sum(counts.values()) == sum(-(-len(text.encode()) // 4) for text, _ in judged)
