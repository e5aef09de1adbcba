"""Spans become traces: in any order, late, twice, without a root; each outcome is told, none twice."""

from itertools import permutations

import pytest

from builders.rag_spans import (
    CONTEXTS,
    GENERATION,
    RAG_SPANS,
    RETRIEVER,
    ROOT,
    make_generation,
    make_retriever,
    make_root,
)
from builders.spans import TRACE_ID, make_span, write_export
from fakes.judge import FakeJudge
from fakes.stages import make_stages
from fakes.traces import make_envelope
from ragsonde.pipeline.closing import close_record
from ragsonde.pipeline.evaluate_trace import ingest
from ragsonde_schemas.errors import ParkReason
from ragsonde_schemas.open_record import ClosingReason, FilterCause, LateEffect, OpenRecordKey

KEY = OpenRecordKey(trace_id=TRACE_ID)
QUIET, NO_ROOT = 5, 60


@pytest.fixture
def stages():
    return make_stages(FakeJudge("lexical"))


def send(stages, *spans):
    ingest(make_envelope(write_export(*spans)), stages)


def close(stages, *, after=0):
    stages.clock.advance(after)
    return close_record(KEY, stages)


def admissions(stages):
    return [(trace, admission) for trace, admission, _ in stages.sink.of("on_admitted")]


def kinds(stages):
    return [admission.kind for _, admission in admissions(stages)]


def texts(trace):
    return None if trace.contexts is None else tuple(context.content for context in trace.contexts)


def told(stages, name):
    return [one for (one,) in stages.sink.of(name)]


def test_a_whole_message_is_scored_at_once(stages):
    send(stages, *RAG_SPANS)
    ((trace, admission),) = admissions(stages)
    assert (trace.trace_id, trace.record_key, trace.app) == (TRACE_ID, "", "shop")
    assert texts(trace) == CONTEXTS
    assert admission.kind == "new"
    assert told(stages, "on_closed") == [ClosingReason.WHOLE]


@pytest.mark.parametrize("order", list(permutations(RAG_SPANS)))
def test_spans_in_any_order_each_twice_are_the_same_trace_as_the_whole_message(stages, order):
    whole = make_stages(FakeJudge("lexical"))
    send(whole, *RAG_SPANS)
    for span in (*order, *order):
        send(stages, span)
    assert admissions(stages) == []
    close(stages, after=QUIET)
    ((trace, admission),) = admissions(stages)
    ((expected, _),) = admissions(whole)
    assert (expected.content_hash, expected.key) == (trace.content_hash, trace.key)
    assert admission.kind == "new"
    assert close(stages, after=3600) == ()
    assert kinds(stages) == ["new"]


def test_a_trace_is_not_closed_before_it_has_been_quiet(stages):
    send(stages, ROOT)
    stages.clock.advance(QUIET - 1)
    send(stages, RETRIEVER)
    close(stages, after=QUIET - 1)
    assert admissions(stages) == []
    close(stages, after=1)
    assert kinds(stages) == ["new"]
    assert told(stages, "on_closed") == [ClosingReason.QUIET]


def test_a_late_retriever_makes_a_revision(stages):
    send(stages, ROOT, GENERATION)
    close(stages, after=QUIET)
    send(stages, RETRIEVER)
    close(stages, after=QUIET)
    (first, _), (second, admission) = admissions(stages)
    assert (texts(first), texts(second)) == (None, CONTEXTS)
    assert (admission.kind, admission.revision) == ("revision", 2)
    assert told(stages, "on_late_spans") == [LateEffect.REVISION]


def test_a_late_span_that_changes_nothing_judged_is_told_and_makes_no_revision(stages):
    send(stages, *RAG_SPANS)
    send(stages, make_span(9, 1))
    close(stages, after=QUIET)
    assert kinds(stages) == ["new", "duplicate"]
    assert told(stages, "on_late_spans") == [LateEffect.UNCHANGED]


def test_a_fourth_content_is_not_stored_and_told(stages):
    send(stages, *RAG_SPANS)
    for number in range(3):
        send(stages, make_root(answer=f"Answer {number}.", end=200 + number))
        close(stages, after=QUIET)
    assert kinds(stages) == ["new", "revision", "revision", "over_limit"]
    assert told(stages, "on_late_spans")[-1] == LateEffect.OVER_LIMIT


