"""Whether the broker is there: looked at all the time, so that its absence is an event, not a surprise."""

from __future__ import annotations

import logging
from threading import Event, Thread
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

logger = logging.getLogger(__name__)

PAUSE_SECONDS = 3.0
FIRST_LOOK_SECONDS = 3.0
_NOT_YET = "nobody has looked yet, expected an answer within seconds of the start"


class BrokerWatch:
    """A thread that looks for the broker, says when it goes and comes, and answers for it at once.

    Args:
        find_problem: what is wrong with the broker, None where nothing is; returns within seconds, and never
            raises. An idle connection that the broker has closed is found out only by using it, so that a
            problem is believed when it is found twice.
        pause_seconds: between two looks.
        first_look_seconds: that `find_problem` waits at most, while nobody has looked yet.
    """

    def __init__(
        self,
        find_problem: Callable[[], str | None],
        *,
        pause_seconds: float = PAUSE_SECONDS,
        first_look_seconds: float = FIRST_LOOK_SECONDS,
    ) -> None:
        self._find_problem = find_problem
        self._pause_seconds = pause_seconds
        self._first_look_seconds = first_look_seconds
        self._problem: str | None = _NOT_YET
        self._has_looked, self._is_over = Event(), Event()
        self._thread = Thread(target=self._run, name="broker-watch", daemon=True)

    def find_problem(self) -> str | None:
        """What was wrong when somebody looked last, None where nothing was; waits for the first look only."""
        self._has_looked.wait(self._first_look_seconds)
        return self._problem

    def is_away(self) -> bool:
        """True when it was away when somebody looked last; before the first look it is not known to be."""
        return self._problem not in (None, _NOT_YET)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._is_over.set()  # a look that hangs ends with the process

    def _run(self) -> None:
        while not self._is_over.is_set():
            problem = self._find_problem() and self._find_problem()
            self._tell(problem)
            self._problem = problem
            self._has_looked.set()
            self._is_over.wait(self._pause_seconds)

    def _tell(self, problem: str | None) -> None:
        if problem is not None and not self.is_away():
            logger.warning("broker_away", extra={"error": problem})
        elif problem is None and self.is_away():
            logger.info("broker_back")
