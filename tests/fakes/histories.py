"""What is known of a trace, as it would be read from the store."""

from __future__ import annotations

from fakes.clock import NOON
from ragsonde.judging.options import JudgeKind, JudgeOptions
from ragsonde.judging.table import build_judges
from ragsonde.pipeline.judging import judge_and_score
from ragsonde.scoring.table import build_scorers
from ragsonde_schemas.assessment import Assessment, ContextVerdict, Level
from ragsonde_schemas.evaluation import EvaluationKey
from ragsonde_schemas.history import EvaluationHistory, RevisionHistory, TraceHistory

SCORERS = build_scorers(None)
(LEXICAL,) = build_judges((JudgeOptions(name="lexical", kind=JudgeKind.LEXICAL),)).values()
VERDICTS = Assessment(
    contexts={
        "1": ContextVerdict(relevant=True, level=Level.HIGH, used=True, reason="names the battery"),
        "2": ContextVerdict(relevant=False, level=Level.LOW, used=False),
        "3": ContextVerdict(relevant=False, level=Level.NONE, used=False),
    },
    missing=("which shops have it",),
    essential=("1.1",),
    insufficient=False,
    relevant_sentences=("1.1", "1.2"),
)


def evaluate(trace, *, judge="lexical", **changes):
    """One judge's evaluation of a trace by the verdicts above; `changes` replace fields."""
    result = judge_and_score(trace, scorers=SCORERS, judge=LEXICAL, given=VERDICTS)
    values = {
        "key": EvaluationKey(trace=trace.key, revision=1, judge=judge, fingerprint="f" * 16),
        "state": result.state,
        "cause": result.cause,
        **dict.fromkeys(("attempts", "starts", "unfinished_starts", "calls", "tokens_in", "tokens_out"), 0),
        **dict.fromkeys(("finished_at", "next_attempt_at", "lease_until", "cost_usd")),
        "sample_rate": 1.0,
        "created_at": NOON,
        "replies": (),
        "assessment": result.assessment,
        "outcomes": result.outcomes,
    }
    return EvaluationHistory(**values | changes)


def tell(trace, /, *evaluations, **changes):
    """The history of a trace of one revision."""
    values = {
        "key": trace.key,
        "revision": 1,
        "content_hash": trace.content_hash,
        "admitted_at": NOON,
        "occurred_at": NOON,
        "occurred_at_guessed": False,
        "claimed_occurred_at": None,
        "environment": "production",
        "release": "2.4.0",
        "variant": "",
        "trace": trace,
        "evaluations": evaluations,
    }
    return TraceHistory(trace_id=trace.trace_id, revisions=(RevisionHistory(**values | changes),), parked=())
