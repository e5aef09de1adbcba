"""The monitor: jobs that keep the deployment in order, one thread each, none of them through the broker."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from threading import Event, Thread
from typing import TYPE_CHECKING

from ragsonde.exposition.health import Heartbeat
from ragsonde.exposition.series import (
    MONITOR_JOB_FAILURES,
    MONITOR_JOB_LAST_SUCCESS,
    MONITOR_JOB_SECONDS,
    MONITOR_JOB_SKIPS,
)
from ragsonde.monitor.pace import Ending, Pace
from ragsonde.monitor.running_looks import RunningLooks
from ragsonde_schemas.errors import GivenUpError, RagsondeError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager

    from ragsonde.exposition.declaration import Declaration
    from ragsonde.exposition.registry import Series
    from ragsonde.ports import Clock

logger = logging.getLogger(__name__)

RETRY_SECONDS = 15.0
GRACE_SECONDS = 3.0
"""Every job may be cut off anywhere: it commits or publishes in one step, or the next run does it again."""
LOOK_SECONDS = 60.0
"""Beyond two statements' timeouts: no look of the usual kind takes longer."""
_TURN_SECONDS = 0.25
_LATE = "late"


@dataclass(frozen=True, kw_only=True)
class Job:
    """Something to be done again and again.

    Attributes:
        name: names its lock, its thread and its series.
        interval_seconds: pause between the end of a run and the next, at the least.
        run: does it once; may raise.
        is_exclusive: it changes things, so only one of several monitors does it at a time. A job that only
            looks is done by each, for its own /metrics.
        shows: the snapshots that a run replaces, or says to hold still.
        deadline_seconds: of a job that only looks: a run that takes longer counts as failed, while it lasts.
    """

    name: str
    interval_seconds: float
    run: Callable[[], None]
    is_exclusive: bool = True
    shows: tuple[Declaration, ...] = ()
    deadline_seconds: float = LOOK_SECONDS

    @property
    def retry_seconds(self) -> float:
        """Pause after a failure: an hourly job must not leave its work for an hour when Postgres was away."""
        return min(self.interval_seconds, RETRY_SECONDS)


class Monitor:
    """Runs jobs until it is stopped. A job that raises or hangs stops no other.

    Args:
        try_lock: a context manager that holds a job's lock and tells whether it could be had.
        series: built over MONITOR_SERIES.
        clock: tells the time of a success and how long a run took.
    """

    def __init__(
        self,
        *,
        try_lock: Callable[[str], AbstractContextManager[bool]],
        series: Series,
        clock: Clock,
    ) -> None:
        self._try_lock = try_lock
        self._series = series
        self._clock = clock
        self._is_asked_to_stop = False
        self._stopping = Event()
        self._heartbeat = Heartbeat(monotonic=clock.monotonic)
        self._failing: dict[str, str] = {}
        self._threads: list[Thread] = []
        self._looks = RunningLooks(clock.monotonic)

    def run(self, jobs: Sequence[Job]) -> None:
        """Runs jobs of different names; returns when `stop` was called and they have ended, or 3 s later."""
        # Daemons: a hanging job must not keep the process from ending; the next run takes up what it left.
        self._threads = [
            Thread(target=self._repeat, args=(job,), name=f"job-{job.name}", daemon=True) for job in jobs
        ]
        for thread in self._threads:
            thread.start()
        while not self._is_asked_to_stop:
            self._stopping.wait(_TURN_SECONDS)
            self._heartbeat.beat()
            for name in self._looks.list_late():
                self._tell_late(name)
        self._stopping.set()
        ends_at = self._clock.monotonic() + GRACE_SECONDS
        for thread in self._threads:
            thread.join(max(0.0, ends_at - self._clock.monotonic()))
        unfinished = [thread.name for thread in self._threads if thread.is_alive()]
        logger.info("monitor_stopped", extra={"unfinished": unfinished})

    def stop(self) -> None:
        """Makes `run` return; safe in a signal handler, unlike setting an event that `run` waits for."""
        self._is_asked_to_stop = True

    @property
    def is_stopping(self) -> bool:
        """True once `stop` was called; a long job looks at it between its steps."""
        return self._is_asked_to_stop

    def find_stopped_loop(self) -> str | None:
        """A liveness check: None while the loop turns and every job has its thread."""
        dead = [thread.name for thread in self._threads if thread.ident is not None and not thread.is_alive()]
        if dead and not self.is_stopping:
            return f"ended: {', '.join(dead)}"
        return self._heartbeat.check()

    def _repeat(self, job: Job) -> None:
        pace = Pace(
            interval_seconds=job.interval_seconds,
            retry_seconds=job.retry_seconds,
            deadline_seconds=None if job.is_exclusive else job.deadline_seconds,
        )
        while not self.is_stopping:
            begun = self._clock.monotonic()
            ending = self._attempt(job)
            pause_seconds = pace.note(ending, took_seconds=self._clock.monotonic() - begun)
            if ending is Ending.DONE:
                seconds = pace.choose_shown_seconds(pause_seconds=pause_seconds)
                self._series.keep(job.shows, seconds=seconds)
            self._stopping.wait(pause_seconds)

    def _attempt(self, job: Job) -> Ending:
        begun = self._clock.monotonic()
        if not job.is_exclusive:
            self._looks.begin(job.name, deadline_seconds=job.deadline_seconds)
        try:
            has_run = self._run_locked(job)
        except Exception as error:  # noqa: BLE001 - whatever stopped this run, the next one comes
            self._tell_failure(job, error)
            return Ending.GIVEN_UP if isinstance(error, GivenUpError) else Ending.FAILED
        finally:
            self._looks.end(job.name)
        if not has_run:
            self._series.add(MONITOR_JOB_SKIPS, job_name=job.name)
            return Ending.LEFT
        self._series.set(MONITOR_JOB_SECONDS, self._clock.monotonic() - begun, job_name=job.name)
        self._series.set(MONITOR_JOB_LAST_SUCCESS, self._clock.now().timestamp(), job_name=job.name)
        if self._failing.pop(job.name, None) is not None:
            logger.info("monitor_job_recovered", extra={"job": job.name})
        return Ending.DONE

    def _run_locked(self, job: Job) -> bool:
        if not job.is_exclusive:
            job.run()
            return True
        with self._try_lock(job.name) as is_ours:
            if is_ours:
                job.run()
            return is_ours

    def _tell_failure(self, job: Job, error: Exception) -> None:
        self._series.add(MONITOR_JOB_FAILURES, job_name=job.name)
        kind = type(error).__name__
        if self._failing.get(job.name) == kind:
            return  # an outage is told once, not with every attempt; the counter goes on
        self._failing[job.name] = kind
        is_outage = isinstance(error, RagsondeError)
        logger.warning(
            "monitor_job_failed",
            extra={"job": job.name, "error": f"{kind}: {error}" if is_outage else kind},
            exc_info=None if is_outage else error,
        )

    def _tell_late(self, name: str) -> None:
        """Counts a look that hangs, once a deadline: what waits for an answer raises nothing."""
        self._series.add(MONITOR_JOB_FAILURES, job_name=name)
        if self._failing.get(name) != _LATE:
            self._failing[name] = _LATE
            logger.warning("monitor_job_late", extra={"job": name})
