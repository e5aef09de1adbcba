"""What is told of a trace's spans before, while and after they are evaluated."""

from datetime import timedelta

import pytest

from builders.rag_spans import GENERATION, RETRIEVER, ROOT
from builders.spans import TRACE_ID, make_span
from fakes.clock import NOON, FakeClock
from ragsonde.storage.history import read_history
from ragsonde.storage.span_buffer import PostgresSpanBuffer
from ragsonde_schemas.open_record import AdmittedRecord, ClosingReason

pytestmark = pytest.mark.integration


@pytest.fixture
def clock():
    return FakeClock()


@pytest.fixture
def buffer(engine, clock):
    return PostgresSpanBuffer(engine, clock=clock)


def send(buffer, *spans):
    buffer.absorb(spans, format_name="otlp_json", whole=frozenset())


def test_spans_that_wait_are_told_with_the_time_they_are_evaluated(engine, buffer):
    send(buffer, ROOT, GENERATION)
    history = read_history(engine, TRACE_ID)
    assert history.revisions == ()
    spans = history.spans
    assert (spans.span_count, spans.has_root, spans.format) == (2, True, "otlp_json")
    assert spans.next_close_at == NOON + timedelta(seconds=5)


@pytest.mark.parametrize(
    "admitted",
    [(), (AdmittedRecord(record_key="", app="shop", occurred_at=NOON),)],
    ids=["not RAG", "stored"],
)
def test_spans_that_were_evaluated_are_told_with_what_became_of_them(engine, buffer, clock, admitted):
    send(buffer, ROOT, RETRIEVER)
    clock.advance(5)
    assert buffer.settle(buffer.claim(TRACE_ID), admitted=admitted)
    spans = read_history(engine, TRACE_ID).spans
    assert (spans.next_close_at, spans.reason) == (None, ClosingReason.QUIET)
    assert spans.is_stored == bool(admitted)


def test_of_another_trace_nothing_is_told(engine, buffer):
    send(buffer, make_span(1))
    assert read_history(engine, "0" * 31 + "2").spans is None
