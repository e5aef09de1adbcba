"""The monitor's job that checks the ledger again and again."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING

from ragsonde.exposition.series import LEDGER_VIOLATIONS
from ragsonde.monitor.loop import Job
from ragsonde.storage.ledger_reading import LedgerReader
from ragsonde.storage.locks import GaveWayError

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from ragsonde.exposition.registry import Series
    from ragsonde.ports import Clock
    from ragsonde_schemas.ledger import Invariant, InvariantCheck

logger = logging.getLogger(__name__)

INVARIANTS = "invariants"
LEDGER_JOB_NAMES = (INVARIANTS,)
CHECKED_SPAN = timedelta(hours=25)
"""An evaluation waits for 24 hours at most: each is looked at when it has ended, too."""


@dataclass(kw_only=True)
class LedgerChores:
    """Checks every invariant; a gauge shows how many rows break it, the log says when one begins to.

    Attributes:
        kept_days: the shortest retention of traces, evaluations and scores.
        verdict_days: the retention of verdicts.
        check_seconds: between two checks.
        timeout_seconds: of one invariant.
        deadline_seconds: of all of them.
    """

    engine: Engine
    series: Series
    clock: Clock
    kept_days: int
    verdict_days: int | None = None
    check_seconds: float = 300.0
    timeout_seconds: float = 120.0
    deadline_seconds: float = 600.0
    _broken: set[Invariant] = field(default_factory=set)

    def build_jobs(self) -> tuple[Job, ...]:
        """The job, as the monitor runs it; each monitor shows what it found itself."""
        job = Job(
            name=INVARIANTS,
            interval_seconds=self.check_seconds,
            run=self.check,
            is_exclusive=False,
            shows=(LEDGER_VIOLATIONS,),
            deadline_seconds=self.deadline_seconds,
        )
        return (job,)

    def check(self) -> None:
        """Checks what was stored in the last 25 hours; gives way to a migration, and is done again after it.

        Raises:
            DatabaseLostError, GivenUpError: the gauges keep what was found last.
        """
        now = self.clock.now()
        reader = LedgerReader(
            self.engine,
            kept_days=self.kept_days,
            verdict_days=self.verdict_days,
            timeout_seconds=self.timeout_seconds,
        )
        try:
            ledger = reader.read(now=now, since=now - CHECKED_SPAN)
        except GaveWayError:
            logger.info("ledger_gave_way")
            return
        self.series.replace(
            LEDGER_VIOLATIONS, {(check.invariant.value,): float(check.violations) for check in ledger.checks}
        )
        for check in ledger.checks:
            self._tell(check)

    def _tell(self, check: InvariantCheck) -> None:
        fields = {"invariant": check.invariant.value}
        if check.holds and check.invariant in self._broken:
            self._broken.discard(check.invariant)
            logger.info("ledger_holds_again", extra=fields)
        elif not check.holds and check.invariant not in self._broken:
            self._broken.add(check.invariant)
            found = {"violations": check.violations, "trace_ids": list(check.trace_ids)}
            logger.error("ledger_broken", extra={**fields, **found})