def test_without_its_root_a_trace_waits_longer_and_is_then_read_from_its_parts(stages):
    send(stages, RETRIEVER, GENERATION)
    close(stages, after=NO_ROOT - 1)
    assert admissions(stages) == []
    close(stages, after=1)
    ((trace, _),) = admissions(stages)
    assert texts(trace) == CONTEXTS
    assert told(stages, "on_closed") == [ClosingReason.NO_ROOT]


def test_a_root_that_comes_after_all_makes_a_revision_where_the_trace_is_stored(stages):
    send(stages, RETRIEVER, GENERATION)
    close(stages, after=NO_ROOT)
    late = make_root(answer="Within 14 days.", start=-86_400_000)
    send(stages, late)
    close(stages, after=QUIET)
    (first, _), (second, admission) = admissions(stages)
    assert (first.app, second.app) == ("", "")
    assert first.key == second.key
    assert admission.kind == "revision"
    assert any("kept as first stored" in warning for warning in second.extraction.warnings)


@pytest.mark.parametrize("years", [-56, -30, 0, 30, 70])
def test_the_producers_clock_neither_delays_nor_skips_a_trace(stages, years):
    shift = years * 31_557_600 * 10**9
    skewed = (
        span._replace(start_ns=max(0, span.start_ns + shift), end_ns=span.end_ns + shift)
        for span in RAG_SPANS
    )
    send(stages, *skewed)
    assert kinds(stages) == ["new"]


def test_two_roots_with_an_answer_each_are_two_records(stages):
    second = (
        make_root(11, answer="Yes."),
        make_retriever(12, 11, contexts=("Returns are free.",)),
        make_generation(13, 11, answer="Yes."),
    )
    send(stages, *second, *RAG_SPANS)
    found = {trace.record_key: (texts(trace), trace.answer) for trace, _ in admissions(stages)}
    assert found == {
        "": (CONTEXTS, ROOT.attributes["output.value"]),
        second[0].span_id: (("Returns are free.",), "Yes."),
    }


def test_a_trace_of_no_rag_application_is_filtered_and_told(stages):
    send(stages, make_span(1), make_span(2, 1))
    close(stages, after=QUIET)
    assert admissions(stages) == []
    assert told(stages, "on_filtered") == [FilterCause.NOT_RAG]
    assert stages.parking.parked == []


def test_an_end_marker_closes_at_once(stages):
    send(stages, make_root(attributes={**ROOT.attributes, "ragsonde.trace.end": True}))
    close(stages)
    assert told(stages, "on_closed") == [ClosingReason.END_MARKER]


def test_a_trace_that_never_gets_quiet_is_closed_after_the_longest_wait(stages):
    send(stages, ROOT)
    for number in range(200):
        stages.clock.advance(4)
        send(stages, make_span(100 + number, 1))
        close(stages)
    assert ClosingReason.MAX_WAIT in told(stages, "on_closed")


def test_spans_that_three_attempts_never_settled_are_parked(stages, monkeypatch):
    with monkeypatch.context() as planted:
        planted.setattr(stages.spans, "settle", lambda *_, **__: 1 / 0)
        for _ in range(3):
            send(stages, *RAG_SPANS)
            stages.clock.advance(151)
    close(stages)
    fault, parked = stages.parking.parked
    assert (fault.reason, parked.reason) == (ParkReason.INTERNAL_ERROR, ParkReason.REPEATED_CRASH)
    assert TRACE_ID in parked.message
    assert close(stages, after=3600) == ()


def test_contexts_of_too_many_sentences_park_the_trace_by_name(stages):
    send(stages, ROOT, make_retriever(contexts=("One. " * 60_000,)))
    (parked,) = stages.parking.parked
    assert parked.reason is ParkReason.OVER_LIMIT
    assert TRACE_ID.encode() in parked.envelope.body
    assert admissions(stages) == []


def test_messages_of_many_traces_are_closed_one_by_one(stages):
    spans = [span._replace(trace_id=f"{number:032x}") for number in range(1, 21) for span in RAG_SPANS]
    send(stages, *spans[::-1])
    assert sorted(trace.trace_id for trace, _ in admissions(stages)) == [f"{n:032x}" for n in range(1, 21)]
