"""A check set in memory: one claim a check until it is finished or postponed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragsonde_schemas.check import ClaimedCheck

if TYPE_CHECKING:
    from datetime import datetime

    from ragsonde_schemas.check import CheckKey, CheckResult
    from ragsonde_schemas.judge_call import JudgeCall
    from ragsonde_schemas.trace import Trace


class FakeCheckStore:
    """Holds what was done with each check.

    Attributes:
        finished: results by key.
        postponed: (until, calls) of each time.
    """

    def __init__(self, traces: dict[CheckKey, Trace] | None = None, *, unfinished_starts: int = 1) -> None:
        self._traces = traces or {}
        self._unfinished_starts = unfinished_starts
        self._starts: dict[CheckKey, int] = {}
        self._running: dict[CheckKey, int] = {}
        self.finished: dict[CheckKey, CheckResult] = {}
        self.postponed: list[tuple[datetime, tuple[JudgeCall, ...]]] = []

    def claim(self, key: CheckKey, *, spares_suspects: bool = False) -> ClaimedCheck | None:
        if not self._is_due(key) or (spares_suspects and self._unfinished_starts > 1):
            return None
        starts = self._starts[key] = self._starts.get(key, 0) + 1
        self._running[key] = starts
        return ClaimedCheck(
            key=key, trace=self._traces[key], starts=starts, unfinished_starts=self._unfinished_starts
        )

    def is_suspect(self, key: CheckKey) -> bool:
        return self._is_due(key) and self._unfinished_starts > 1

    def finish(self, claimed: ClaimedCheck, result: CheckResult) -> bool:
        if not self._end(claimed):
            return False
        self.finished[claimed.key] = result
        return True

    def postpone(self, claimed: ClaimedCheck, *, until: datetime, calls: tuple[JudgeCall, ...] = ()) -> bool:
        if not self._end(claimed):
            return False
        self.postponed.append((until, calls))
        return True

    def _is_due(self, key: CheckKey) -> bool:
        return key not in self.finished and key not in self._running and key in self._traces

    def _end(self, claimed: ClaimedCheck) -> bool:
        if self._running.get(claimed.key) != claimed.starts:
            return False
        del self._running[claimed.key]
        return True
