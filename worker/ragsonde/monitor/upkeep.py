"""What keeps the database small: partitions ahead, retention, texts that nothing needs.

The monitor does it again and again, `ragsonde maintain` once; each part is one job with one lock.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from ragsonde.monitor.loop import Job
from ragsonde.scoring.formula import Direction
from ragsonde.storage.database_clock import read_database_time
from ragsonde.storage.engine import translating_losses
from ragsonde.storage.partitions import (
    drop_expired,
    ensure_partitions,
    list_filled,
    list_partitions,
    select_expired,
)
from ragsonde.storage.text_dropping import drop_texts
from ragsonde.storage.text_keeping import StoredTexts, TextRule
from ragsonde.storage.tombstones import drop_expired_tombstones
from ragsonde_schemas.errors import RagsondeError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from sqlalchemy import Engine

    from ragsonde.ports import Clock
    from ragsonde.scoring.scorer import Scorer
    from ragsonde.settings import Settings
    from ragsonde.storage.partitions import Partition

logger = logging.getLogger(__name__)

PARTITIONS, RETENTION, TEXTS = "partitions", "retention", "texts"
UPKEEP_JOB_NAMES = (PARTITIONS, RETENTION, TEXTS)

LOW_BELOW = 0.4
"""Where a scorer has no threshold: the edge below which the bands of nearly all say that it is bad."""

MOST_DAYS_AT_ONCE = 3
"""Days of one table that retention drops in one run without a doubt: it runs every hour."""

MOST_CLOCK_DIFFERENCE = timedelta(hours=1)
_HOLD_SECONDS = 24 * 3600.0


class RetentionHeldError(RagsondeError):
    """Retention drops nothing, as what it would drop looks like the doing of a wrong clock."""


@dataclass(kw_only=True)
class Hold:
    """Since when retention is held, by a clock that does not jump; None where it is not."""

    since: float | None = None


@dataclass(frozen=True, kw_only=True)
class Upkeep:
    """The work, with what it needs.

    Attributes:
        retention_days: by table.
        texts: which stay when nothing waits for them.
        should_pause: asked between steps; True ends a run early.
        read_database_time: Postgres's own time, to tell a clock that has jumped.
        days_ahead: days that have their partitions before they begin.
    """

    engine: Engine
    clock: Clock
    retention_days: Mapping[str, int]
    texts: TextRule
    should_pause: Callable[[], bool] = lambda: False
    read_database_time: Callable[[Engine], datetime] = read_database_time
    days_ahead: int = 7
    partition_seconds: float = 3600.0
    retention_seconds: float = 3600.0
    text_seconds: float = 6 * 3600.0
    hold: Hold = field(default_factory=Hold)

    def build_jobs(self) -> tuple[Job, ...]:
        """All jobs, as the monitor runs them."""
        return (
            Job(name=PARTITIONS, interval_seconds=self.partition_seconds, run=self.make_partitions),
            Job(name=RETENTION, interval_seconds=self.retention_seconds, run=self.drop_partitions),
            Job(name=TEXTS, interval_seconds=self.text_seconds, run=self.drop_texts),
        )

    def make_partitions(self) -> None:
        """Makes the partitions of today and the days ahead."""
        made = ensure_partitions(self.engine, today=self.clock.now().date(), days_ahead=self.days_ahead)
        if made:
            logger.info("partitions_made", extra={"partitions": len(made)})

    def drop_partitions(self) -> None:
        """Drops the partitions whose day is over their table's age.

        Raises:
            RetentionHeldError: more days than usual would go, and that for less than 24 h; or the clock is
                not Postgres's.
        """
        self.check_clock()
        doubt = self.find_doubt()
        if doubt is None:
            self.hold.since = None
        else:
            if self.hold.since is None:
                self.hold.since = self.clock.monotonic()
            if self.clock.monotonic() - self.hold.since < _HOLD_SECONDS:
                raise RetentionHeldError(
                    f"retention is held: {doubt}; if the clock is right, run `ragsonde maintain "
                    "--allow-many-days`, else in 24 h it goes on by itself"
                )
        dropped = drop_expired(self.engine, today=self.clock.now().date(), retention=self.retention_days)
        if dropped:
            logger.info("partitions_dropped", extra={"partitions": dropped})
        drop_expired_tombstones(self.engine, now=self.clock.now())

    def drop_texts(self) -> None:
        """Drops the texts that nothing waits for and the rule does not keep."""
        dropped = drop_texts(self.engine, self.texts, should_pause=self.should_pause)
        if dropped:
            logger.info("texts_dropped", extra={"texts": dropped})

    def list_expired(self) -> list[Partition]:
        """The partitions that retention would drop now.

        Raises:
            DatabaseLostError: Postgres is away.
        """
        with translating_losses(), self.engine.connect() as connection:
            partitions = list(list_partitions(connection))
        return select_expired(partitions, today=self.clock.now().date(), retention=self.retention_days)

    def find_doubt(self) -> str | None:
        """Why dropping what has expired looks wrong; None where it does not. What is empty is nobody's loss.

        Raises:
            DatabaseLostError: Postgres is away.
        """
        expired = self.list_expired()
        if find_doubt(expired) is None:
            return None
        with translating_losses(), self.engine.connect() as connection:
            return find_doubt(list_filled(connection, expired))

    def check_clock(self) -> None:
        """Returns where our clock and Postgres's agree.

        Raises:
            RetentionHeldError: they do not: one of them is wrong.
            DatabaseLostError: Postgres is away.
        """
        ours, theirs = self.clock.now(), self.read_database_time(self.engine)
        if abs(ours - theirs) > MOST_CLOCK_DIFFERENCE:
            raise RetentionHeldError(
                f"nothing is dropped: the clock here says {_show(ours)}, that of Postgres {_show(theirs)}; "
                "set the one that is wrong"
            )


def find_doubt(expired: Iterable[Partition]) -> str | None:
    """Why dropping these partitions looks wrong; None where it does not.

    A clock that jumps ahead makes many days expire at once. So does a monitor that was away for days, or a
    retention that was shortened: these can wait a day.
    """
    days = [one.day for one in expired if one.is_attached and not one.is_detaching]
    of_table: dict[str, int] = {}
    for one in expired:
        of_table[one.table] = of_table.get(one.table, 0) + int(one.is_attached)
    table, most = max(of_table.items(), key=lambda item: item[1], default=("", 0))
    if most <= MOST_DAYS_AT_ONCE:
        return None
    return (
        f"{most} days of {table} would be dropped at once ({min(days)} to {max(days)}), expected at most "
        f"{MOST_DAYS_AT_ONCE}"
    )


def list_retention(settings: Settings) -> dict[str, int]:
    """Days by table; a message that is suspected of crashes is forgotten with the parked ones."""
    days: dict[str, int] = settings.retention_days.model_dump()
    return {**days, "suspect": settings.retention_days.parked_message}


def build_text_rule(settings: Settings, *, scorers: Sequence[Scorer]) -> TextRule:
    """Which texts stay: a trace is one of the worst where a score is below its scorer's threshold.

    Without a threshold it is `LOW_BELOW`, and none where more is not better.
    """
    limits = {
        scorer.instance: LOW_BELOW if scorer.threshold is None else scorer.threshold
        for scorer in scorers
        if scorer.threshold is not None or scorer.direction is Direction.HIGHER
    }
    return TextRule(keep=StoredTexts(settings.store_text), limits=limits)


def _show(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
