"""How an evaluation ends: what failed, with which exit code, and what is said while a judge is away."""

from __future__ import annotations

import math
from threading import Lock
from typing import TYPE_CHECKING

from ragsonde.cli.failures import ExitCode
from ragsonde.cli.terminal import write_note
from ragsonde_schemas.errors import Cause
from ragsonde_schemas.score import Unscored

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ragsonde.api.report import Report
    from ragsonde.cli.checks import Check
    from ragsonde_schemas.errors import JudgeUnavailableError

_NOT_ANSWERING = frozenset(
    {
        Cause.JUDGE_UNAVAILABLE,
        Cause.JUDGE_REJECTED_REQUEST,
        Cause.JUDGE_RETIRED,
        Cause.DEADLINE_EXCEEDED,
    }
)


class AwayNotes:
    """Tells on standard error that a judge is away; each length of wait once, however many traces wait."""

    def __init__(self) -> None:
        self._told: set[int] = set()
        self._lock = Lock()

    def __call__(self, outage: JudgeUnavailableError, pause_seconds: float) -> None:
        """Tells of a try that failed and of the next one."""
        seconds = math.ceil(pause_seconds)
        with self._lock:
            is_new = seconds not in self._told
            self._told.add(seconds)
        if is_new:
            write_note(f"{outage}: it is away, trying again in {seconds} s")


def choose_ending(report: Report, *, checks: Sequence[Check]) -> ExitCode:
    """The exit code of an evaluation that ran to its end.

    UNAVAILABLE when no trace has a score and the judge or the target gave no answer for one: nothing is known
    of the traces, whatever was demanded. BELOW when a demand is not met, or no trace has a score because of
    other errors. Traces with nothing to score are no error.
    """
    if not report.has_score:
        causes = {error.cause for error in _list_errors(report)}
        if causes & _NOT_ANSWERING or any(item.error is not None for item in report.items):
            return ExitCode.UNAVAILABLE
        if causes:
            return ExitCode.BELOW
    return ExitCode.OK if all(check.is_met for check in checks) else ExitCode.BELOW


def list_failures(report: Report) -> list[str]:
    """The first message of each cause by which there should have been a score and is none."""
    firsts: dict[Cause, str] = {}
    for error in _list_errors(report):
        firsts.setdefault(error.cause, error.reason)
    return [f"{cause}: {reason}" for cause, reason in firsts.items()]


def _list_errors(report: Report) -> Iterator[Unscored]:
    for item in report.items:
        for outcome in item.outcomes:
            if isinstance(outcome, Unscored) and outcome.status == "error":
                yield outcome
