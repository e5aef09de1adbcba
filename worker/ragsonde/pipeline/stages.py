"""Everything the path of a trace needs of the world, wired once at the top."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from ragsonde.decoding.formats import Formats
    from ragsonde.decoding.limits import DecodingLimits
    from ragsonde.extraction.mapping import Mappings
    from ragsonde.pipeline.assignments import Assignment
    from ragsonde.ports import (
        Budgets,
        CheckStore,
        Clock,
        Insist,
        Isolation,
        ParkingStore,
        Resolver,
        SampleRates,
        ScoreSink,
        SpanBuffer,
        TraceStore,
    )
    from ragsonde.redaction.privacy import Privacy
    from ragsonde.scoring.scorer import Scorer

STAGES = ("decoding", "assembly", "extraction", "judging_free", "judging", "storage")
"""What `stage_seconds` tells apart."""


@dataclass(frozen=True, kw_only=True)
class Stages:
    """Everything the path needs, wired once at the top.

    Attributes:
        scorers: all that are configured.
        assignments: by judge name, in the order in which they are asked.
        retention_days: older claimed times are not believed.
        deadline_seconds: how long one evaluation may take.
        insist: does something again for as long as the database is away.
        formats: in which messages may come.
        mappings: the user's paths to fields, compiled.
        resolver: the user's functions that find fields.
        privacy: what keeps people's data out of what is stored and judged.
        backfill_id: the backfill whose files are read; None = live traffic.
        may_raise: a message may raise what is done, not only lower it.
        on_fault: is told an exception that one trace met, and its id; others of its message go on.
    """

    scorers: tuple[Scorer, ...]
    assignments: Mapping[str, Assignment]
    sample_rates: SampleRates
    budgets: Budgets
    checks: CheckStore
    traces: TraceStore
    spans: SpanBuffer
    parking: ParkingStore
    sink: ScoreSink
    clock: Clock
    isolation: Isolation
    limits: DecodingLimits
    formats: Formats
    mappings: Mappings
    resolver: Resolver
    privacy: Privacy
    retention_days: int
    deadline_seconds: float
    insist: Insist
    backfill_id: int | None = None
    may_raise: bool = False
    on_fault: Callable[[Exception, str], None] = lambda _error, _trace_id: None


@contextmanager
def timed(stage: str, stages: Stages) -> Iterator[None]:
    """Tells the sink how long the block took."""
    begun = stages.clock.monotonic()
    try:
        yield
    finally:
        stages.sink.on_stage(stage, stages.clock.monotonic() - begun)
