"""What users' functions gave for the records seen last: a record that comes again costs no second call."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Any

RESULTS_AT_MOST = 1_000
CHARACTERS_AT_MOST = 8_000_000
"""In all results together."""


class RecentResults:
    """Results by key; the ones that were used longest ago go first."""

    def __init__(
        self, *, results_at_most: int = RESULTS_AT_MOST, characters_at_most: int = CHARACTERS_AT_MOST
    ) -> None:
        self._results_at_most = results_at_most
        self._characters_at_most = characters_at_most
        self._results: OrderedDict[object, tuple[Any, int]] = OrderedDict()
        self._characters = 0
        self._lock = threading.Lock()

    def find(self, key: object) -> tuple[Any] | None:
        """The result in a tuple of one, or None where there is none."""
        with self._lock:
            kept = self._results.get(key)
            if kept is None:
                return None
            self._results.move_to_end(key)
            return (kept[0],)

    def keep(self, key: object, result: object, *, characters: int) -> None:
        """Keeps a result of so many characters; one that would take more than half of the room is not."""
        if characters > self._characters_at_most // 2:
            return
        with self._lock:
            self._drop(key)
            self._results[key] = (result, characters)
            self._characters += characters
            while len(self._results) > self._results_at_most or self._characters > self._characters_at_most:
                self._drop(next(iter(self._results)))

    def _drop(self, key: object) -> None:
        _, characters = self._results.pop(key, (None, 0))
        self._characters -= characters
