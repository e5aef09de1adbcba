"""Judges, and what is shared about them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from ragsonde_schemas.assessment import Aspect, Assessment
    from ragsonde_schemas.check import CheckKey, CheckResult, ClaimedCheck
    from ragsonde_schemas.evaluation import (
        ClaimedEvaluation,
    )
    from ragsonde_schemas.judge_call import JudgeCall
    from ragsonde_schemas.spending import Reservation, WorstCase
    from ragsonde_schemas.trace import Trace


class Judge(Protocol):
    """Answers questions about a trace.

    Attributes:
        name: as configured.
        fingerprint: 16 hex digits, known before any call; changes when verdicts may change.
        is_free: its verdicts cost nothing and need no network: it is asked before its trace is stored.
    """

    name: str
    fingerprint: str
    is_free: bool

    def assess(
        self, trace: Trace, aspects: frozenset[Aspect], *, deadline: float | None = None
    ) -> Assessment:
        """Verdicts for `aspects`; unusable ones are in `faults`, never invented.

        Args:
            trace: with at least one non-blank context and a question.
            aspects: what the app's configured scorers need, all in one exchange.
            deadline: `time.monotonic()` value after which nothing new may be begun.

        Raises:
            JudgeUnavailableError: an outage; ask again later. Its `calls` tell what was asked until then.
            JudgePausedError: somebody must act first; likewise.
        """
        ...


class PaidJudge(Judge, Protocol):
    """A judge that is not free: what it may cost is known before it is asked."""

    def estimate(self, trace: Trace, aspects: frozenset[Aspect]) -> WorstCase:
        """The most that asking it about this trace is expected to take; its number of calls is exact."""
        ...


class Budgets(Protocol):
    """What judges may spend, over all workers."""

    def reserve(self, claimed: ClaimedEvaluation, estimate: Callable[[], WorstCase]) -> Reservation:
        """Holds the worst case of a claimed evaluation; whatever ends its run settles it.

        Args:
            claimed: running, by this claim.
            estimate: the most that asking may take; called only where the judge has a budget.

        Raises:
            JudgePausedError: the budget is in dollars and the price is not known.
            DatabaseLostError: Postgres is away.
        """
        ...

    def reserve_check(self, claimed: ClaimedCheck, estimate: Callable[[], WorstCase]) -> Reservation:
        """The same for a trace of the check set: it is paid from the same budget."""
        ...


class SampleRates(Protocol):
    """The share of an app's traces that a judge looks at."""

    def find(self, app: str, judge: str) -> float:
        """The rate in force, 0..1; the configured one where none is set or it cannot be read."""
        ...


class CheckStore(Protocol):
    """Where the check set is kept, and what judges made of it."""

    def claim(self, key: CheckKey, *, spares_suspects: bool = False) -> ClaimedCheck | None:
        """The check, under a lease, or None when it is done, dropped, or somebody else has it.

        Args:
            key: names it.
            spares_suspects: None also where an earlier claim of it never ended, and nothing is counted.

        Raises:
            DatabaseLostError: Postgres is away.
        """
        ...

    def is_suspect(self, key: CheckKey) -> bool:
        """True when it is due, and an earlier claim of it never ended: it is worked on alone.

        Raises:
            DatabaseLostError: Postgres is away.
        """
        ...

    def finish(self, claimed: ClaimedCheck, result: CheckResult) -> bool:
        """Stores what came of it; False when this claim does not run it any more, and nothing was written.

        Raises:
            DatabaseLostError: Postgres is away.
        """
        ...

    def postpone(self, claimed: ClaimedCheck, *, until: datetime, calls: tuple[JudgeCall, ...] = ()) -> bool:
        """Leaves it undone and due at `until`; the calls of this run are kept.

        Raises:
            DatabaseLostError: Postgres is away.
        """
        ...
