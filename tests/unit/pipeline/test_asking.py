from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.budgets import FakeBudgets
from fakes.clock import NOON
from fakes.judge import FakeJudge
from fakes.stages import make_stages, states
from fakes.traces import make_trace
from ragsonde.pipeline.admitting import admit
from ragsonde.pipeline.asking import choose_next_asking
from ragsonde.pipeline.evaluate_trace import evaluate
from ragsonde_schemas.assessment import Assessment
from ragsonde_schemas.errors import Cause
from ragsonde_schemas.evaluation import EvaluationState
from ragsonde_schemas.spending import Reservation


def start(*answers: Reservation, judge=None):
    judge = judge or FakeJudge("gpt", is_free=False)
    budgets = FakeBudgets(*answers)
    stages = make_stages(judge, budgets=budgets)
    (key,) = admit(make_trace(), stages).pending
    return judge, budgets, stages, key


def test_an_evaluation_with_room_in_the_budget_is_judged():
    judge, budgets, stages, key = start(Reservation.HELD)
    evaluate(key, stages)
    assert states(stages) == {"gpt": "scored"}
    assert budgets.asked == [judge.estimate(make_trace(), frozenset())]


def test_one_that_finds_the_budget_spent_is_shed_and_nothing_is_asked():
    judge, _, stages, key = start(Reservation.SPENT)
    evaluate(key, stages)
    assert states(stages) == {"gpt": "shed"}
    assert judge.asked == []
    assert stages.sink.of("on_shed") == [(key, Cause.BUDGET_SPENT)]


def test_one_that_finds_what_is_left_held_by_others_waits_and_burns_no_attempt():
    judge, _, stages, key = start(Reservation.BUSY, Reservation.HELD)
    evaluate(key, stages)
    stored = stages.traces.evaluations[key]
    assert (stored.state, stored.cause, stored.attempts) == (EvaluationState.WAITING, Cause.BUDGET_SPENT, 0)
    assert judge.asked == []
    stages.clock.advance(seconds=10)
    evaluate(key, stages)
    assert states(stages) == {"gpt": "scored"}


@pytest.mark.parametrize(("minute", "seconds"), [(0, 15 * 60), (44, 15 * 60), (50, 10 * 60), (59, 60)])
def test_one_whose_hour_is_given_out_asks_again_when_the_next_begins_or_in_a_quarter(minute, seconds):
    now = NOON.replace(minute=minute)
    until = choose_next_asking(Reservation.PACED, waiting_since=now, now=now)
    assert (until - now).total_seconds() == seconds


@given(
    waited=st.timedeltas(timedelta(0), timedelta(hours=30)),
    answer=st.sampled_from([Reservation.BUSY, Reservation.PACED, Reservation.SPENT]),
)
def test_nothing_waits_for_ever_and_what_waits_asks_again_soon(waited, answer):
    longest = {Reservation.BUSY: 24, Reservation.PACED: 2, Reservation.SPENT: 0}[answer]
    now = NOON + waited
    until = choose_next_asking(answer, waiting_since=NOON, now=now)
    if waited >= timedelta(hours=longest):
        assert until is None
    else:
        assert now < until <= now + timedelta(minutes=15)


def test_one_that_waited_two_hours_for_its_hour_is_shed():
    judge, _, stages, key = start(*[Reservation.PACED] * 9)
    for _ in range(8):
        evaluate(key, stages)
        assert states(stages) == {"gpt": "waiting"}
        stages.clock.advance(seconds=15 * 60)
    evaluate(key, stages)
    assert (states(stages), judge.asked) == ({"gpt": "shed"}, [])
    assert stages.sink.of("on_shed") == [(key, Cause.BUDGET_SPENT)]


def test_verdicts_given_earlier_for_the_same_content_are_taken_and_reserve_nothing():
    judge, budgets, stages, key = start()
    needs = frozenset().union(*(scorer.needs | scorer.optional for scorer in stages.scorers))
    stages.traces.kept["f" * 16, make_trace().content_hash] = FakeJudge().assess(make_trace(), needs)
    evaluate(key, stages)
    result = stages.traces.evaluations[key].result
    assert (judge.asked, budgets.asked) == ([], [])
    assert (result.state, result.assessment.is_cached, result.calls) == (EvaluationState.SCORED, True, ())
    assert stages.sink.of("on_cache_read") == [(key, True)]


@pytest.mark.parametrize("kept", [Assessment(), Assessment(missing=())])
def test_verdicts_that_lack_an_aspect_asked_for_now_are_not_enough(kept):
    judge, _, stages, key = start(Reservation.HELD)
    stages.traces.kept["f" * 16, make_trace().content_hash] = kept
    evaluate(key, stages)
    assert len(judge.asked) == 1
    assert stages.sink.of("on_cache_read") == [(key, False)]


def test_verdicts_about_a_part_of_the_trace_are_not_enough():
    judge, _, stages, key = start(Reservation.HELD)
    needs = frozenset().union(*(scorer.needs | scorer.optional for scorer in stages.scorers))
    whole = FakeJudge().assess(make_trace(), needs)
    stages.traces.kept["f" * 16, make_trace().content_hash] = whole.model_copy(update={"truncated": True})
    evaluate(key, stages)
    assert len(judge.asked) == 1
    assert stages.sink.of("on_cache_read") == [(key, False)]
