import pytest

from fakes.judge import FakeJudge
from fakes.sample_rates import FixedRates
from fakes.traces import make_trace
from ragsonde.pipeline.assignments import Assignment
from ragsonde.pipeline.planning import plan_evaluations
from ragsonde.scoring.table import build_scorers
from ragsonde_schemas.errors import Cause
from ragsonde_schemas.evaluation import EvaluationState

FREE = FakeJudge("free")


def plan(trace, *, judges=(FREE,), rate=1.0, may_raise=False):
    return plan_evaluations(
        trace,
        assignments={judge.name: Assignment(judge=judge, scorers=build_scorers(None)) for judge in judges},
        sample_rates=FixedRates({judge.name: rate for judge in judges}),
        may_raise=may_raise,
    )


def test_a_free_judge_is_asked_at_once_and_a_paid_one_waits():
    paid = FakeJudge("paid", is_free=False)
    free, waiting = plan(make_trace(), judges=(FREE, paid))
    assert free.state is EvaluationState.SCORED
    assert len(free.result.outcomes) == 5
    assert (waiting.state, waiting.result) == (EvaluationState.WAITING, None)
    assert paid.asked == []


@pytest.mark.parametrize(
    ("fields", "cause"),
    [
        ({"contexts": None}, Cause.NO_CONTEXT),
        ({"contexts": []}, Cause.EMPTY_RETRIEVAL),
        ({"contexts": [" ", "\n"]}, Cause.EMPTY_RETRIEVAL),
        ({"query": " "}, Cause.NO_QUERY),
    ],
)
def test_where_nothing_can_be_scored_no_judge_is_asked(fields, cause):
    paid = FakeJudge("paid", is_free=False)
    (planned,) = plan(make_trace(**fields), judges=(paid,))
    assert planned.state is EvaluationState.NOT_EVALUABLE
    assert planned.result.cause is cause
    assert planned.result.assessment is None
    assert paid.asked == []


def test_what_is_not_in_the_sample_is_sampled_out_and_the_rate_is_stored():
    (planned,) = plan(make_trace(), rate=0.0)
    assert (planned.state, planned.sample_rate) == (EvaluationState.SAMPLED_OUT, 0.0)


def test_the_producers_probability_goes_into_the_stored_rate():
    (planned,) = plan(make_trace(sampling_probability=0.25))
    assert planned.sample_rate == 0.25


def test_a_message_may_lower_the_rate_but_not_raise_it():
    assert plan(make_trace(evaluation={"sample_rate": 0.0}))[0].state is EvaluationState.SAMPLED_OUT
    assert plan(make_trace(evaluation={"sample_rate": 1.0}), rate=0.0)[0].state is EvaluationState.SAMPLED_OUT
    raised = plan(make_trace(evaluation={"sample_rate": 1.0}), rate=0.0, may_raise=True)
    assert raised[0].state is EvaluationState.SCORED


def test_a_message_may_leave_scorers_out_and_the_judge_is_asked_for_all_the_same():
    judge = FakeJudge("free")
    (whole,) = plan(make_trace(), judges=(judge,))
    (planned,) = plan(make_trace(evaluation={"scorers": ["context_position", "unheard_of"]}), judges=(judge,))
    assert [outcome.scorer for outcome in planned.result.outcomes] == ["context_position"]
    assert len(whole.result.outcomes) == 5
    assert judge.asked[0][1] == judge.asked[1][1]


def test_a_message_that_wants_no_configured_scorer_is_filtered():
    (planned,) = plan(make_trace(evaluation={"scorers": []}))
    assert planned.state is EvaluationState.FILTERED
