"""The ledger: where everything went, and what must be true of that at any moment."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from ragsonde_schemas.errors import ParkReason
from ragsonde_schemas.evaluation import EvaluationState
from ragsonde_schemas.value import Value


class MessageEnd(StrEnum):
    """What became of a delivered message as a whole; of several that hold for its parts, the first here."""

    PARKED = "parked"
    """It, or a part of it, could not be read; what could be read is stored all the same."""
    ACCEPTED = "accepted"
    """At least one trace or revision in it was stored."""
    ABSORBED = "absorbed"
    """It brought spans that were not there yet; they become a trace later, or already did."""
    DUPLICATE = "duplicate"
    """All of it was stored already, or over the limit of revisions."""
    FILTERED = "filtered"
    """All of it was read and is not to be stored: no RAG application, our own judge, or erased before."""
    RETURNED = "returned"
    """The process was stopping while Postgres was away: the broker delivers it again."""


class Invariant(StrEnum):
    """What holds at any moment, also while traffic runs."""

    REVISIONS_ARE_WHOLE = "revisions_are_whole"
    SCORED_HAS_SCORE = "scored_has_score"
    SCORED_HAS_VERDICTS = "scored_has_verdicts"
    SCORES_ARE_WHOLE = "scores_are_whole"
    SCORES_ARE_IN_RANGE = "scores_are_in_range"
    NOT_EVALUABLE_IS_SKIPPED = "not_evaluable_is_skipped"
    FAILED_HAS_ERROR = "failed_has_error"
    UNJUDGED_HAS_NO_SCORES = "unjudged_has_no_scores"
    ONE_REVISION_COUNTS = "one_revision_counts"
    SUPERSEDED_HAS_REASON = "superseded_has_reason"
    UNENDED_COMES_DUE = "unended_comes_due"
    RUNS_ARE_TAKEN_OVER = "runs_are_taken_over"
    RESERVATIONS_ARE_OF_RUNS = "reservations_are_of_runs"
    SCORES_HAVE_EVALUATION = "scores_have_evaluation"
    EVALUATIONS_HAVE_TRACE = "evaluations_have_trace"


MEANINGS: dict[Invariant, str] = {
    Invariant.REVISIONS_ARE_WHOLE: "a revision has all evaluations it was stored with, one for each judge "
    "configured then: for each judge, accepted revisions = sum over states",
    Invariant.SCORED_HAS_SCORE: "an evaluation that is scored has at least one number",
    Invariant.SCORED_HAS_VERDICTS: "one that is scored and took calls has its verdicts",
    Invariant.SCORES_ARE_WHOLE: "one that ended has the outcome of every scorer that it ended with",
    Invariant.SCORES_ARE_IN_RANGE: "a number lies in 0..1",
    Invariant.NOT_EVALUABLE_IS_SKIPPED: "one that is not evaluable has only skipped scorers",
    Invariant.FAILED_HAS_ERROR: "one that failed has at least one error and no number",
    Invariant.UNJUDGED_HAS_NO_SCORES: (
        "one that waits, runs, is sampled out, filtered or shed has no scores, but in a backfill that runs "
        "it once more"
    ),
    Invariant.ONE_REVISION_COUNTS: "of a record's revisions only one counts",
    Invariant.SUPERSEDED_HAS_REASON: "one is superseded by a newer revision, or as its record was withdrawn",
    Invariant.UNENDED_COMES_DUE: "one that waits has a time when it is due, one that runs a lease",
    Invariant.RUNS_ARE_TAKEN_OVER: "a run whose lease has long been over is not passed over by the sweeper",
    Invariant.RESERVATIONS_ARE_OF_RUNS: "only what runs holds a part of a budget",
    Invariant.SCORES_HAVE_EVALUATION: "a score belongs to an evaluation",
    Invariant.EVALUATIONS_HAVE_TRACE: "an evaluation belongs to a stored trace",
}


class InvariantCheck(Value):
    """What was found of one invariant.

    Attributes:
        violations: rows that break it; 0 where it holds.
        trace_ids: of some of them.
    """

    invariant: Invariant
    violations: int
    trace_ids: tuple[str, ...] = ()

    @property
    def holds(self) -> bool:
        """True when nothing breaks it."""
        return not self.violations


class Ledger(Value):
    """All of it, read in one snapshot.

    Attributes:
        since: what was stored from then on is looked at.
        app: only this one's traces; None for all.
        revisions: accepted since then.
        states: evaluations born with them, by judge and state.
        parked: messages that wait for somebody, by reason; of all apps.
        checks: one for each invariant.
    """

    since: datetime
    taken_at: datetime
    app: str | None
    revisions: int
    states: dict[str, dict[EvaluationState, int]]
    parked: dict[ParkReason, int]
    checks: tuple[InvariantCheck, ...]

    @property
    def holds(self) -> bool:
        """True when every invariant does."""
        return all(check.holds for check in self.checks)
