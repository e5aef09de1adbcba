"""Which outcomes stored verdicts have by other options."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from fakes.judged_traces import make_trace
from ragsonde.api.rescoring import find_counting, rescore
from ragsonde.scoring.table import build_scorers
from ragsonde.scoring.verdicts import read_assessment
from ragsonde.storage.assessments import StoredEvaluation, StoredOutcome
from ragsonde_schemas.errors import Cause
from ragsonde_schemas.evaluation import EvaluationKey
from ragsonde_schemas.score import Score
from ragsonde_schemas.trace import EvaluationWish

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
SCORERS = build_scorers({"context_precision": None, "essential_context": None})
VERDICTS = {
    "contexts": {str(place): {"relevant": place == 1, "supports": True} for place in (1, 2, 3)},
    "essential": ["1.1"],
}


def store(trace, **fields):
    whole = {"has_texts": True, "cause": None, "assessment": read_assessment(VERDICTS, trace), "outcomes": ()}
    key = EvaluationKey(trace=trace.key, revision=1, judge="gpt", fingerprint="f" * 16)
    return StoredEvaluation(key=key, trace=trace, judged_at=NOON, **{**whole, **fields})


def tell(outcomes):
    return [(one.scorer, one.status, getattr(one, "cause", None)) for one in outcomes]


def make_score(version, raw, *, minutes):
    score = Score(scorer="a", version=version, raw=raw, value=raw, band="good", reason="so")
    return StoredOutcome(outcome=score, created_at=NOON + timedelta(minutes=minutes))


def test_verdicts_are_scored():
    assert tell(rescore(store(make_trace()), scorers=SCORERS)) == [
        ("context_precision", "scored", None),
        ("essential_context", "scored", None),
    ]


def test_what_the_judge_never_answered_stays_the_error_that_it_was():
    stored = store(make_trace(), assessment=None, cause=Cause.JUDGE_UNAVAILABLE)
    assert [line[1:] for line in tell(rescore(stored, scorers=SCORERS))] == [
        ("error", Cause.JUDGE_UNAVAILABLE)
    ] * 2


def test_what_needs_no_verdict_is_skipped_as_it_was():
    outcomes = rescore(store(make_trace(answer=None, query=" "), assessment=None), scorers=SCORERS)
    assert {one.cause for one in outcomes} == {Cause.NO_QUERY}


def test_a_scorer_that_has_something_to_skip_is_not_called_expired():
    outcomes = rescore(store(make_trace(answer=None), assessment=None), scorers=SCORERS)
    assert [one.cause for one in outcomes] == [Cause.NO_ANSWER, Cause.CONTENT_EXPIRED]


@pytest.mark.parametrize(
    ("verdicts", "version"),
    [
        (VERDICTS, "1:reference"),
        (
            {"contexts": {"1": {"relevant": True}, "2": {"relevant": True}, "3": {"relevant": True}}},
            "1:answer",
        ),
    ],
)
def test_without_texts_all_is_skipped_and_the_basis_follows_from_the_verdicts(verdicts, version):
    trace = make_trace()
    remains = trace.model_copy(update={"query": None, "answer": None, "contexts": None})
    stored = store(remains, has_texts=False, assessment=read_assessment(verdicts, trace))
    precision, essential = rescore(stored, scorers=SCORERS)
    assert (precision.status, precision.cause, precision.version) == (
        "skipped",
        Cause.CONTENT_EXPIRED,
        version,
    )
    assert (essential.cause, essential.version) == (Cause.CONTENT_EXPIRED, "1")


def test_what_the_message_did_not_want_is_not_added():
    trace = make_trace(wish=EvaluationWish(scorers=("essential_context",)))
    assert [one.scorer for one in rescore(store(trace), scorers=SCORERS)] == ["essential_context"]


def test_the_newest_counts_unless_a_version_is_active():
    outcomes = (make_score("1:answer", 0.1, minutes=0), make_score("1+ab:answer", 0.2, minutes=5))
    stored = store(make_trace(), outcomes=outcomes)
    for active, raw in ((None, 0.2), ("1", 0.1), ("1:answer", 0.1), ("1+ab", 0.2)):
        assert find_counting(stored, "a", active=active).raw == raw
    assert find_counting(stored, "a", active="2") is None
    assert find_counting(stored, "b", active=None) is None
