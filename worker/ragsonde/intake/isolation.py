"""Suspects run alone: a read-write lock over the threads of one process."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


class ThreadIsolation:
    """Work is held shared, a suspect's work alone, so that the next crash blames exactly one message.

    Re-entrant: what a thread holds already counts for everything it does inside.
    """

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._sharing = 0
        self._is_alone = False
        self._waiting_alone = 0
        self._held = threading.local()

    @contextmanager
    def hold(self, *, alone: bool) -> Iterator[bool]:
        """Waits for its turn and holds it until the block ends; False where it cannot be alone as asked."""
        if getattr(self._held, "is_held", False):
            yield self._is_alone or not alone
            return
        enter, leave = (
            (self._enter_alone, self._leave_alone) if alone else (self._enter_shared, self._leave_shared)
        )
        enter()
        self._held.is_held = True
        try:
            yield True
        finally:
            self._held.is_held = False
            leave()

    def _enter_shared(self) -> None:
        with self._condition:
            # those who wait to be alone go first, or steady traffic would starve them
            self._condition.wait_for(lambda: not self._is_alone and not self._waiting_alone)
            self._sharing += 1

    def _leave_shared(self) -> None:
        with self._condition:
            self._sharing -= 1
            self._condition.notify_all()

    def _enter_alone(self) -> None:
        with self._condition:
            self._waiting_alone += 1
            self._condition.wait_for(lambda: not self._is_alone and not self._sharing)
            self._waiting_alone -= 1
            self._is_alone = True

    def _leave_alone(self) -> None:
        with self._condition:
            self._is_alone = False
            self._condition.notify_all()
