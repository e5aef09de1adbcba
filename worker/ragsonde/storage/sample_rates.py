"""The rates at which judges look at apps' traces: written by the monitor each hour, read by workers."""

from __future__ import annotations

import logging
import threading
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import delete, func, select
from sqlalchemy.dialects.postgresql import insert

from ragsonde.storage.engine import translating_losses
from ragsonde.storage.tables import EvaluationRow, SampleRateRow
from ragsonde_schemas.errors import RagsondeError
from ragsonde_schemas.evaluation import EvaluationState

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlalchemy import Engine

    from ragsonde.ports import Clock

logger = logging.getLogger(__name__)

REFRESH = timedelta(seconds=30)
MOST_RATES = 5_000
"""Apps times judges: names of apps are the producers', and every worker holds the rates in memory."""
LONGEST_FORCE = timedelta(hours=2)
"""A rate holds for its hour, and for the next one until the monitor has written that one's."""
KEPT = timedelta(days=8)
"""A week of hourly counts is a judge's profile."""
HOURS = 24

_NEVER_LOOKED_AT = (EvaluationState.FILTERED, EvaluationState.NOT_EVALUABLE)


class HourlyRate(NamedTuple):
    """A rate for one app and judge in one hour, and what it was chosen from.

    Attributes:
        cause: `configured`, `floor` or `budget`.
        traces: of the app that the judge might have looked at in the hour before.
    """

    app: str
    judge: str
    rate: float
    configured: float
    cause: str
    traces: int


class StoredRate(NamedTuple):
    """The newest rate that was written for an app and judge; the settings it was chosen from may be gone."""

    starts_at: datetime
    rate: float
    configured: float

    def apply(self, configured: float) -> float:
        """The rate in force: this one, as long as the settings still say what it was chosen from."""
        return self.rate if self.configured == configured else configured


class PostgresSampleRates:
    """The `ports.SampleRates` over the table `sample_rate`; read again every 30 s.

    A rate that was chosen from another configured one than this process has is none: what people set holds at
    once, before the monitor has written anything.

    While it cannot be read, what was read last holds, as long as its hour lasts: no trace waits for its rate.

    Args:
        engine: of this process.
        clock: tells which rates are in force.
        configured: by judge, where the table has none.
    """

    def __init__(self, engine: Engine, *, clock: Clock, configured: Mapping[str, float]) -> None:
        self._engine = engine
        self._clock = clock
        self._configured = dict(configured)
        self._lock = threading.Lock()
        self._read_at: datetime | None = None
        self._rates: dict[tuple[str, str], StoredRate] = {}

    def find(self, app: str, judge: str) -> float:
        """The rate in force, 0..1."""
        now = self._clock.now()
        with self._lock:
            is_stale = self._read_at is None or not timedelta() <= now - self._read_at < REFRESH
            if is_stale:
                self._read_at = now
        if is_stale:
            self._refresh(now)
        configured = self._configured[judge]
        stored = self._rates.get((app, judge))
        is_in_force = stored is not None and now - stored.starts_at < LONGEST_FORCE
        return stored.apply(configured) if stored is not None and is_in_force else configured

    def _refresh(self, now: datetime) -> None:
        try:
            self._rates = read_rates(self._engine, now=now)
        except RagsondeError as error:
            logger.warning("sample_rates_not_read", extra={"error": type(error).__name__})


def read_rates(engine: Engine, *, now: datetime) -> dict[tuple[str, str], StoredRate]:
    """By app and judge, the newest rate that has begun.

    Raises:
        DatabaseLostError: Postgres is away.
    """
    row = SampleRateRow
    query = (
        select(row.app, row.judge, row.starts_at, row.rate, row.configured)
        .where(row.starts_at <= now, row.starts_at > now - LONGEST_FORCE)
        .order_by(row.starts_at)
    )
    with translating_losses(), engine.connect() as connection:
        return {
            (app, judge): StoredRate(starts_at, rate, configured)
            for app, judge, starts_at, rate, configured in connection.execute(query)
        }


def read_last_counts(engine: Engine, *, since: datetime) -> dict[tuple[str, str], int]:
    """By app and judge, how many traces came in the last hour with any, of those that ended since then.

    Raises:
        DatabaseLostError: Postgres is away.
    """
    row = SampleRateRow
    query = (
        select(row.app, row.judge, row.traces)
        .where(row.starts_at > since, row.traces > 0)
        .order_by(row.starts_at)
    )
    with translating_losses(), engine.connect() as connection:
        return {(app, judge): traces for app, judge, traces in connection.execute(query)}


def count_looked_at(engine: Engine, *, since: datetime, until: datetime) -> dict[tuple[str, str], int]:
    """How many traces of an app a judge might have looked at, by app and judge: judged, waiting or left out.

    Raises:
        DatabaseLostError: Postgres is away.
    """
    row = EvaluationRow
    query = (
        select(row.app, row.judge, func.count())
        .where(
            row.created_at >= since,
            row.created_at < until,
            row.revision == 1,
            ~row.is_added,
            row.state.not_in([state.value for state in _NEVER_LOOKED_AT]),
        )
        .group_by(row.app, row.judge)
    )
    with translating_losses(), engine.connect() as connection:
        return {(app, judge): count for app, judge, count in connection.execute(query)}


def write_rates(engine: Engine, rates: Sequence[HourlyRate], *, hour: datetime) -> int:
    """Stores the rates of the hour that begins then, and forgets those over a week old.

    A rate that is stored already stays: within an hour it changes only when the configured one has. Of more
    than MOST_RATES those with the most traces are stored; to the others the configured one applies.

    Returns:
        How many were new or changed.

    Raises:
        DatabaseLostError: Postgres is away.
    """
    with translating_losses(), engine.begin() as connection:
        connection.execute(delete(SampleRateRow).where(SampleRateRow.starts_at < hour - KEPT))
        if not rates:
            return 0
        kept = sorted(rates, key=lambda rate: -rate.traces)[:MOST_RATES]
        rows = [{**rate._asdict(), "starts_at": hour} for rate in kept]
        statement = insert(SampleRateRow)
        new = statement.excluded
        statement = statement.on_conflict_do_update(
            index_elements=["app", "judge", "starts_at"],
            set_={"rate": new.rate, "configured": new.configured, "cause": new.cause},
            where=SampleRateRow.configured != new.configured,
        )
        return len(connection.execute(statement.returning(SampleRateRow.app), rows).all())


def read_profile(engine: Engine, judge: str, *, now: datetime) -> tuple[float, ...] | None:
    """Which share of a day's traces comes in each hour of the day (UTC), from the last week; they sum to 1.

    None before there is a day of counts, or where nothing came.

    Raises:
        DatabaseLostError: Postgres is away.
    """
    row = SampleRateRow
    query = select(row.starts_at, func.sum(row.traces)).where(row.judge == judge).group_by(row.starts_at)
    with translating_losses(), engine.connect() as connection:
        counts = {starts_at: int(count) for starts_at, count in connection.execute(query)}
    if not counts or now - min(counts) < timedelta(hours=HOURS):
        return None
    by_hour = [0] * HOURS
    for starts_at, count in counts.items():
        by_hour[(starts_at.astimezone(UTC).hour - 1) % HOURS] += count
    total = sum(by_hour)
    return tuple(count / total for count in by_hour) if total else None
