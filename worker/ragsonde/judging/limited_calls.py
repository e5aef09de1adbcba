"""Calls that end when their time is over, whatever they wait for.

A timeout of a socket limits the gap between two bytes: who sends one now and then could be waited for without
end. So a call runs in a thread, and its caller waits no longer than it may. A thread that is not back by then
is left alone, as nothing can end it; there are never more than a few of those.
"""

from __future__ import annotations

import os
import threading
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")

MOST_ABANDONED = 16
"""Calls under way that nobody waits for any more."""
IDLE_SECONDS = 60.0
"""After which a thread without work ends."""


class CallTimeoutError(Exception):
    """A call was not over in time; it goes on, and nobody will hear of its end."""


class TooManyAbandonedError(Exception):
    """A call was not begun: too many others never came back."""


class _Task:
    """One call and what became of it; all but `ended` is read after it only."""

    __slots__ = ("call", "ended", "error", "is_abandoned", "result")

    def __init__(self, call: Callable[[], object]) -> None:
        self.call: Callable[[], object] | None = call
        self.ended = threading.Event()
        self.is_abandoned = False
        self.error: BaseException | None = None
        self.result: Any = None

    def work(self) -> None:
        """Makes the call."""
        if self.call is not None:
            try:
                self.result = self.call()
            except BaseException as error:  # noqa: BLE001 - raised where it is waited for
                self.error = error
        self.call = None


_Inbox = SimpleQueue[_Task]


class LimitedCalls:
    """Makes calls in daemon threads of its own, which are used again; a fork begins without any.

    Args:
        most_abandoned: while so many calls go on that nobody waits for, no other is begun.
    """

    def __init__(self, *, most_abandoned: int = MOST_ABANDONED) -> None:
        self._most_abandoned = most_abandoned
        self._begin()

    def _begin(self) -> None:
        self._process = os.getpid()
        self._lock = threading.Lock()
        self._idle: list[_Inbox] = []
        self._abandoned = 0

    @property
    def abandoned(self) -> int:
        """Calls that go on and that nobody waits for."""
        return self._abandoned

    def run(self, call: Callable[[], T], *, seconds: float) -> T:
        """What the call returns or raises, if it does so within the time.

        Raises:
            CallTimeoutError: it did not.
            TooManyAbandonedError: it was not begun.
        """
        task = _Task(call)
        self._hand_over(task)
        try:
            task.ended.wait(seconds)
        finally:
            is_over = self._stop_waiting(task)
        if not is_over:
            raise CallTimeoutError(f"not over after {seconds:g} s")
        try:
            if task.error is not None:
                raise task.error
            result: T = task.result
            return result
        finally:
            del task  # the error holds this frame

    def _hand_over(self, task: _Task) -> None:
        if self._process != os.getpid():
            self._begin()
        with self._lock:
            if self._abandoned >= self._most_abandoned:
                raise TooManyAbandonedError(f"{self._abandoned} calls never came back")
            inbox = self._idle.pop() if self._idle else None
        if inbox is None:
            inbox = SimpleQueue()
            threading.Thread(target=self._serve, args=(inbox,), name="judge-call", daemon=True).start()
        inbox.put(task)

    def _stop_waiting(self, task: _Task) -> bool:
        """Whether the call is over; one that is not is abandoned."""
        with self._lock:
            if task.ended.is_set():
                return True
            task.is_abandoned = True
            self._abandoned += 1
            return False

    def _serve(self, inbox: _Inbox) -> None:
        while True:
            try:
                task = inbox.get(timeout=IDLE_SECONDS)
            except Empty:
                with self._lock:
                    if inbox in self._idle:
                        self._idle.remove(inbox)
                        return
                continue  # a call is on its way
            task.work()
            with self._lock:
                self._abandoned -= task.is_abandoned
                self._idle.append(inbox)
                task.ended.set()
            del task  # with what it returned
