import pytest

from fakes.judge import FakeJudge
from fakes.sample_rates import FixedRates
from fakes.traces import make_trace
from ragsonde.extraction.mapping_options import MatchOptions
from ragsonde.pipeline.assignments import Assignment
from ragsonde.pipeline.planning import plan_evaluations
from ragsonde.scoring.table import build_scorers
from ragsonde_schemas.evaluation import EvaluationState

TRACE = make_trace(app="shop", environment="production", tags=["beta", "web"])


def plan(trace, *, scorers=None, **match):
    assignment = Assignment(
        judge=FakeJudge("gpt"), scorers=build_scorers(scorers), match=MatchOptions(**match)
    )
    (planned,) = plan_evaluations(
        trace, assignments={"gpt": assignment}, sample_rates=FixedRates({"gpt": 1.0}), may_raise=False
    )
    return planned


@pytest.mark.parametrize(
    "match",
    [
        {},
        {"app": "shop"},
        {"app": ["desk", "shop"]},
        {"environment": "production"},
        {"tag": ["web", "mobile"]},
        {"app": "shop", "environment": "production", "tag": "beta"},
    ],
)
def test_a_judge_looks_at_the_traces_that_match(match):
    assert plan(TRACE, **match).state is EvaluationState.SCORED


@pytest.mark.parametrize(
    "match",
    [
        {"app": "desk"},
        {"app": "default"},
        {"environment": "staging"},
        {"tag": "mobile"},
        {"format": "otlp_protobuf"},
        {"app": "shop", "environment": "staging"},
    ],
)
def test_for_a_judge_that_is_not_for_it_a_trace_is_filtered(match):
    planned = plan(TRACE, **match)
    assert (planned.state, planned.result) == (EvaluationState.FILTERED, None)


def test_a_trace_that_names_no_app_is_matched_as_default():
    assert plan(make_trace(app=""), app="default").state is EvaluationState.SCORED


def test_a_judge_is_asked_for_its_own_scorers_alone():
    judge = FakeJudge("gpt")
    scorers = build_scorers({"context_position": None})
    assignment = Assignment(judge=judge, scorers=scorers)
    (planned,) = plan_evaluations(
        TRACE, assignments={"gpt": assignment}, sample_rates=FixedRates({"gpt": 1.0}), may_raise=False
    )
    assert [outcome.scorer for outcome in planned.result.outcomes] == ["context_position"]
    assert judge.asked[0][1] == scorers[0].needs
