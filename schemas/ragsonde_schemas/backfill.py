"""A plan to evaluate what is stored already: which traces, by whom, how fast, for how much; how far it is."""

from __future__ import annotations

from datetime import date, datetime
from enum import StrEnum

from pydantic import Field

from ragsonde_schemas.errors import Cause
from ragsonde_schemas.evaluation import EvaluationState
from ragsonde_schemas.trace import EvaluationWish, TraceKey
from ragsonde_schemas.value import Value


class BackfillState(StrEnum):
    """Where a backfill stands."""

    RUNNING = "running"
    PAUSED = "paused"
    DONE = "done"
    SPENT = "spent"
    """its own calls or dollars were used up; what had not begun was left as it was"""
    CANCELLED = "cancelled"


ENDED = frozenset({BackfillState.DONE, BackfillState.SPENT, BackfillState.CANCELLED})


class BackfillRequest(Value):
    """What shall be evaluated.

    Attributes:
        judge, fingerprint: who evaluates, as it is configured now; both None for traces of files, which are
            evaluated as live ones are.
        app, environment: only these traces; None = all, '' = the unknown app.
        since, until: first and last day (UTC) on which the trace occurred.
        sample: share of the traces, by the same draw as live sampling: a smaller one keeps a subset.
        rate_per_second: evaluations begun in a second, at most.
        most_calls, most_usd: of a judge that costs; None = the judge's budget alone bounds it.
        most_traces: at most so many evaluations.
        only_failed: evaluations that ended as failed are begun anew, and nothing else.
        cause: of these only those that failed with it.
        scorer: evaluations that the judge made without this scorer get its score beside the others, and
            nothing else.
    """

    judge: str | None
    fingerprint: str | None
    app: str | None = None
    environment: str | None = None
    since: date
    until: date
    sample: float = Field(default=1.0, gt=0, le=1)
    rate_per_second: float = Field(gt=0)
    most_traces: int | None = Field(default=None, ge=1)
    most_calls: int | None = Field(default=None, ge=1)
    most_usd: float | None = Field(default=None, gt=0)
    only_failed: bool = False
    cause: Cause | None = None
    scorer: str | None = None


class Tally(Value):
    """What has become of a backfill's evaluations.

    Attributes:
        outstanding: born, and neither ended nor put back: waiting or running.
        running: of these.
        left: put back, shed, or superseded by a newer revision: the backfill did not evaluate them.
        calls, tokens_in, tokens_out, cost_usd: of the judge, for this backfill; cost as far as it is known.
    """

    outstanding: int = 0
    running: int = 0
    scored: int = 0
    not_evaluable: int = 0
    failed: int = 0
    left: int = 0
    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    cost_usd: float = 0.0

    @property
    def evaluated(self) -> int:
        """Evaluations that ended with scores or the reason for none."""
        return self.scored + self.not_evaluable + self.failed


class Backfill(Value):
    """A backfill as it stands.

    Attributes:
        message: why it paused by itself, or how it ended.
        foreseen: how many evaluations it was to have when it was started.
        looked_at: traces of the range that were looked at so far.
        planned: evaluations that were born for it, or begun anew.
        is_looked_through: the whole range has been looked at: none will be added.
    """

    id: int
    request: BackfillRequest
    state: BackfillState
    message: str | None = None
    created_at: datetime
    created_by: str | None = None
    finished_at: datetime | None = None
    foreseen: int = 0
    looked_at: int = 0
    planned: int = 0
    is_looked_through: bool = False
    tally: Tally = Tally()

    @property
    def has_ended(self) -> bool:
        """True once nothing more is begun for it."""
        return self.state in ENDED

    @property
    def share_done(self) -> float:
        """0..1: what has ended over what there is to do."""
        ended = self.tally.evaluated + self.tally.left
        whole = self.planned if self.is_looked_through or self.has_ended else max(self.planned, self.foreseen)
        return 1.0 if whole == 0 else min(1.0, ended / whole)


class Candidate(Value):
    """A stored revision, as far as it decides whether a backfill evaluates it.

    Attributes:
        wish: what its message asked for.
        state: of the evaluation by the backfill's judge and fingerprint; None where there is none.
        cause: what it ended with, where it has no score.
        has_score: the backfill's scorer has an outcome there, and no error.
        has_texts: retention has not dropped them.
        counts: it is the revision that counts: no newer one, and not withdrawn.
    """

    key: TraceKey
    revision: int
    environment: str
    tags: tuple[str, ...]
    format: str
    wish: EvaluationWish
    sampling_probability: float
    state: EvaluationState | None
    cause: Cause | None = None
    has_score: bool = False
    has_texts: bool
    counts: bool
