"""The monitor's job that gives a changed scorer or judge its baseline from what is stored already."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING

from ragsonde.api.backfills import foresee, narrow, start_backfill
from ragsonde.monitor.loop import Job
from ragsonde.storage.armings import (
    Way,
    begin_arming,
    find_backfill,
    is_counted,
    list_armings,
    see_out,
    set_backfill,
)
from ragsonde.storage.backfills import read_backfill
from ragsonde.storage.idle_alerts import close_idle
from ragsonde.storage.locks import GaveWayError
from ragsonde.storage.successors import find_successors
from ragsonde.watching.arming_baselines import WINDOW, arm_stream
from ragsonde.watching.arming_rescoring import WeekRescoring
from ragsonde_schemas.backfill import BackfillRequest
from ragsonde_schemas.stream_labels import label_stream

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from datetime import datetime

    from sqlalchemy import Engine

    from ragsonde.pipeline.assignments import Assignment
    from ragsonde.ports import Clock
    from ragsonde.regression.options import RegressionOptions
    from ragsonde.scoring.scorer import Scorer
    from ragsonde.storage.armings import StreamArming
    from ragsonde.storage.successors import Successor
    from ragsonde_schemas.score_stream import ScoreStream

logger = logging.getLogger(__name__)

ARMING = "arming"
ARMING_JOB_NAMES = (ARMING,)
ARM_SECONDS = 60.0
MOST_SECONDS = 20.0
"""Of rescoring in one run, all groups together: the database is busy for a third of the time at most."""
LONGEST = timedelta(days=3)
"""Then a stream gets the baseline that is there: a judge whose budget is spent must not keep it unwatched."""
ARMER = "monitor: baseline of a changed judge"
"""Who started such a backfill, as `ragsonde backfill list` tells."""


@dataclass(kw_only=True)
class ArmingChores:
    """Finds streams that took another one's place, has stored traces scored for them, and arms them.

    Attributes:
        engine: of this process.
        assignments: of the configured judges, by name.
        options: of the settings.
        should_pause: asked between steps; True ends a run early.
    """

    engine: Engine
    assignments: Mapping[str, Assignment]
    options: RegressionOptions
    clock: Clock
    should_pause: Callable[[], bool] = lambda: False
    _rescorings: dict[tuple[str, ...], WeekRescoring] = field(default_factory=dict)
    _runs: int = 0

    def build_jobs(self) -> tuple[Job, ...]:
        """The job, as the monitor runs it: one monitor arms."""
        return (Job(name=ARMING, interval_seconds=ARM_SECONDS, run=self.arm),)

    def arm(self) -> None:
        """Goes one step further with every stream that has no baseline since its scorer or judge changed.

        Raises:
            DatabaseLostError: what was done is done; the rest stays to be done.
            GivenUpError: likewise.
        """
        for one in find_successors(self.engine, self._list_configured(), now=self.clock.now()):
            self._begin(one)
        under_way = list_armings(self.engine)
        try:
            for armings in _group(under_way, way=Way.BACKFILL):
                self._step(armings, self._fill)
            self._rescore_all(tuple(_group(under_way, way=Way.RESCORE)))
            self._see_out()
        except GaveWayError:
            logger.info("arming_gave_way")

    def _rescore_all(self, groups: Sequence[tuple[StreamArming, ...]]) -> None:
        """Each in its turn has an equal part of the time; another one is first in the next run."""
        keys = {_find_key(armings[0]) for armings in groups}
        self._rescorings = {key: one for key, one in self._rescorings.items() if key in keys}
        end = self.clock.monotonic() + MOST_SECONDS
        first = self._runs % len(groups) if groups else 0
        self._runs += 1
        for place, armings in enumerate((*groups[first:], *groups[:first])):
            begun = self.clock.monotonic()
            until = begun + (end - begun) / (len(groups) - place)
            self._step(armings, partial(self._rescore, until=until))

    def _see_out(self) -> None:
        now = self.clock.now()
        idle_since = now - timedelta(days=self.options.seen_out_days)
        for stream in see_out(self.engine, idle_since=idle_since, now=now):
            logger.info("stream_seen_out", extra={"stream": stream})
        for closed in close_idle(self.engine, days=self.options.seen_out_days, now=now):
            logger.info("alert_seen_out", extra={"alert": closed.alert, "reason": closed.reason})

    def _list_configured(self) -> list[tuple[str, str, str, str]]:
        return [
            (name, assignment.judge.fingerprint, scorer.instance, version)
            for name, assignment in self.assignments.items()
            for scorer in assignment.scorers
            for version in scorer.versions
        ]

    def _begin(self, one: Successor) -> None:
        way, why = self._choose_way(one)
        begin_arming(self.engine, one, way=way, now=self.clock.now(), outcome=why)
        logger.info(
            "stream_changed", extra={**label_stream(one.stream), "baseline_from": way.value, "reason": why}
        )

    def _choose_way(self, one: Successor) -> tuple[Way, str | None]:
        """How its baseline comes to be, and why not from what is stored."""
        if not self.options.arming:
            return Way.LIVE, "turned off: regression.arming"
        if one.stream.fingerprint == one.old.fingerprint:
            if one.stream.version != one.old.version:
                return Way.RESCORE, None
            return Way.LIVE, "another model answers under the same name: stored traces have their evaluation"
        is_free = self.assignments[one.stream.judge].judge.is_free
        if not is_free and not self.options.arming_llm_traces:
            return Way.LIVE, "turned off for judges that cost: regression.arming_llm_traces"
        return Way.BACKFILL, None

    def _step(
        self, armings: Sequence[StreamArming], score: Callable[[Sequence[StreamArming]], str | None]
    ) -> None:
        """Has stored traces scored; once they are, or it has taken too long, ends it."""
        if self.should_pause():
            return
        outcome = score(armings)
        now = self.clock.now()
        for one in armings:
            is_late = now - one.begun_at > LONGEST
            if outcome is None and not is_late:
                continue
            ended = arm_stream(
                self.engine,
                one,
                told=outcome or "not all was scored in three days",
                options=self.options,
                now=now,
            )
            if ended is not None:
                logger.info("stream_armed", extra={**label_stream(one.stream), "outcome": ended})

    def _fill(self, armings: Sequence[StreamArming]) -> str | None:
        """How the backfill of these streams has ended and is counted; None while it has not."""
        first = armings[0]
        number = next((one.backfill for one in armings if one.backfill is not None), None)
        if number is None:
            number = self._start(first)
            if number is None:
                return None
        if any(one.backfill is None for one in armings):
            set_backfill(self.engine, [one.number for one in armings], number)
        backfill = read_backfill(self.engine, number)
        if backfill is None:
            return "its backfill is gone"
        if backfill.finished_at is None or not self._is_counted(first, changed_by=backfill.finished_at):
            return None
        return f"backfill {number}: {backfill.state.value}, {backfill.tally.scored} traces scored"

    def _start(self, one: StreamArming) -> int | None:
        """The number of the backfill over the week before, started now or by a monitor that was killed."""
        since = (one.begun_at - WINDOW).date()
        stream = one.stream
        known = find_backfill(self.engine, stream, since=since, created_by=ARMER)
        if known is not None:
            return known
        assignment = self.assignments.get(stream.judge)
        if assignment is None or assignment.judge.fingerprint != stream.fingerprint:
            return None  # changed once more; this one is given up when its time is over
        request = BackfillRequest(
            judge=stream.judge,
            fingerprint=stream.fingerprint,
            app=stream.app,
            environment=stream.environment,
            since=since,
            until=one.begun_at.date(),
            rate_per_second=self.options.arming_per_second,
            most_traces=None if assignment.judge.is_free else self.options.arming_llm_traces,
        )
        looked_through = list(foresee(self.engine, request, assignment=assignment))
        foreseen = looked_through[-1]
        return start_backfill(
            self.engine,
            narrow(request, foreseen),
            foreseen=foreseen,
            now=self.clock.now(),
            created_by=ARMER,
        )

    def _rescore(self, armings: Sequence[StreamArming], *, until: float) -> str | None:
        """How the rescoring of these streams has ended and is counted; None while it has not."""
        first = armings[0]
        key = _find_key(first)
        if key not in self._rescorings:
            scorer = self._find_scorer(first.stream)
            if scorer is None:
                return None
            self._rescorings[key] = WeekRescoring(engine=self.engine, armings=tuple(armings), scorer=scorer)
        rescoring = self._rescorings[key]
        if not rescoring.go_on(until=until, clock=self.clock, should_pause=self.should_pause):
            return None
        if rescoring.ended_at is None or not self._is_counted(first, changed_by=rescoring.ended_at):
            return None
        return f"{rescoring.looked_at} stored evaluations looked at, {rescoring.stored} scores stored"

    def _find_scorer(self, stream: ScoreStream) -> Scorer | None:
        assignment = self.assignments.get(stream.judge)
        scorers = () if assignment is None else assignment.scorers
        return next(
            (one for one in scorers if one.instance == stream.scorer and stream.version in one.versions), None
        )

    def _is_counted(self, one: StreamArming, *, changed_by: datetime) -> bool:
        return is_counted(self.engine, one, since=one.begun_at - WINDOW, changed_by=changed_by)


def _find_key(one: StreamArming) -> tuple[str, ...]:
    """Of streams for which the same stored traces are scored: judges score for all scorers at once."""
    stream = one.stream
    key = (stream.judge, stream.fingerprint, stream.app, stream.environment)
    if one.way is Way.BACKFILL:
        return key
    return (*key, stream.scorer, stream.version.partition(":")[0])


def _group(armings: Sequence[StreamArming], *, way: Way) -> Iterator[tuple[StreamArming, ...]]:
    own = sorted((one for one in armings if one.way is way), key=_find_key)
    for _, group in groupby(own, key=_find_key):
        yield tuple(sorted(group, key=lambda one: one.begun_at))
