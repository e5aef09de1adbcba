"""Contexts within a token budget; here every word, numbers too, is one token."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.judged_traces import make_trace
from ragsonde.judging.long_texts import cut_middle, shorten_texts
from ragsonde.judging.prompt import number_lines
from ragsonde.judging.token_budget import (
    CUT_MARK,
    LEAST_TOKENS,
    cut_text,
    halve_contexts,
    plan_parts,
)


def count_words(text):
    return len(text.split())


def sentences(count, *, words):
    """A text of so many sentences; each takes one token more than it has words, its number."""
    return "\n".join(" ".join([f"Alpha{n}"] + ["beta"] * (words - 2) + ["omega."]) for n in range(count))


def plan(*contexts, tokens, calls=2, count=count_words):
    return plan_parts(make_trace(*contexts), max_tokens=tokens, max_calls=calls, count=count)


def numbers(part):
    return [context.number for context in part.contexts if not context.is_blank]


def shown(part):
    return [sentence.number for sentence in part.sentences]


def test_what_is_surely_short_enough_is_not_counted():
    def refuse(_text):
        raise AssertionError("counted")

    trace = make_trace("A battery.", "A shop.")
    assert plan_parts(trace, max_tokens=100, max_calls=2, count=refuse) == (trace,)


def test_what_fits_is_one_part_and_the_trace_itself():
    trace = make_trace(sentences(3, words=9), sentences(3, words=9))
    (part,) = plan_parts(trace, max_tokens=60, max_calls=2, count=count_words)
    assert part is trace


def test_contexts_go_whole_into_as_few_calls_as_hold_them_and_keep_their_numbers():
    four, two = sentences(4, words=9), sentences(2, words=9)
    first, second = plan(four, four, " ", two, two, tokens=60)
    assert (numbers(first), numbers(second)) == (["1", "4"], ["2", "5"])
    assert shown(second) == ["2.1", "2.2", "2.3", "2.4", "5.1", "5.2"]
    assert [context.number for context in second.contexts] == ["2", "3", "5"]


def test_what_no_number_of_calls_holds_is_dealt_out_and_cut_at_sentences():
    first, second = plan(sentences(20, words=9), sentences(3, words=9), sentences(3, words=9), tokens=60)
    assert numbers(first) == ["1"]
    assert shown(first) == [f"1.{n}" for n in range(1, 7)]
    assert shown(second) == ["2.1", "2.2", "2.3", "3.1", "3.2", "3.3"]


def test_the_largest_are_placed_first_so_that_more_stays_whole():
    two, three = (sentences(count, words=9) for count in (2, 3))
    parts = plan(two, three, two, two, three, tokens=60)
    assert [numbers(part) for part in parts] == [["1", "3", "4"], ["2", "5"]]
    assert sum(len(part.sentences) for part in parts) == 12


def test_an_endless_context_weighs_no_more_than_a_call_has_room():
    endless, three = sentences(50, words=9), sentences(3, words=9)
    first, second = plan(endless, three, three, three, tokens=60)
    assert (numbers(first), numbers(second)) == (["1", "4"], ["2", "3"])
    assert shown(first) == ["1.1", "1.2", "1.3", "4.1", "4.2", "4.3"]


def test_a_part_has_its_own_sentences_though_those_of_the_trace_were_read():
    trace = make_trace(sentences(20, words=9))
    assert len(trace.sentences) == 20
    (part,) = plan_parts(trace, max_tokens=100, max_calls=1, count=count_words)
    assert len(part.sentences) == 10


def test_within_one_call_the_short_ones_stay_whole():
    (part,) = plan(sentences(20, words=9), sentences(2, words=9), tokens=60, calls=1)
    assert shown(part) == ["1.1", "1.2", "1.3", "1.4", "2.1", "2.2"]


def test_an_only_context_is_cut_for_one_call():
    (part,) = plan(sentences(20, words=9), tokens=100)
    assert shown(part) == [f"1.{n}" for n in range(1, 11)]


def test_first_sentences_that_are_too_long_together_are_cut_to_equal_shares():
    (part,) = plan(sentences(2, words=90), sentences(2, words=90), sentences(2, words=9), tokens=90, calls=1)
    first, second, third = part.contexts
    assert all(first.sentences[0].text.endswith(CUT_MARK) for first in (first, second))
    assert [count_words(number_lines(context)[0]) for context in (first, second)] == [28, 28]
    assert third.sentences[0].text.endswith("omega.")


def test_each_context_is_shown_even_where_the_budget_must_yield():
    (part,) = plan(*[sentences(1, words=90)] * 20, tokens=100, calls=1)
    assert len(numbers(part)) == 20
    for context in part.contexts:
        assert 10 < count_words(number_lines(context)[0]) <= LEAST_TOKENS


def test_a_context_without_sentences_is_cut_too():
    trace = make_trace(sentences(1, words=90))
    bare = trace.contexts[0].model_copy(update={"sentences": ()})
    trace = trace.model_copy(update={"contexts": (bare,)})
    (part,) = plan_parts(trace, max_tokens=50, max_calls=2, count=count_words)
    assert count_words(part.contexts[0].content) == 48
    assert part.contexts[0].content.endswith(CUT_MARK)


def test_a_cut_never_ends_inside_a_word_unless_it_is_the_only_one():
    assert cut_text("one two three four five six", most=6, count=count_words) == "one two three [...]"
    letters = cut_text("x" * 50, most=13, count=len)
    assert letters == "x" * 10 + CUT_MARK


def test_half_of_the_contexts():
    half = halve_contexts(make_trace(sentences(10, words=9)), count=count_words)
    assert shown(half) == [f"1.{n}" for n in range(1, 6)]


def test_what_is_as_short_as_can_be_has_no_half():
    assert halve_contexts(make_trace("A battery is small."), count=count_words) is None


@given(
    st.lists(st.tuples(st.integers(0, 12), st.integers(2, 60)), min_size=1, max_size=8).filter(
        lambda sizes: any(count for count, _ in sizes)
    ),
    st.integers(100, 400),
    st.integers(1, 4),
)
def test_every_context_is_in_one_part_within_the_budget_from_its_beginning(sizes, tokens, calls):
    trace = make_trace(*[sentences(count, words=words) or " " for count, words in sizes])
    parts = plan_parts(trace, max_tokens=tokens, max_calls=calls, count=count_words)
    assert 1 <= len(parts) <= calls
    told = [number for part in parts for number in numbers(part)]
    assert sorted(told) == [c.number for c in trace.contexts if not c.is_blank]
    whole = {context.number: context for context in trace.contexts}
    for part in parts:
        assert shown(part) == [sentence.number for context in part.contexts for sentence in context.sentences]
        lines = [line for context in part.contexts for line in number_lines(context) if not context.is_blank]
        assert sum(map(count_words, lines)) <= max(tokens, LEAST_TOKENS * len(numbers(part)))
        for context in part.contexts:
            if not context.is_blank:
                texts = [sentence.text for sentence in whole[context.number].sentences]
                assert [s.text for s in context.sentences][1:] == texts[1 : len(context.sentences)]


LONG = " ".join(f"w{n}" for n in range(1000))


def test_long_texts_beside_the_contexts_lose_their_middle():
    trace = make_trace(answer=LONG, reference=LONG, turns=(("user", LONG), ("user", "Hello")))
    shorter, names = shorten_texts(trace, max_tokens=101, count=count_words)
    assert names == ("answer", "reference", "turns")
    assert shorter.answer.startswith("w0 w1 w2 ")
    assert shorter.answer.endswith(" w998 w999")
    assert shorter.answer.count("[...]") == 1
    assert 90 <= count_words(shorter.answer) <= 101
    assert shorter.reference.answer == shorter.turns[0].content == shorter.answer
    assert (shorter.query, shorter.turns[1].content) == (trace.query, "Hello")


def test_short_texts_are_left_as_they_are():
    trace = make_trace()
    assert shorten_texts(trace, max_tokens=200, count=count_words) == (trace, ())


@pytest.mark.parametrize("text", ["x" * 100_000, "\u4e16" * 5000, "word " * 5000, "\ud800" * 3000])
def test_whatever_the_text_its_ends_fit(text):
    cut = cut_middle(text, most=100, count=lambda one: len(one) // 4)
    assert 250 <= len(cut) <= 403
