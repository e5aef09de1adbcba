"""What scores would be with fewer contexts: every expected number worked out by hand from the formulas."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.judged_traces import make_trace
from ragsonde.api.what_if import Cut, WhatIf, cut_contexts
from ragsonde.extraction.sentences import number_sentences
from ragsonde.scoring.outcomes import score_all
from ragsonde.scoring.table import build_scorers
from ragsonde.scoring.verdicts import read_assessment
from ragsonde_schemas.assessment import Assessment, Level
from ragsonde_schemas.trace import Context

TEXTS = ("Cats purr. Dogs bark.", "The torch needs AA.", "Rain fell.", "It lasts nine hours. Really.")
SCORES = (0.9, 0.2, None, 0.5)
LEVELS = ("low", "high", "none", "medium")


def make_scored(texts=TEXTS, scores=SCORES):
    trace = make_trace(*texts)
    return trace.model_copy(
        update={
            "contexts": tuple(
                context.model_copy(update={"score": score})
                for context, score in zip(trace.contexts, scores, strict=True)
            )
        }
    )


def judge(trace, levels=LEVELS, **more):
    contexts = {
        str(place): {"relevant": level in ("high", "medium"), "level": level, "used": level == "high"}
        for place, level in enumerate(levels, start=1)
    }
    said = {"contexts": contexts, "essential": ["2.1"], "relevant_sentences": ["2", "4.1"], "missing": []}
    return read_assessment({**said, **more}, trace)


@pytest.mark.parametrize(
    ("cut", "kept"),
    [
        (Cut(top_k=2), ("1", "2")),
        (Cut(min_score=0.5), ("1", "3", "4")),  # at least; a context without a score passes
        (Cut(drop=frozenset({Level.LOW, Level.NONE})), ("2", "4")),
        (Cut(drop=frozenset({Level.LOW}), top_k=2), ("2", "3")),  # the first two of those that pass
        (Cut(min_score=0.3, drop=frozenset({Level.NONE}), top_k=1), ("1",)),
        (Cut(top_k=0), ()),
        (Cut(top_k=9), ("1", "2", "3", "4")),
    ],
)
def test_which_contexts_remain(cut, kept):
    trace = make_scored()
    left = cut_contexts(trace, judge(trace), cut)
    assert left.kept == kept
    assert left.dropped == tuple(number for number in "1234" if number not in kept)
    assert left.characters_saved == sum(len(TEXTS[int(number) - 1]) for number in left.dropped)


def test_remaining_contexts_close_up_and_keep_what_was_said_of_them():
    trace = make_scored()
    left = cut_contexts(trace, judge(trace), Cut(drop=frozenset({Level.LOW, Level.NONE})))
    assert [context.content for context in left.trace.contexts] == [TEXTS[1], TEXTS[3]]
    assert [sentence.number for sentence in left.trace.sentences] == ["1.1", "2.1", "2.2"]
    assert [verdict.level for verdict in left.assessment.contexts.values()] == [Level.HIGH, Level.MEDIUM]
    assert (left.assessment.essential, left.assessment.relevant_sentences) == (("1.1",), ("1.1", "2.1"))


def test_statements_follow_their_contexts():
    trace = make_scored()
    statements = [
        {"context": "1", "text": "cats purr", "relevant": False},
        {"context": "4", "text": "nine hours", "relevant": True},
        {"text": "anywhere", "relevant": True},
    ]
    left = cut_contexts(trace, judge(trace, statements=statements), Cut(min_score=0.3, top_k=3))
    assert [one.context for one in left.assessment.statements] == ["1", "3", None]
    left = cut_contexts(trace, judge(trace, statements=statements), Cut(top_k=3))
    assert [one.context for one in left.assessment.statements] == ["1", None]


def test_every_score_is_computed_anew():
    trace = make_scored()
    found = WhatIf(scorers=build_scorers(None)[:5], cut=Cut(top_k=2))
    found.add(trace, judge(trace))
    after = {name: shift.after.summarise().mean for name, shift in found.shifts.items()}
    # contexts low, high used: position (1/2) / (3/2); precision 1/2; weighted (.3 + 1) / 2;
    # one of two contexts is essential; one of three sentences is relevant
    assert after["context_position"] == pytest.approx(1 / 3)
    assert after["context_precision"] == pytest.approx(1 / 2)
    assert after["context_relevance"] == pytest.approx(0.65)
    assert after["essential_context"] == pytest.approx(1 / 2)
    assert after["statement_relevancy"] == pytest.approx(1 / 3)
    # before: high, medium at ranks 1 and 3 of four
    assert found.shifts["context_position"].before.summarise().mean == pytest.approx(
        (1 / 2 + 1 / 4) / (25 / 12)
    )


def test_a_trace_left_without_contexts_has_no_score_and_no_zero():
    trace = make_scored()
    found = WhatIf(scorers=build_scorers(None)[:5], cut=Cut(top_k=0))
    found.add(trace, judge(trace))
    assert (found.evaluations, found.emptied) == (1, 1)
    for shift in found.shifts.values():
        assert (shift.before.summarise().n, shift.after.summarise().n) == (1, 0)


def test_what_is_lost_is_counted_by_trace():
    trace = make_scored()
    found = WhatIf(scorers=build_scorers(None)[:5], cut=Cut(min_score=0.3))
    found.add(trace, judge(trace))  # context 2 goes: used, relevant, essential
    found.add(trace, judge(trace, levels=("low", "none", "none", "high"), essential=["4.1"]))
    assert (found.evaluations, found.cut_evaluations) == (2, 2)
    assert (found.lost_used, found.lost_relevant, found.lost_essential) == (1, 1, 1)
    assert (found.contexts, found.contexts_dropped, found.unscored_contexts) == (8, 2, 2)


@pytest.mark.parametrize("texts", [(), ("  ",)])
def test_traces_without_contexts_are_not_counted(texts):
    trace = make_scored()
    contexts = tuple(Context(rank=rank, content=text) for rank, text in enumerate(texts))
    found = WhatIf(scorers=build_scorers(None)[:5], cut=Cut(top_k=1))
    assert found.add(trace.model_copy(update={"contexts": contexts}), Assessment()) is None
    assert found.add(trace, Assessment()) is None
    assert found.evaluations == 0


@given(st.lists(st.sampled_from(LEVELS), min_size=1, max_size=6), st.integers(1, 7))
def test_a_cut_is_the_trace_that_would_have_come_in_with_fewer_contexts(levels, top_k):
    texts = [f"Text {place} says something. And more." for place in range(len(levels))]
    whole = make_scored(texts, [None] * len(texts))
    short = make_scored(texts[:top_k], [None] * len(texts[:top_k]))
    said = {"essential": ["1.1"], "relevant_sentences": ["1"]}
    left = cut_contexts(whole, judge(whole, levels, **said), Cut(top_k=top_k))
    scorers = build_scorers(None)[:5]
    fresh = score_all(scorers, short, judge(short, levels[:top_k], **said))
    assert score_all(scorers, left.trace, left.assessment) == fresh
    for context in left.trace.contexts:
        assert context.sentences == number_sentences(context.content, context_number=context.number)


@given(st.lists(st.sampled_from(LEVELS), min_size=1, max_size=6))
def test_a_cut_that_drops_nothing_changes_nothing(levels):
    trace = make_scored([f"Text {place}." for place in range(len(levels))], [None] * len(levels))
    assessment = judge(trace, levels, essential=["1.1"], relevant_sentences=["1"])
    left = cut_contexts(trace, assessment, Cut(top_k=6))
    assert (left.trace, left.assessment) == (trace, assessment)


def test_scores_of_the_answer_or_of_all_contexts_at_once_are_left_out():
    wider = dict.fromkeys(("context_recall", "faithfulness", "answer_relevancy", "signal_share"))
    found = WhatIf(scorers=build_scorers(wider), cut=Cut(drop=frozenset({Level.NONE})))
    assert found.left_out == ("context_recall", "faithfulness", "answer_relevancy")
    trace = make_scored()
    found.add(trace, judge(trace))
    # one of four contexts is of level none, then none of three
    shift = found.shifts["signal_share"]
    assert (shift.before.summarise().mean, shift.after.summarise().mean) == (0.75, 1.0)
