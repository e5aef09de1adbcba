"""The check set: recorded traces that are judged again every day, to see whether the judge moved."""

from __future__ import annotations

from datetime import date
from typing import Any

from ragsonde_schemas.assessment import Assessment
from ragsonde_schemas.errors import Cause
from ragsonde_schemas.score import Outcome
from ragsonde_schemas.trace import Trace
from ragsonde_schemas.value import Value


class CheckKey(Value):
    """Names what a judge has to do on one day (UTC) for one trace of the check set."""

    check_id: int
    judge: str
    fingerprint: str
    day: date


class ClaimedCheck(Value):
    """A check that this worker alone may run until its lease ends.

    Attributes:
        trace: as recorded, sentences numbered again.
        starts: starts so far, this one included: names this claim, which alone may end it.
        unfinished_starts: starts, this one included, since a run last ended in a transaction.
    """

    key: CheckKey
    trace: Trace
    starts: int
    unfinished_starts: int


class CheckResult(Value):
    """What a check ended with.

    Attributes:
        assessment: None where the judge gave none.
        cause: why there is no number at all, None where there is one.
        outcomes: of all scorers of the judge.
    """

    assessment: Assessment | None
    cause: Cause | None
    outcomes: tuple[Outcome, ...]


class CheckScore(Value):
    """A scorer's first and newest number for one trace of the check set, under one judge.

    Attributes:
        first: of the first day of this fingerprint.
        newest: of the newest day.
        newest_day: equal to the first day where there is no other.
    """

    check_id: int
    judge: str
    fingerprint: str
    scorer: str
    version: str
    first: float
    first_day: date
    newest: float
    newest_day: date


class Drift(Value):
    """How far a judge's scores of the check set have moved since they were first given.

    Attributes:
        n: traces that have a first and a later number.
        reference: mean of the first numbers.
        now: mean of the newest.
        difference: `now` - `reference`.
        stderr: standard error of that mean of paired differences; None below two traces.
    """

    judge: str
    fingerprint: str
    scorer: str
    version: str
    n: int
    reference: float
    now: float
    difference: float
    stderr: float | None


class Candidate(Value):
    """A stored trace that may become part of the check set.

    Attributes:
        row: whatever names it in the store.
        mean_raw: mean of its scores, 0..1.
        place: its place in order of time, the newest is 0.
    """

    row: Any
    trace_id: str
    content_hash: str
    mean_raw: float
    place: int
