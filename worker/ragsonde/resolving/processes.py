"""Users' functions in a process of their own: what hangs is killed with it, and a new one takes its place."""

from __future__ import annotations

import logging
import threading
import time
import weakref
from functools import partial
from typing import TYPE_CHECKING, Any

from ragsonde.resolving.child import Child, ChildEndedError
from ragsonde_schemas.errors import ConfigError, ExtractionError, SetupError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ragsonde.decoding.limits import DecodingLimits
    from ragsonde.resolving.question import Question

logger = logging.getLogger(__name__)

LATE_AT_MOST = 8
"""Calls that still run after they were given up: with so many, the process is replaced."""
LATE_SECONDS_AT_MOST = 60.0
"""How long one of them may: it may be a loop that takes the processor from the other calls."""
PAUSE_SECONDS = 5.0
"""After a start that failed; calls fail at once until then."""


class ProcessCalls:
    """Calls the functions in one process, side by side in threads.

    A process in which calls hang gets no new ones: another is started for them, and it is killed as soon as
    the others in it are done, which their timeouts see to. So no hanging call takes capacity for longer, and
    none takes an innocent one with it. Where the process ends by itself (a fault in a C library), each call
    that was running is tried once more, alone. All processes end with this object, and with the process.

    Args:
        places: the functions' names, each with where it is set.
        limits: of what a function may give.
        start: starts a process.

    Raises:
        ConfigError: functions that cannot be found or imported; all such problems together.
        SetupError: importing them ends the process or takes too long.
    """

    def __init__(
        self,
        places: Mapping[str, str],
        *,
        limits: DecodingLimits,
        start: Callable[..., Child] = Child,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._start: Callable[[], Child] = partial(start, dict(places), limits=limits)
        self._monotonic = monotonic
        self._lock = threading.Lock()
        self._alone = threading.Lock()
        self._failed_at: float | None = None
        self._failure = ""
        self._children: dict[Child, int] = {}
        self._newest = self._start()
        self._children[self._newest] = 0
        weakref.finalize(self, _stop_all, self._children)

    def ask(self, question: Question) -> Any:  # noqa: ANN401 - by the field
        """The answer of the user's function, read.

        Raises:
            ExtractionError: it failed, took too long or ended its process; names field and function.
        """
        child = self._join(question)
        try:
            return child.ask(question)
        except ChildEndedError as end:
            if end.was_alone:
                raise ExtractionError(f"{question.label} ended its process, which {end}") from end
        finally:
            self._leave(child)
        return self._ask_alone(question)

    def _join(self, question: Question) -> Child:
        """The process that a call goes to, counted as being used."""
        with self._lock:
            if self._is_used_up(self._newest):
                self._replace(question)
            self._children[self._newest] += 1
            return self._newest

    def _leave(self, child: Child) -> None:
        with self._lock:
            self._children[child] -= 1
            if not self._children[child] and self._is_used_up(child):
                self._drop(child)

    def _is_used_up(self, child: Child) -> bool:
        late = child.late_seconds
        return (
            child is not self._newest
            or child.is_over
            or len(late) >= LATE_AT_MOST
            or max(late, default=0.0) >= LATE_SECONDS_AT_MOST
        )

    def _replace(self, question: Question) -> None:
        now = self._monotonic()
        if self._failed_at is not None and now - self._failed_at < PAUSE_SECONDS:
            raise ExtractionError(f"{question.label} is not called: {self._failure}")
        used_up = self._newest
        logger.warning(
            "user_code_process_replaced",
            extra={"hanging_calls": len(used_up.late_seconds), "has_ended": used_up.is_over},
        )
        try:
            self._newest = self._start()
        except (ConfigError, SetupError, OSError) as error:
            self._failed_at, self._failure = self._monotonic(), str(error)
            logger.exception("user_code_process_failed")
            raise ExtractionError(f"{question.label} is not called: {error}") from error
        self._failed_at = None
        self._children[self._newest] = 0
        if not self._children.get(used_up, 1):
            self._drop(used_up)

    def _drop(self, child: Child) -> None:
        del self._children[child]
        child.stop()

    def _ask_alone(self, question: Question) -> Any:  # noqa: ANN401 - by the field
        with self._alone:
            try:
                child = self._start()
            except (ConfigError, SetupError, OSError) as error:
                raise ExtractionError(f"{question.label} is not called: {error}") from error
            try:
                return child.ask(question)
            except ChildEndedError as end:
                raise ExtractionError(f"{question.label} ended its process, which {end}") from end
            finally:
                child.stop()


def _stop_all(children: dict[Child, int]) -> None:
    for child in list(children):
        child.stop()
