"""Spans that come after their trace was stored: no turn is judged under two keys, none stays out silently."""

import pytest

from builders.rag_spans import GENERATION, RAG_SPANS, make_generation, make_retriever, make_root
from builders.spans import TRACE_ID, make_span, write_export
from fakes.judge import FakeJudge
from fakes.stages import make_stages
from fakes.traces import make_envelope
from ragsonde.pipeline.closing import close_record
from ragsonde.pipeline.evaluate_trace import ingest
from ragsonde_schemas.evaluation import EvaluationState
from ragsonde_schemas.open_record import LateEffect, OpenRecordKey

KEY = OpenRecordKey(trace_id=TRACE_ID)
QUIET, NO_ROOT = 5, 60
ANSWERS = ("A refund takes 14 days.", "Shipping is free.")


@pytest.fixture
def stages():
    return make_stages(FakeJudge("lexical"))


def send(stages, *spans, after=0):
    """Brings spans and closes their trace when they have rested."""
    ingest(make_envelope(write_export(*spans)), stages)
    stages.clock.advance(after)
    close_record(KEY, stages)


def make_turn(number, *, start, answer):
    """A turn of its own: spans `number` to `number + 2`."""
    return (
        make_root(number, answer=answer, start=start, end=start + 9),
        make_retriever(number + 1, number, start=start + 1),
        make_generation(number + 2, number, answer=answer, start=start + 2),
    )


def list_current(stages):
    """Of each record that counts its key and what its newest revision answered."""
    newest = {}
    for key, stored in stages.traces.evaluations.items():
        if stored.state is not EvaluationState.SUPERSEDED:
            newest[key.trace.record_key] = stored.trace.answer
    return newest


def list_warnings(stages):
    return [
        warning
        for trace in stages.traces.traces
        for warning in trace.extraction.warnings
        if warning.startswith("late spans: ")
    ]


def told(stages, name):
    return [one for (one,) in stages.sink.of(name)]


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_a_turn_keeps_its_key_whichever_came_first(stages, order):
    turns = [make_turn(10, start=0, answer=ANSWERS[0]), make_turn(20, start=50, answer=ANSWERS[1])]
    first, second = (turns[place] for place in order)
    send(stages, *first)
    send(stages, *second, after=QUIET)
    assert list_current(stages) == {"": ANSWERS[order[0]], second[0].span_id: ANSWERS[order[1]]}
    assert len(stages.traces.evaluations) == 2
    assert told(stages, "on_late_spans") == [LateEffect.REVISION]


def test_a_turn_without_its_root_keeps_its_key_when_the_root_and_an_earlier_turn_come(stages):
    root, *rest = make_turn(20, start=50, answer=ANSWERS[1])
    send(stages, *rest, after=NO_ROOT)
    send(stages, root, *make_turn(10, start=0, answer=ANSWERS[0]), after=QUIET)
    assert list_current(stages) == {"": ANSWERS[1], f"{10:016x}": ANSWERS[0]}


def test_a_turn_that_turns_out_to_be_a_part_counts_no_more(stages):
    """A streamed answer's generation starts after its root has ended, and what links the two comes last."""
    root = make_root(1, start=0, end=5)
    streamed = make_generation(3, 2, start=50)
    send(stages, root, make_retriever(4, 1), streamed, after=QUIET)
    assert set(list_current(stages)) == {"", streamed.span_id}
    send(stages, make_span(2, 1, start=4, end=90), after=QUIET)
    assert set(list_current(stages)) == {""}
    assert told(stages, "on_late_spans") == [LateEffect.REVISION]
    (withdrawn,) = told(stages, "on_withdrawn")
    assert withdrawn > 0
    send(stages, make_span(9, 1), after=QUIET)
    assert len(told(stages, "on_withdrawn")) == 1


def test_at_the_last_revision_it_is_said_how_many_spans_are_not_in_it(stages):
    send(stages, *RAG_SPANS)
    for number in range(2):
        send(stages, make_root(answer=f"Answer {number}.", end=200 + number), after=QUIET)
    assert list_warnings(stages) == []
    send(stages, make_retriever(5, contexts=("Returns are free.",), start=2), make_span(6, 5), after=QUIET)
    assert list_warnings(stages) == [
        "late spans: spans came after the last revision that is kept: 2 late spans are not in it"
    ]
    send(stages, make_span(7, 5), after=QUIET)
    (warning,) = list_warnings(stages)
    assert "3 late spans are not in it" in warning
    assert told(stages, "on_late_spans")[-2:] == [LateEffect.OVER_LIMIT] * 2
    assert [trace.extraction.warnings for trace in stages.traces.traces][:2] == [(), ()]


def test_fuller_versions_of_spans_that_are_left_out_are_said_too(stages):
    send(stages, *RAG_SPANS)
    for number in range(3):
        send(stages, make_root(answer=f"Answer {number}.", end=200 + number), after=QUIET)
    (warning,) = list_warnings(stages)
    assert warning.endswith("what they say anew of its spans is not in it")


def test_one_late_span_is_one(stages):
    send(stages, *RAG_SPANS)
    for number in range(2):
        send(stages, make_root(answer=f"Answer {number}.", end=200 + number), after=QUIET)
    send(stages, make_retriever(5, contexts=("Returns are free.",), start=2), after=QUIET)
    assert "1 late span is not in it" in list_warnings(stages)[0]


def test_a_late_span_that_changes_nothing_after_the_last_revision_warns_of_nothing(stages):
    send(stages, *RAG_SPANS)
    for number in range(2):
        send(stages, make_root(answer=f"Answer {number}.", end=200 + number), after=QUIET)
    send(stages, GENERATION, make_span(8, 1), after=QUIET)
    assert list_warnings(stages) == []
