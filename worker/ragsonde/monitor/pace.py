"""How long a job of the monitor rests between two runs, and for how long it vouches for what it shows."""

from __future__ import annotations

from collections import deque
from enum import StrEnum

LONGEST_REST_SECONDS = 300.0
MISSED_RUNS = 3
"""What a job shows disappears when its last success is as old as so many runs are apart."""
_REST_OF_LOOKING = 9.0
_LONGEST_IN_INTERVALS = 3
_MEASURES = 3


class Ending(StrEnum):
    """What became of a run."""

    DONE = "done"
    LEFT = "left"
    """to another monitor, that has the job's lock"""
    GIVEN_UP = "given_up"
    """Postgres is there and gave up on a statement"""
    FAILED = "failed"


class Pace:
    """The pace of one job; not safe for threads.

    A job that only looks keeps Postgres busy a tenth of the time at most, so that what counts the rows of a
    day is done less often when a day has millions. It never rests longer than three intervals, nor than five
    minutes where its interval is shorter. What its work takes is the shortest of its last three runs that
    ended well and in time: a run that stood still with Postgres says nothing of the work.

    Args:
        interval_seconds: between two runs, at the least.
        retry_seconds: until the next run after an outage.
        deadline_seconds: of a run that only looks; None for a job that changes things, at its interval.
    """

    def __init__(
        self, *, interval_seconds: float, retry_seconds: float, deadline_seconds: float | None
    ) -> None:
        self._interval_seconds = interval_seconds
        self._retry_seconds = retry_seconds
        self._deadline_seconds = deadline_seconds
        self._durations = deque[float](maxlen=_MEASURES)
        self._strained_runs = 0

    def note(self, ending: Ending, *, took_seconds: float) -> float:
        """Takes in how a run ended and how long it took; returns the seconds until the next."""
        deadline_seconds, interval_seconds = self._deadline_seconds, self._interval_seconds
        if ending is Ending.FAILED or (ending is Ending.GIVEN_UP and deadline_seconds is None):
            return self._retry_seconds
        if deadline_seconds is None:
            return interval_seconds
        if ending is Ending.GIVEN_UP or took_seconds > deadline_seconds:
            self._strained_runs += 1
            # once may be an outage that has passed; again, and it is the work that is too much
            return interval_seconds if self._strained_runs == 1 else self._longest_rest
        self._strained_runs = 0
        self._durations.append(took_seconds)
        return min(max(interval_seconds, _REST_OF_LOOKING * min(self._durations)), self._longest_rest)

    def choose_shown_seconds(self, *, pause_seconds: float) -> float:
        """For how long after a success the job's snapshots are shown, if the next run is so far away."""
        return MISSED_RUNS * (pause_seconds + min(self._durations, default=0.0))

    @property
    def _longest_rest(self) -> float:
        interval_seconds = self._interval_seconds
        return max(interval_seconds, min(_LONGEST_IN_INTERVALS * interval_seconds, LONGEST_REST_SECONDS))
