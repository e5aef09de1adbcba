"""The buffer of spans behind its port, in memory and in Postgres, looked at in the same way."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from fakes.span_buffer import QUEUED_SECONDS, FakeSpanBuffer
from ragsonde.storage.span_buffer import PostgresSpanBuffer
from ragsonde.storage.sweeping import count_open, take_due_records

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from fakes.clock import FakeClock
    from ragsonde.assembly.closing import ClosingTimes
    from ragsonde.ports import SpanBuffer


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
        keys = take_due_records(
            self.engine, now=self.clock.now(), limit=limit, queued_for_seconds=QUEUED_SECONDS
        )
        return [key.trace_id for key in keys]

    def count_open(self) -> int:
        return count_open(self.engine)
