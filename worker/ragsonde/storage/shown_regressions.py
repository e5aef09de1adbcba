"""How it stands with each stream that is watched."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from sqlalchemy import text

from ragsonde.regression.alert_state import Level, StreamState
from ragsonde.regression.evidence import count_evidence_days
from ragsonde.storage.baselines import build_baseline
from ragsonde.storage.block_tables import STREAM_KEY
from ragsonde.storage.engine import translating_losses
from ragsonde.storage.regression_states import count_active_streams
from ragsonde.storage.trace_rows import to_utc
from ragsonde_schemas.score_stream import ScoreStream
from ragsonde_schemas.told_explanation import read_explanation

if TYPE_CHECKING:
    from datetime import date, datetime

    from sqlalchemy import Engine, RowMapping

_READ = text(
    f"""
SELECT DISTINCT ON (m.stream_id) {", ".join(f"s.{name}" for name in STREAM_KEY)}, m.log_bets,
    b.kind AS baseline_kind, b.fitted, a.kind AS alert_kind, a.since, a.explanation
FROM monitor_state m
JOIN score_stream s ON s.id = m.stream_id
JOIN baseline b ON b.id = m.baseline_id
LEFT JOIN alert a ON a.stream_id = m.stream_id AND a.closed_at IS NULL
WHERE m.day >= :first OR a.id IS NOT NULL
ORDER BY m.stream_id, m.day DESC
"""  # noqa: S608  # constants
)


class OpenFall(NamedTuple):
    """A fall as it was told last; a number that was not, None."""

    since: datetime
    drop: float | None
    drop_lower: float | None
    drop_upper: float | None
    mix_shift: float | None


class ShownStream(NamedTuple):
    """A stream that is watched.

    Attributes:
        level: what is open of it.
        fall: that is open; None where none is.
    """

    stream: ScoreStream
    level: Level
    evidence_days: float
    baseline_mean: float
    overdispersion: float
    fall: OpenFall | None


def read_shown(engine: Engine, *, first: date) -> tuple[ShownStream, ...]:
    """The streams that were judged on that day or later, and those of which a fall is open.

    Raises:
        DatabaseLostError: Postgres is away.
    """
    with translating_losses(), engine.connect() as connection:
        return tuple(_build(row) for row in connection.execute(_READ, {"first": first}).mappings())


def count_active(engine: Engine, day: date, *, days: int) -> int:
    """How many streams have traces in so many days before a day.

    Raises:
        DatabaseLostError: Postgres is away.
    """
    with translating_losses(), engine.connect() as connection:
        return count_active_streams(connection, day, days=days)


def _build(row: RowMapping) -> ShownStream:
    baseline = build_baseline(row["baseline_kind"], row["fitted"])
    state = StreamState(log_bets=np.array(row["log_bets"], dtype=np.float64))
    level, fall = Level.QUIET, None
    if row["alert_kind"] is not None:
        level = Level.PAGED if row["alert_kind"] == "page" else Level.WARNED
        told = read_explanation(row["explanation"])
        fall = OpenFall(to_utc(row["since"]), told.drop, told.drop_lower, told.drop_upper, told.mix_shift)
    return ShownStream(
        stream=ScoreStream(**{name: row[name] for name in STREAM_KEY}),
        level=level,
        evidence_days=count_evidence_days(state.log_evidence),
        baseline_mean=baseline.mean,
        overdispersion=baseline.overdispersion,
        fall=fall,
    )
