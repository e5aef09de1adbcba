"""How many traces a judge is asked about at once."""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ragsonde.judging.completion import CallNotMadeError

if TYPE_CHECKING:
    from collections.abc import Iterator


class Room:
    """A limit of one process; as a conversation has one call under way at a time, also one of calls.

    Args:
        judge: its name, for messages.
        size: conversations at once; None = no limit.
        patience_seconds: the longest wait for a place, which keeps a thread; None = until the deadline.
    """

    def __init__(self, judge: str, *, size: int | None, patience_seconds: float | None) -> None:
        self._judge = judge
        self._size = size
        self._places = None if size is None else threading.BoundedSemaphore(size)
        self._patience_seconds = patience_seconds

    @contextmanager
    def hold(self, *, deadline: float) -> Iterator[None]:
        """Waits for a place and holds it until the block ends.

        Args:
            deadline: `time.monotonic()` value after which nothing may be begun.

        Raises:
            CallNotMadeError: there was none in time.
        """
        if self._places is None:
            yield
            return
        remaining = max(0.0, deadline - time.monotonic())
        if not self._places.acquire(timeout=min(remaining, self._patience_seconds or remaining)):
            raise CallNotMadeError(self._judge, f"busy with {self._size} traces, its max_concurrency")
        try:
            yield
        finally:
            self._places.release()
