"""The monitor's jobs that count scores by five minutes, which is what regressions are looked for in."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from datetime import UTC, datetime, time, timedelta
from typing import TYPE_CHECKING

from ragsonde.exposition.series import MONITOR_LAG, MONITOR_LAST_BLOCK
from ragsonde.monitor.loop import Job
from ragsonde.regression.block_closing import LEAST_GRACE, choose_grace, find_closed_until
from ragsonde.storage.block_counting import count_block
from ragsonde.storage.changed_blocks import ChangedBlocks
from ragsonde.storage.dirty_marks import delete_marks, list_dirty, tidy_marks
from ragsonde.storage.end_to_end import read_end_to_end_p99
from ragsonde.storage.locks import GaveWayError
from ragsonde.storage.score_blocks import close_blocks, find_oldest_due, read_progress
from ragsonde.storage.sweeping import find_longest_due
from ragsonde_schemas.errors import GivenUpError
from ragsonde_schemas.score_stream import begin_block

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sqlalchemy import Engine

    from ragsonde.exposition.registry import Series
    from ragsonde.ports import Clock
    from ragsonde.storage.dirty_marks import DirtyBlock

logger = logging.getLogger(__name__)

SCORE_BLOCKS, BLOCK_AGE = "score_blocks", "block_age"
BLOCK_JOB_NAMES = (SCORE_BLOCKS, BLOCK_AGE)
COUNT_SECONDS = 60.0
AGE_SECONDS = 15.0
MOST_SECONDS = 40.0
"""Of one run; the next one goes on with what was left."""
BATCH = 25
GRACE_SPAN = timedelta(hours=1)
_LOOKED_BACK = timedelta(days=2)
"""Days in which live traces may have occurred that the grace is taken from."""


@dataclass(kw_only=True)
class BlockChores:
    """Finds blocks in which something changed and counts those that have ended, the newest first.

    Attributes:
        kept_days: the shortest retention of what is counted and of the counts; older blocks stay as they are.
        tags: that scores are counted apart by, the first one first.
        should_pause: asked between blocks; True ends a run early.
    """

    engine: Engine
    series: Series
    clock: Clock
    kept_days: int
    tags: Sequence[str] = ()
    should_pause: Callable[[], bool] = lambda: False
    _changed: ChangedBlocks = field(init=False)

    def __post_init__(self) -> None:
        self._changed = ChangedBlocks(self.engine)

    def build_jobs(self) -> tuple[Job, ...]:
        """Both jobs, as the monitor runs them: one monitor counts, each shows how far that has come."""
        return (
            Job(name=SCORE_BLOCKS, interval_seconds=COUNT_SECONDS, run=self.count),
            Job(
                name=BLOCK_AGE,
                interval_seconds=AGE_SECONDS,
                run=self.show_age,
                is_exclusive=False,
                shows=(MONITOR_LAST_BLOCK, MONITOR_LAG),
            ),
        )

    def count(self) -> None:
        """Marks what changed and counts what is marked; gives way to a migration, and is done again after it.

        Raises:
            DatabaseLostError: what was counted is counted; what is marked stays so.
            GivenUpError: a block took too long; those that were due after it are counted.
        """
        begun = self.clock.monotonic()
        now = self.clock.now()
        oldest = self._find_oldest(now)
        try:
            is_up_to_date = self._mark_changed(now=now, begun=begun)
            if dropped := tidy_marks(self.engine, oldest=oldest):
                logger.info("dirty_marks_expired", extra={"marks": dropped})
            self._count_marked(now=now, begun=begun)
        except GaveWayError:
            logger.info("score_blocks_gave_way")
            return
        if is_up_to_date:
            self._close(now)

    def show_age(self) -> None:
        """Shows until when blocks are counted, and how long what is not has waited."""
        now = self.clock.now()
        progress = read_progress(self.engine)
        if progress is None:
            self.series.replace(MONITOR_LAST_BLOCK, {})
            self.series.replace(MONITOR_LAG, {})
            return
        closed = progress.closed_until
        waits_since = find_oldest_due(self.engine, ended_by=now - LEAST_GRACE, grace=LEAST_GRACE)
        oldest = min(progress.scanned_until, waits_since or progress.scanned_until)
        self.series.replace(MONITOR_LAST_BLOCK, {} if closed is None else {(): closed.timestamp()})
        self.series.replace(MONITOR_LAG, {(): max(0.0, (now - oldest).total_seconds())})

    def _mark_changed(self, *, now: datetime, begun: float) -> bool:
        """True where nothing is left to be looked at."""
        first_day = self._find_oldest(now).date()
        look = self._changed.look(now=now, first_day=first_day)
        while not look.is_up_to_date and self._has_time(begun):
            look = self._changed.look(now=now, first_day=first_day)
        return look.is_up_to_date

    def _count_marked(self, *, now: datetime, begun: float) -> None:
        ended_by = begin_block(now - LEAST_GRACE)
        before: datetime | None = None
        failure: GivenUpError | None = None
        while self._has_time(begun):
            dirty = list_dirty(self.engine, ended_by=ended_by, before=before, most=BATCH)
            if not dirty:
                break
            for block in dirty:
                if not self._has_time(begun):
                    break
                try:
                    self._count_one(block, now=now)
                except GaveWayError:
                    raise
                except GivenUpError as error:
                    failure = error  # what is too slow keeps no older block from being counted
                before = block.start
        if failure is not None:
            raise failure

    def _count_one(self, block: DirtyBlock, *, now: datetime) -> None:
        count_block(self.engine, block.start, places=block.places, tags=self.tags, now=now)
        delete_marks(self.engine, block.marks)

    def _close(self, now: datetime) -> None:
        p99 = read_end_to_end_p99(self.engine, since=now - GRACE_SPAN, first_day=(now - _LOOKED_BACK).date())
        due_since = find_longest_due(self.engine, now=now)
        lag = timedelta() if due_since is None else now - due_since
        closed_until = find_closed_until(now, grace=choose_grace(p99), queue_lag=lag)
        if closed_until is not None:
            close_blocks(self.engine, closed_until=closed_until)

    def _find_oldest(self, now: datetime) -> datetime:
        first_day = (now - timedelta(days=self.kept_days - 1)).date()
        return datetime.combine(first_day, time.min, tzinfo=UTC)

    def _has_time(self, begun: float) -> bool:
        return self.clock.monotonic() - begun < MOST_SECONDS and not self.should_pause()
