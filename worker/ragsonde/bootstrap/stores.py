"""What a worker keeps in Postgres, from the settings."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ragsonde.storage.budgets import PostgresBudgets
from ragsonde.storage.check_runs import PostgresCheckStore
from ragsonde.storage.sample_rates import PostgresSampleRates
from ragsonde.storage.span_buffer import PostgresSpanBuffer
from ragsonde.storage.trace_store import PostgresTraceStore

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from ragsonde.ports import Budgets, CheckStore, Clock, SampleRates, SpanBuffer, TraceStore
    from ragsonde.settings import Settings
    from ragsonde.storage.budgets import OnPause
    from ragsonde.storage.text_keeping import TextRule


class Stores(NamedTuple):
    """The stores of the path of a trace."""

    sample_rates: SampleRates
    budgets: Budgets
    checks: CheckStore
    traces: TraceStore
    spans: SpanBuffer


def build_stores(
    settings: Settings, *, engine: Engine, clock: Clock, texts: TextRule, on_pause: OnPause
) -> Stores:
    """All on one engine; nothing connects before it is used.

    Args:
        settings: as read.
        engine: of this process.
        clock: of this process.
        texts: which texts stay.
        on_pause: is told that a judge cannot be asked until somebody acts.
    """
    return Stores(
        sample_rates=PostgresSampleRates(
            engine,
            clock=clock,
            configured={options.name: options.sample for options in settings.judges},
        ),
        budgets=PostgresBudgets(
            engine,
            clock=clock,
            limits={one.name: one.budget.limits for one in settings.judges if one.budget is not None},
            on_pause=on_pause,
        ),
        checks=PostgresCheckStore(engine, clock=clock, lease_seconds=settings.lease_seconds),
        traces=PostgresTraceStore(
            engine,
            clock=clock,
            lease_seconds=settings.lease_seconds,
            retention_days=settings.retention_days.trace,
            texts=texts,
        ),
        spans=PostgresSpanBuffer(
            engine,
            clock=clock,
            times=settings.assembly,
            lease_seconds=settings.lease_seconds,
            retention_days=settings.retention_days.trace,
            span_retention_days=settings.retention_days.span,
        ),
    )
