"""The names that all processes of a deployment show: read by each, written by the monitor."""

from __future__ import annotations

import logging
import threading
from datetime import timedelta
from typing import TYPE_CHECKING

from sqlalchemy import delete, func, select, tuple_
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.exc import SQLAlchemyError

from ragsonde.storage.engine import translating_losses
from ragsonde.storage.tables import LabelBudgetRow, TraceRow
from ragsonde.storage.trace_rows import to_utc
from ragsonde_schemas.errors import RagsondeError
from ragsonde_schemas.label_names import NO_NAMES, LabelActivity, LabelNames, NamedLabel, NamedValue

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from sqlalchemy import Engine

    from ragsonde.ports import Clock

logger = logging.getLogger(__name__)

REFRESH_SECONDS = 20.0
MOST_ROWS = 1_000
"""Three times what may be named: every process holds the names in memory."""
MOST_ACTIVITY = 10_000
"""Combinations that are looked at, the busiest first: producers may send any number of names."""
DAY = timedelta(days=1)


class PostgresLabelNames:
    """What is named now, over the table `label_budget`; read again every 20 s by one thread at a time.

    While it cannot be read, what was read last holds: no trace waits for the names of its series, or fails.

    Args:
        engine: of this process.
        clock: tells when to read again.
    """

    def __init__(self, engine: Engine, *, clock: Clock) -> None:
        self._engine = engine
        self._clock = clock
        self._lock = threading.Lock()
        self._read_again_at = float("-inf")
        self._names = NO_NAMES

    def find(self) -> LabelNames:
        """What is named; the same object for as long as it has not changed."""
        now = self._clock.monotonic()
        if now >= self._read_again_at and self._lock.acquire(blocking=False):
            try:
                if now >= self._read_again_at:
                    self._read_again_at = now + REFRESH_SECONDS
                    self._refresh()
            finally:
                self._lock.release()
        return self._names

    def _refresh(self) -> None:
        try:
            names = gather_names(read_named(self._engine))
        except (RagsondeError, SQLAlchemyError) as error:
            logger.warning("label_names_not_read", extra={"error": type(error).__name__})
            return
        if names != self._names:
            self._names = names


def gather_names(named: Sequence[NamedValue]) -> LabelNames:
    """The names by label, in the order in which they are given."""
    releases: dict[tuple[str, str], tuple[str, ...]] = {}
    for one in named:
        if one.label is NamedLabel.RELEASE:
            place = (one.app, one.environment)
            releases[place] = (*releases.get(place, ()), one.value)
    return LabelNames(
        apps=tuple(one.value for one in named if one.label is NamedLabel.APP),
        environments=tuple(one.value for one in named if one.label is NamedLabel.ENVIRONMENT),
        releases=releases,
    )


def read_named(engine: Engine) -> list[NamedValue]:
    """All values that are named, those named first first.

    Raises:
        DatabaseLostError: Postgres is away.
    """
    row = LabelBudgetRow
    query = (
        select(row.label, row.app, row.environment, row.value, row.named_at, row.last_seen_at, row.busiest_at)
        .order_by(row.named_at, row.label, row.app, row.environment, row.value)
        .limit(MOST_ROWS)
    )
    with translating_losses(), engine.connect() as connection:
        return [
            NamedValue(
                NamedLabel(label),
                app,
                environment,
                value,
                to_utc(named_at),
                to_utc(last_seen_at),
                None if busiest_at is None else to_utc(busiest_at),
            )
            for label, app, environment, value, named_at, last_seen_at, busiest_at in connection.execute(
                query
            )
        ]


def read_activity(engine: Engine, *, since: datetime) -> list[LabelActivity]:
    """What was stored since then by app, environment and release, the busiest first.

    What occurred more than a day before is left out: it comes from a file, and no series shows it.

    Raises:
        DatabaseLostError: Postgres is away.
    """
    row = TraceRow
    traces = func.count()
    query = (
        select(
            row.app,
            row.environment,
            row.release,
            traces,
            func.min(row.admitted_at),
            func.max(row.admitted_at),
        )
        .where(row.admitted_at >= since, row.day >= (since - DAY).date(), row.revision == 1)
        .group_by(row.app, row.environment, row.release)
        .order_by(traces.desc(), row.app, row.environment, row.release)
        .limit(MOST_ACTIVITY)
    )
    with translating_losses(), engine.connect() as connection:
        return [
            LabelActivity(app, environment, release, count, to_utc(first_at), to_utc(last_at))
            for app, environment, release, count, first_at, last_at in connection.execute(query)
        ]


def write_named(engine: Engine, values: Sequence[NamedValue], *, before: Sequence[NamedValue]) -> None:
    """Puts `values` in the place of `before`, writing what differs.

    Raises:
        DatabaseLostError: nothing was changed, or it is not known.
    """
    row = LabelBudgetRow
    keys = {one.key for one in values}
    gone = [one.key for one in before if one.key not in keys]
    changed = [one._asdict() for one in set(values).difference(before)]
    with translating_losses(), engine.begin() as connection:
        if gone:
            connection.execute(
                delete(row).where(tuple_(row.label, row.app, row.environment, row.value).in_(gone))
            )
        if changed:
            statement = insert(row)
            new = statement.excluded
            connection.execute(
                statement.on_conflict_do_update(
                    index_elements=["label", "app", "environment", "value"],
                    set_={"last_seen_at": new.last_seen_at, "busiest_at": new.busiest_at},
                ),
                changed,
            )
