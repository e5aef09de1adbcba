"""The work unit: one revision of a record and one judge."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from ragsonde_schemas.assessment import Assessment
from ragsonde_schemas.errors import Cause
from ragsonde_schemas.judge_call import JudgeCall
from ragsonde_schemas.score import Outcome
from ragsonde_schemas.trace import Trace, TraceKey
from ragsonde_schemas.value import Value


class EvaluationState(StrEnum):
    """Where an evaluation stands; `TRANSITIONS` says what may follow."""

    WAITING = "waiting"
    RUNNING = "running"
    SCORED = "scored"
    NOT_EVALUABLE = "not_evaluable"
    FAILED = "failed"
    SAMPLED_OUT = "sampled_out"
    FILTERED = "filtered"
    SHED = "shed"
    SUPERSEDED = "superseded"


_S = EvaluationState
TRANSITIONS: dict[EvaluationState, frozenset[EvaluationState]] = {
    _S.WAITING: frozenset({_S.RUNNING, _S.SAMPLED_OUT, _S.FILTERED, _S.SHED, _S.SUPERSEDED}),
    _S.RUNNING: frozenset({_S.WAITING, _S.SCORED, _S.NOT_EVALUABLE, _S.FAILED, _S.SUPERSEDED}),
    _S.SCORED: frozenset({_S.SUPERSEDED}),
    _S.NOT_EVALUABLE: frozenset({_S.SUPERSEDED}),
    _S.FAILED: frozenset({_S.SUPERSEDED}),
    _S.SAMPLED_OUT: frozenset({_S.SUPERSEDED}),
    _S.FILTERED: frozenset({_S.SUPERSEDED}),
    _S.SHED: frozenset({_S.SUPERSEDED}),
    _S.SUPERSEDED: frozenset(),
}
REOPENINGS: dict[EvaluationState, frozenset[EvaluationState]] = {_S.FAILED: frozenset({_S.WAITING})}
"""What only a person's command does: no run, no message and no sweeper opens again what has ended."""

LEFT_OUT: dict[EvaluationState, frozenset[EvaluationState]] = {
    _S.SAMPLED_OUT: frozenset({_S.WAITING}),
    _S.SHED: frozenset({_S.WAITING}),
}
"""What only a backfill does: it has judged what live traffic left out."""

REDONE: dict[EvaluationState, frozenset[EvaluationState]] = {
    _S.FAILED: frozenset({_S.WAITING}),
    _S.SCORED: frozenset({_S.WAITING}),
    _S.NOT_EVALUABLE: frozenset({_S.WAITING}),
}
"""What only a backfill does that was started for it: what failed, or lacks a scorer, is run once more. Rows
stay until the new end."""

TERMINAL = frozenset(_S) - {_S.WAITING, _S.RUNNING}


class EvaluationKey(Value):
    """Names one evaluation: a revision of a record, a judge and its fingerprint."""

    trace: TraceKey
    revision: int
    judge: str
    fingerprint: str


class EvaluationResult(Value):
    """What an evaluation ended with.

    Attributes:
        state: SCORED (at least one number), NOT_EVALUABLE (all skipped) or FAILED (no number, an error).
        cause: for the last two, the commonest cause of its outcomes.
        assessment: None where the judge was not asked, or did not answer.
        calls_before_outage: of a run that an outage ended for good, as there is no assessment to hold them.
    """

    state: EvaluationState
    cause: Cause | None = None
    outcomes: tuple[Outcome, ...]
    assessment: Assessment | None = None
    calls_before_outage: tuple[JudgeCall, ...] = ()

    @property
    def calls(self) -> tuple[JudgeCall, ...]:
        """All that was asked of a provider in this run."""
        return self.calls_before_outage if self.assessment is None else self.assessment.calls


class PlannedEvaluation(Value):
    """An evaluation as it is born with its revision.

    Attributes:
        state: SCORED, NOT_EVALUABLE or FAILED (then `result` is given), WAITING, or one in which the judge is
            never asked: SAMPLED_OUT, FILTERED, SHED.
        sample_rate: the rate in force, times the producer's sampling probability.
        backfill_id: the backfill that brought the trace; what waits is left to it. None = live traffic.
    """

    judge: str
    fingerprint: str
    state: EvaluationState
    sample_rate: float
    result: EvaluationResult | None = None
    backfill_id: int | None = None


class KeptResult(Value):
    """What an evaluation that a backfill runs once more had ended with: it stays until the new end.

    Attributes:
        was: FAILED: the new result takes its place; SCORED or NOT_EVALUABLE: it is added to.
        scorer: the one whose outcome is added; None where all take the place of the old ones.
        assessment: its verdicts, without calls; None where the judge gave none or retention has dropped them.
    """

    was: EvaluationState
    scorer: str | None = None
    assessment: Assessment | None = None


class ClaimedEvaluation(Value):
    """An evaluation that this worker alone may run until its lease ends.

    Attributes:
        unfinished_starts: starts, this one included, since a run last ended in a transaction.
        attempts: failures that were the trace's own.
        waiting_since: when it was born or reopened; after 24 h it ends as error(judge_unavailable).
        starts: starts so far, this one included: names this claim, which alone may end it.
        trace: read back from the store, sentences numbered again.
        is_expired: retention has dropped its texts: `trace` holds what is still known, and cannot be judged.
        backfill_id: the backfill that it is run for; None = live traffic brought it.
        earlier: the newest assessment of the same content by the same judge, without its calls; None where
            there is none. One that a fallback gave, that has faults, or whose contexts were cut, is none.
        kept: what it had ended with, where a backfill runs it once more.
    """

    key: EvaluationKey
    trace: Trace
    unfinished_starts: int
    attempts: int
    waiting_since: datetime
    starts: int = 1
    is_expired: bool = False
    backfill_id: int | None = None
    earlier: Assessment | None = None
    kept: KeptResult | None = None

    @property
    def added_scorer(self) -> str | None:
        """The scorer whose outcome alone this run adds; None for a run that gives all."""
        return None if self.kept is None else self.kept.scorer


class Admission(Value):
    """What the store made of a trace.

    Attributes:
        kind: `new` (first revision), `revision` (content changed), `duplicate` (nothing stored),
            `over_limit` (a fourth revision, not stored) or `forgotten` (it was erased, and stays so).
        key: of the stored or found row; its day may be an earlier delivery's where the time was guessed.
        revision: of that row; 0 where there is none.
        pending: keys of the evaluations that are still to be run, also those of a duplicate's row.
        claimed: one more that is still to be run, and runs by now: the caller has it already.
        superseded: how many score rows older revisions had.
    """

    kind: str
    key: TraceKey
    revision: int
    pending: tuple[EvaluationKey, ...] = ()
    claimed: ClaimedEvaluation | None = None
    superseded: int = 0

    @property
    def is_stored(self) -> bool:
        """True when this delivery made a new row."""
        return self.kind in {"new", "revision"}
