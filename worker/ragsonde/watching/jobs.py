"""The monitor's job that looks for falls of scores, in the counts of closed blocks."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING

from ragsonde.monitor.loop import Job
from ragsonde.regression.alert_state import EventKind
from ragsonde.regression.block_lengths import BLOCKS_PER_DAY
from ragsonde.storage.baselines import number_block
from ragsonde.storage.block_changes import list_changed
from ragsonde.storage.engine import translating_losses
from ragsonde.storage.extraction_blocks import tidy_rules
from ragsonde.storage.locks import GaveWayError
from ragsonde.storage.regression_states import tidy_states
from ragsonde.storage.score_blocks import read_progress
from ragsonde.watching.look import RegressionRound
from ragsonde.watching.resuming import JUDGED_AGAIN, WEEK
from ragsonde_schemas.stream_labels import label_stream

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from datetime import date, datetime

    from sqlalchemy import Engine

    from ragsonde.ports import Clock
    from ragsonde.regression.options import RegressionOptions
    from ragsonde.watching.look import Round
    from ragsonde.watching.telling import Told

logger = logging.getLogger(__name__)

REGRESSION = "regression"
REGRESSION_JOB_NAMES = (REGRESSION,)
JUDGE_SECONDS = 60.0
MOST_SECONDS = 40.0
"""Of one run; the next one goes on with what was left."""
MOST_BLOCKS = 60_000
"""Blocks of streams that are held in memory, and judged in one transaction."""
KEPT_STATES = timedelta(days=JUDGED_AGAIN // BLOCKS_PER_DAY + 2)
KEPT_RULES = timedelta(days=30)
"""Longer than blocks are judged again, so that an alert can tell which rules its fall began with."""
LAGGING = timedelta(hours=1, minutes=15)
"""Beyond the longest grace: then counting or the queue is behind."""
_EVENTS = {
    EventKind.PAGE: "regression_opened",
    EventKind.WARN: "regression_warned",
    EventKind.RESOLVE: "regression_resolved",
}


@dataclass(kw_only=True)
class RegressionChores:
    """Judges what is closed, a transaction for some streams at a time.

    Attributes:
        engine: of this process.
        options: of the settings.
        targets: scorers whose scores are good near a target: they only warn.
        should_pause: asked between transactions; True ends a run early.
    """

    engine: Engine
    clock: Clock
    options: RegressionOptions
    targets: frozenset[str] = frozenset()
    should_pause: Callable[[], bool] = lambda: False
    _tidied: date | None = None
    _is_lagging: bool = field(default=False)

    def build_jobs(self) -> tuple[Job, ...]:
        """The job, as the monitor runs it: one monitor judges."""
        return (Job(name=REGRESSION, interval_seconds=JUDGE_SECONDS, run=self.judge),)

    def judge(self) -> None:
        """Judges the closed blocks whose counts have changed, and tells what is new.

        Raises:
            DatabaseLostError: what was judged is judged; the rest stays to be done.
            GivenUpError: likewise.
        """
        begun = self.clock.monotonic()
        progress = read_progress(self.engine)
        if progress is None or progress.closed_until is None:
            return
        until = progress.closed_until
        self._note_lag(until)
        try:
            for streams in self._list_chunks(until):
                if self.clock.monotonic() - begun >= MOST_SECONDS or self.should_pause():
                    break
                one = RegressionRound(
                    engine=self.engine,
                    options=self.options,
                    targets=self.targets,
                    until=until,
                    now=self.clock.now(),
                )
                _log_round(one.judge(streams))
        except GaveWayError:
            logger.info("regression_gave_way")
            return
        self._tidy(until)

    def _list_chunks(self, until: datetime) -> Iterator[list[int]]:
        with translating_losses(), self.engine.connect() as connection:
            changed = list_changed(connection, until=until)
        last = number_block(until) - 1
        chunk: list[int] = []
        blocks = 0
        for stream, block in changed.items():
            chunk.append(stream)
            blocks += min(last + 1 - block, WEEK + JUDGED_AGAIN)
            if blocks >= MOST_BLOCKS:
                yield chunk
                chunk, blocks = [], 0
        if chunk:
            yield chunk

    def _note_lag(self, until: datetime) -> None:
        """Nothing is judged that is not closed; why nothing is told then is told."""
        is_lagging = self.clock.now() - until > LAGGING
        if is_lagging and not self._is_lagging:
            logger.warning("regression_held", extra={"reason": "lagging", "closed_until": until.isoformat()})
        self._is_lagging = is_lagging

    def _tidy(self, until: datetime) -> None:
        if self._tidied == until.date():
            return
        with translating_losses(), self.engine.begin() as connection:
            tidy_states(connection, oldest=(until - KEPT_STATES).date())
            tidy_rules(connection, oldest=until - KEPT_RULES)
        self._tidied = until.date()


def _log_round(done: Round) -> None:
    for told in done.told:
        log = logger.info if told.kind is EventKind.RESOLVE else logger.warning
        log(_EVENTS[told.kind], extra=_describe(told))
        if told.left_out:
            more = {"alert": told.alert, "left_out": sorted(told.left_out), **label_stream(told.stream)}
            logger.warning("regression_evidence_left_out", extra=more)
    for stream, reason in done.held:
        logger.warning("regression_held", extra={"reason": reason, **label_stream(stream)})


def _describe(told: Told) -> dict[str, object]:
    numbers = ("drop", "drop_lower", "drop_upper", "evidence_days", "n", "mix_shift")
    return {
        "alert": told.alert,
        **label_stream(told.stream),
        "since": told.explanation["since"].isoformat(),
        **{name: round(told.explanation[name], 4) for name in numbers},
    }
