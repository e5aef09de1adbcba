"""An evaluation of a backfill: judged like any other, told apart, never shed for the judge's budget."""

from dataclasses import replace
from datetime import timedelta

import pytest

from fakes.budgets import FakeBudgets
from fakes.clock import NOON
from fakes.judge import FakeJudge
from fakes.stages import make_stages, states
from fakes.traces import make_trace
from ragsonde.pipeline.admitting import admit
from ragsonde.pipeline.asking import BUSY_DELAY, choose_next_turn
from ragsonde.pipeline.evaluate_trace import evaluate
from ragsonde_schemas.errors import Cause, JudgeUnavailableError
from ragsonde_schemas.evaluation import EvaluationState
from ragsonde_schemas.spending import Reservation

BACKFILL = 7


def start(*answers, free=False, **judge):
    judge = FakeJudge("gpt", is_free=free, **judge)
    stages = make_stages(judge, budgets=FakeBudgets(*answers))
    admission = admit(make_trace(), replace(stages, backfill_id=BACKFILL))
    (key,) = stages.traces.evaluations
    return judge, stages, admission, key


def test_of_a_file_what_waits_is_left_to_its_backfill():
    _, stages, admission, key = start()
    assert (admission.kind, admission.pending) == ("new", ())
    stages.clock.advance(3600)
    assert stages.traces.take_due(limit=10) == []
    assert stages.traces.claim(key).backfill_id == BACKFILL


def test_its_result_is_told_apart():
    _, stages, _, key = start()
    evaluate(key, stages)
    assert states(stages) == {"gpt": "scored"}
    ((trace, told, result),) = stages.sink.of("on_backfilled")
    assert (trace.trace_id, told, result.state) == (key.trace.trace_id, key, EvaluationState.SCORED)
    assert stages.sink.of("on_finished") == []


def test_an_outage_is_waited_for_and_not_told_as_live():
    _, stages, _, key = start(troubles=[JudgeUnavailableError("gpt", "503")])
    evaluate(key, stages)
    assert states(stages) == {"gpt": "waiting"}
    assert stages.sink.of("on_postponed") == []


@pytest.mark.parametrize("reservation", [Reservation.BUSY, Reservation.PACED, Reservation.SPENT])
def test_the_judges_budget_never_sheds_it(reservation):
    judge, stages, _, key = start(reservation)
    evaluate(key, stages)
    stored = stages.traces.evaluations[key]
    assert (stored.state, stored.cause) == (EvaluationState.WAITING, Cause.BUDGET_SPENT)
    assert judge.asked == []


def test_its_backfills_own_means_do():
    judge, stages, _, key = start(Reservation.CAPPED)
    evaluate(key, stages)
    assert states(stages) == {"gpt": "shed"}
    assert (judge.asked, stages.sink.of("on_shed")) == ([], [])


def test_it_asks_again_soon_for_what_others_hold_and_else_in_the_next_hour():
    at = NOON + timedelta(minutes=20)
    assert choose_next_turn(Reservation.BUSY, now=at) == at + BUSY_DELAY
    assert choose_next_turn(Reservation.PACED, now=at) == NOON + timedelta(hours=1)
    assert choose_next_turn(Reservation.SPENT, now=at) == NOON + timedelta(hours=1)
    assert choose_next_turn(Reservation.CAPPED, now=at) is None


def test_a_worker_with_other_settings_leaves_it_to_the_next():
    judge, stages, _, key = start()
    judge.fingerprint = "0" * 16
    evaluate(key, stages)
    stored = stages.traces.evaluations[key]
    assert (stored.state, stored.cause) == (EvaluationState.WAITING, Cause.JUDGE_RETIRED)
    assert stored.next_attempt_at == NOON + timedelta(minutes=1)
