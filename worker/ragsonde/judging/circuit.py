"""A circuit breaker: a model that does not answer is left alone for a while, then tried with one call.

    closed --outages in a row--> open --time is over--> half open --answered--> closed
                                  ^---------- failed, for twice as long ----------|

A Retry-After opens it at once, for as long as the provider asked.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from ragsonde.judging.options import CircuitOptions

PROBE_SECONDS = 2.0
"""What those are told to wait who come while a probe is out: it is answered about then."""


class Entry(NamedTuple):
    """What a circuit says to one who wants to ask.

    Attributes:
        wait_seconds: after which to come again; None: ask now, and tell how it ended.
        is_probe: this call decides whether the circuit closes; to be handed back with how it ended.
    """

    wait_seconds: float | None
    is_probe: bool = False


class Circuit:
    """Whether a model may be asked now; of one process, safe to use from any number of threads.

    While it is open only its probe counts: calls that were begun before it opened say nothing new when they
    end.

    Args:
        options: when it opens, and for how long.
        monotonic: seconds that only grow.
        on_change: told True when it opens and False when it closes, outside of any lock.
    """

    def __init__(
        self,
        options: CircuitOptions,
        *,
        monotonic: Callable[[], float],
        on_change: Callable[[bool], None] = lambda _: None,
    ) -> None:
        self._options = options
        self._monotonic = monotonic
        self._on_change = on_change
        self._lock = threading.Lock()
        self._failures = 0
        self._open_until: float | None = None
        self._open_seconds = options.open_seconds
        self._is_probing = False

    def enter(self) -> Entry:
        """Whether the model may be asked now; whoever is let in must `succeed`, `fail` or `leave`."""
        with self._lock:
            if self._open_until is None:
                return Entry(None)
            remaining = self._open_until - self._monotonic()
            if remaining > 0:
                return Entry(remaining)
            if self._is_probing:
                return Entry(PROBE_SECONDS)
            self._is_probing = True
            return Entry(None, is_probe=True)

    def succeed(self, *, is_probe: bool) -> None:
        """The model answered, whatever it said."""
        with self._lock:
            has_closed = self._open_until is not None
            if has_closed and not is_probe:
                return
            self._failures, self._open_until, self._is_probing = 0, None, False
            self._open_seconds = self._options.open_seconds
        if has_closed:
            self._on_change(False)

    def fail(self, *, is_probe: bool, retry_after_seconds: float | None = None) -> None:
        """The model did not answer; with a Retry-After it is left alone for that long at once."""
        with self._lock:
            was_open = self._open_until is not None
            if is_probe:
                self._is_probing = False
            wait_seconds = retry_after_seconds or 0.0
            if not wait_seconds and (is_probe or not was_open):
                wait_seconds = self._count_failure(is_probe=is_probe)
            if wait_seconds > 0:
                until = self._monotonic() + wait_seconds
                self._open_until = max(until, self._open_until or until)
            has_opened = not was_open and self._open_until is not None
        if has_opened:
            self._on_change(True)

    def leave(self, *, is_probe: bool) -> None:
        """The model was not asked after all, or how it ended says nothing of whether the model is there."""
        if is_probe:
            with self._lock:
                self._is_probing = False

    def _count_failure(self, *, is_probe: bool) -> float:
        """How many seconds it must be open for one failure more."""
        self._failures += 1
        if is_probe:
            self._open_seconds = min(self._open_seconds * 2, self._options.longest_open_seconds)
        return self._open_seconds if is_probe or self._failures >= self._options.failures else 0.0
