"""Scores of a changed scorer from the stored verdicts of a week: no judge is asked."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING

from ragsonde.api.rescoring import rescore
from ragsonde.storage.armings import note_rescored
from ragsonde.storage.assessments import EvaluationFilter, count_evaluations, read_evaluations
from ragsonde.storage.rescored import RescoredEvaluation, store_rescored
from ragsonde.watching.arming_baselines import WINDOW
from ragsonde_schemas.errors import Cause
from ragsonde_schemas.score import Unscored

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from datetime import date, datetime

    from sqlalchemy import Engine

    from ragsonde.ports import Clock
    from ragsonde.scoring.scorer import Scorer
    from ragsonde.storage.armings import StreamArming
    from ragsonde.storage.assessments import StoredEvaluation
    from ragsonde_schemas.score import Outcome

BATCH = 200
_DAY = timedelta(days=1)


@dataclass(kw_only=True)
class WeekRescoring:
    """The rescoring for some streams, which differ in nothing but the basis of the version.

    A day that was not done when the monitor ended is done anew by the next one, and ends in the same rows.

    Attributes:
        engine: of this process.
        armings: the streams.
        scorer: as it is configured now.
        looked_at: evaluations, so far, by this process.
        stored: scores, likewise.
        ended_at: when the last was stored.
    """

    engine: Engine
    armings: Sequence[StreamArming]
    scorer: Scorer
    looked_at: int = 0
    stored: int = 0
    ended_at: datetime | None = None
    _steps: Iterator[None] | None = field(default=None)

    def go_on(self, *, until: float, clock: Clock, should_pause: Callable[[], bool]) -> bool:
        """Whether all is done, after some more batches.

        Args:
            until: the monotonic time to end by.
            clock: of this process.
            should_pause: True ends it after the batch under way.

        Raises:
            DatabaseLostError: what was stored until then stays; the day is done anew.
        """
        if self.ended_at is not None:
            return True
        if self._steps is None:
            self._steps = self._rescore()
        try:
            while clock.monotonic() < until and not should_pause():
                next(self._steps)
        except StopIteration:
            self.ended_at = clock.now()
        except Exception:
            self._steps = None  # a generator that raised is over
            raise
        return self.ended_at is not None

    def _rescore(self) -> Iterator[None]:
        first = self.armings[0]
        since, until = (first.begun_at - WINDOW).date(), first.begun_at.date()
        if first.scored_until is not None:
            since = first.scored_until + _DAY
        chosen = EvaluationFilter(app=first.stream.app, judge=first.stream.judge, since=since, until=until)
        days = count_evaluations(self.engine, chosen)
        foreseen = first.done + sum(days.values())
        for day in days:
            for batch in read_evaluations(self.engine, chosen, days=(day,), batch_size=BATCH):
                self._store([one for one in batch if self._is_meant(one)])
                self.looked_at += len(batch)
                self._note(len(batch), foreseen=foreseen)
                yield
            self._note(0, foreseen=foreseen, day=day)

    def _is_meant(self, one: StoredEvaluation) -> bool:
        stream = self.armings[0].stream
        return (
            one.key.fingerprint == stream.fingerprint
            and one.trace.environment == stream.environment
            and one.has_texts
        )

    def _store(self, evaluations: Sequence[StoredEvaluation]) -> None:
        rescored = [
            RescoredEvaluation(one.key, one.assessment, one.judged_at, outcomes)
            for one in evaluations
            if (outcomes := tuple(filter(_is_told, rescore(one, scorers=(self.scorer,)))))
        ]
        if rescored:
            self.stored += store_rescored(self.engine, rescored).new

    def _note(self, looked_at: int, *, foreseen: int, day: date | None = None) -> None:
        streams = [one.number for one in self.armings]
        note_rescored(self.engine, streams, looked_at=looked_at, foreseen=foreseen, day=day)


def _is_told(outcome: Outcome) -> bool:
    """Not what these verdicts cannot tell: live traces are asked about it, and these were not."""
    return not (
        isinstance(outcome, Unscored) and outcome.cause in {Cause.NOT_ASSESSED, Cause.CONTENT_EXPIRED}
    )
