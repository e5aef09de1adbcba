"""The buffer of spans behind its port, in memory and in Postgres, looked at in the same way."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from builders.spans import TRACE_ID, make_span
from fakes.span_buffer import QUEUED_SECONDS, FakeSpanBuffer
from ragsonde.storage.due_records import DueRecords
from ragsonde.storage.span_buffer import PostgresSpanBuffer
from ragsonde.storage.sweeping import count_open

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from fakes.clock import FakeClock
    from ragsonde.assembly.closing import ClosingTimes
    from ragsonde.ports import SpanBuffer
    from ragsonde_schemas.open_record import AbsorbedTrace, ClaimedRecord

OTHER_ID = "0" * 31 + "1"
ROOT = make_span(1, start=0, end=100, resource={"service.name": "shop"})
RETRIEVER = make_span(2, 1, kind="RETRIEVER", start=10)
LLM = make_span(3, 1, kind="LLM", start=20)
LEASE_SECONDS = 150


class Buffers(Protocol):
    """A buffer on one clock."""

    clock: FakeClock
    spans: SpanBuffer

    def take_due(self, *, limit: int = 100) -> list[str]: ...

    def count_open(self) -> int: ...


class FakeBuffers:
    """The fake."""

    def __init__(self, clock: FakeClock, *, times: ClosingTimes | None = None) -> None:
        self.clock = clock
        self.spans = FakeSpanBuffer(clock=clock, times=times)

    def take_due(self, *, limit: int = 100) -> list[str]:
        return [key.trace_id for key in self.spans.take_due(limit=limit)]

    def count_open(self) -> int:
        return self.spans.count_open()


class PostgresBuffers:
    """The real one."""

    def __init__(self, clock: FakeClock, engine: Engine, *, times: ClosingTimes | None = None) -> None:
        self.clock = clock
        self.engine = engine
        self.spans = PostgresSpanBuffer(engine, clock=clock, times=times)

    def take_due(self, *, limit: int = 100) -> list[str]:
        keys = DueRecords().take(
            self.engine, now=self.clock.now(), limit=limit, queued_for_seconds=QUEUED_SECONDS
        )
        return [key.trace_id for key in keys]

    def count_open(self) -> int:
        return count_open(self.engine)


def absorb(buffers: Buffers, *spans, whole=(), format_name="otlp_json") -> AbsorbedTrace:
    """What became of the spans of one trace."""
    (absorbed,) = buffers.spans.absorb(spans, format_name=format_name, whole=frozenset(whole))
    return absorbed


def claim(buffers: Buffers, *, after=0, trace_id=TRACE_ID) -> ClaimedRecord:
    """The trace, which must be due so many seconds later."""
    buffers.clock.advance(after)
    claimed = buffers.spans.claim(trace_id)
    assert claimed is not None
    return claimed


def close(buffers: Buffers, *, after=5, admitted=()) -> ClaimedRecord:
    """The trace as it was closed."""
    claimed = claim(buffers, after=after)
    assert buffers.spans.settle(claimed, admitted=admitted)
    return claimed
