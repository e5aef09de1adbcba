"""What it costs to put traces together from spans that come one by one: absorbing, claiming, settling."""

from __future__ import annotations

import random
import time
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from figures import Figure
from sqlalchemy import text

from fakes.clock import FakeClock
from fakes.traces import make_envelope
from ragsonde.assembly.records import gather_records
from ragsonde.decoding.table import decode
from ragsonde.storage.engine import build_engine
from ragsonde.storage.migrations import migrate
from ragsonde.storage.span_buffer import PostgresSpanBuffer
from services.postgres import own_database

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Engine

    from ragsonde_schemas.span import Span

SAMPLE = Path(__file__).parents[1] / "data" / "samples" / "langchain_openinference.otlp.pb"
TRACES = 300
SPANS_IN_A_MESSAGE = 64
MOST_MILLISECONDS = 5.0
"""Of CPU, for all that is done for one trace: a third of what the lexical judge may take for it."""


def measure_assembly(server: str) -> list[Figure]:
    """Traces cut into spans and shuffled over messages of 64 spans, on a database of its own.

    Args:
        server: the URL of a server on which databases may be made.
    """
    with own_database(server) as url:
        migrate(url)
        engine = build_engine(url, application_name="ragsonde bench")
        try:
            return _measure(engine)
        finally:
            engine.dispose()


def _measure(engine: Engine) -> list[Figure]:
    spans = _make_spans()
    clock = FakeClock()
    buffer = PostgresSpanBuffer(engine, clock=clock)
    messages = [spans[at : at + SPANS_IN_A_MESSAGE] for at in range(0, len(spans), SPANS_IN_A_MESSAGE)]
    with _timing() as trip:
        for _ in range(TRACES):
            with engine.begin() as connection:
                connection.execute(text("SELECT 1"))
    with _timing() as absorbing:
        for message in messages:
            buffer.absorb(message, format_name="otlp_protobuf", whole=frozenset())
    clock.advance(timedelta(seconds=10).total_seconds())
    with _timing() as closing:
        for trace_id in dict.fromkeys(span.trace_id for span in spans):
            claimed = buffer.claim(trace_id)
            assert claimed is not None, f"trace {trace_id} is not due"
            gather_records(claimed.spans, format_name=claimed.format)
            buffer.settle(claimed, admitted=())
    empty = trip.cpu / TRACES
    absorbed, closed = absorbing.cpu / TRACES, closing.cpu / TRACES
    whole = absorbed + closed
    per_trace = len(spans) // TRACES
    return [
        Figure(
            f"buffer a trace of {per_trace} spans, {SPANS_IN_A_MESSAGE} a message",
            f"{absorbed:.2f} ms CPU = {absorbed / empty:.1f} x an empty transaction",
            f"<= {MOST_MILLISECONDS:g} ms with closing",
            whole <= MOST_MILLISECONDS,
        ),
        Figure(
            "  claim, assemble, settle",
            f"{closed:.2f} ms CPU = {closed / empty:.1f} x an empty transaction",
            f"<= {MOST_MILLISECONDS:g} ms with buffering",
            whole <= MOST_MILLISECONDS,
        ),
        Figure(
            "  spans absorbed by one connection",
            f"{len(spans) / absorbing.wall * 1000:.0f}/s",
            ">= 1000/s",
            len(spans) / absorbing.wall * 1000 >= 1000,
        ),
    ]


def _make_spans() -> list[Span]:
    """The sample's spans under many trace ids, shuffled."""
    sample = decode(make_envelope(SAMPLE.read_bytes())).spans
    spans = [span._replace(trace_id=f"{number:032x}") for number in range(1, TRACES + 1) for span in sample]
    random.Random(3).shuffle(spans)
    return spans


class _Times:
    """Milliseconds that a block took."""

    cpu = 0.0
    wall = 0.0


@contextmanager
def _timing() -> Iterator[_Times]:
    times = _Times()
    cpu, wall = time.process_time(), time.perf_counter()
    yield times
    times.cpu = (time.process_time() - cpu) * 1000
    times.wall = (time.perf_counter() - wall) * 1000
