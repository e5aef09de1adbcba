"""Where views read: few at once, each for so long; a thread is always left for scrapers and probes."""

from __future__ import annotations

import time
from concurrent.futures import Future
from contextlib import AbstractContextManager, nullcontext
from threading import BoundedSemaphore, Thread
from typing import TYPE_CHECKING, TypeVar

from werkzeug.exceptions import ServiceUnavailable

if TYPE_CHECKING:
    from collections.abc import Callable

SEATS = 4
"""Views that read at once: fewer than the engine has connections, which the monitor's jobs need too."""
PLACES = 12
"""Requests that read or wait for a seat; whoever comes beyond them is told to come again."""
SEAT_SECONDS = 3.0
ANSWER_SECONDS = 10.0
"""From a request to its answer, whatever Postgres does."""
RETRY_SECONDS = 5
_GRACE_SECONDS = 0.5
"""What a statement that ran out of time says is better than that nothing came."""

_FULL = "Others read this page too, and wait for Postgres. Load it again in a few seconds."
_LATE = "What this page reads has not come within {seconds:g} s: Postgres is slow, or does not answer."

Read = TypeVar("Read")


class ReadingRoom:
    """Lets views read, each in a thread of its own; what hangs keeps a seat, and no request waits for it.

    Args:
        seats: that read at once.
        places: that read or wait.
        seat_seconds: for a seat to become free.
        answer_seconds: from the call to its end.
        limit: holds what is read inside it to so many seconds.
    """

    def __init__(
        self,
        *,
        seats: int = SEATS,
        places: int = PLACES,
        seat_seconds: float = SEAT_SECONDS,
        answer_seconds: float = ANSWER_SECONDS,
        limit: Callable[[float], AbstractContextManager[object]] = nullcontext,
    ) -> None:
        self._seats = BoundedSemaphore(seats)
        self._places = BoundedSemaphore(places)
        self._seat_seconds = seat_seconds
        self._answer_seconds = answer_seconds
        self._limit = limit

    def read(self, work: Callable[[], Read]) -> Read:
        """What `work` returns, or raises.

        Raises:
            ServiceUnavailable: all seats are taken, or `work` has not ended in time.
        """
        if not self._places.acquire(blocking=False):
            raise ServiceUnavailable(_FULL, retry_after=RETRY_SECONDS)
        try:
            return self._read_in_time(work, ends_at=time.monotonic() + self._answer_seconds)
        finally:
            self._places.release()

    def _read_in_time(self, work: Callable[[], Read], *, ends_at: float) -> Read:
        if not self._seats.acquire(timeout=self._seat_seconds):
            raise ServiceUnavailable(_FULL, retry_after=RETRY_SECONDS)
        future: Future[Read] = Future()
        # a daemon: what hangs must not keep the process from ending
        Thread(target=self._work, args=(work, future, ends_at), name="page-read", daemon=True).start()
        try:
            error = future.exception(timeout=max(0.0, ends_at - time.monotonic()) + _GRACE_SECONDS)
        except TimeoutError:
            told = _LATE.format(seconds=self._answer_seconds)
            raise ServiceUnavailable(told, retry_after=RETRY_SECONDS) from None
        if error is not None:
            raise error
        return future.result()

    def _work(self, work: Callable[[], Read], future: Future[Read], ends_at: float) -> None:
        try:
            with self._limit(max(0.0, ends_at - time.monotonic())):
                future.set_result(work())
        except BaseException as error:  # noqa: BLE001 - whatever it is, it belongs to the request that waits
            future.set_exception(error)
        finally:
            self._seats.release()
