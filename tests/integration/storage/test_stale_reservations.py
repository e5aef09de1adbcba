"""What a dead worker holds of a budget returns, whatever became of its evaluation."""

from __future__ import annotations

import pytest

from fakes.clock import NOON
from fakes.evaluations import make_trace, plan_paid
from ragsonde.exposition.registry import Series
from ragsonde.exposition.series import MONITOR_SERIES
from ragsonde.monitor.judge_jobs import JudgeChores
from ragsonde.storage.late_changes import withdraw_record
from ragsonde_schemas.evaluation import EvaluationState
from ragsonde_schemas.spending import Period, Reservation, WorstCase
from services.budget_desk import Desk, call, per_day

pytestmark = pytest.mark.integration


def _supersede(desk, _):
    newer = make_trace("t-1", answer="another", occurred_at=NOON)
    assert desk.stores.traces.admit(newer, (plan_paid(),)).kind == "revision"


def _withdraw(desk, claimed):
    assert withdraw_record(desk.engine, claimed.key.trace, now=desk.clock.now()) == 0


@pytest.mark.parametrize("end", [_supersede, _withdraw])
def test_the_reservation_of_a_dead_worker_returns_when_its_evaluation_counts_no_more(engine, end):
    desk = Desk(engine, per_day(calls=4))
    dead = desk.claim()
    desk.reserve(dead)
    end(desk, dead)
    assert desk.sweep() == 0, "it may still live"
    desk.clock.advance(seconds=200)
    assert desk.sweep() == 1
    assert desk.reserved() == desk.reserved(Period.HOUR) == [(0, 0, pytest.approx(0))]
    assert desk.sweep() == 0
    assert desk.finish(dead, call()) is None, "too late"
    assert desk.spent() == [(1, 1_000, pytest.approx(0.01), 0)], "but paid"
    assert desk.reserve(desk.claim(2)) is Reservation.HELD


def test_a_superseded_run_that_lives_settles_itself_and_leaves_nothing_to_release(engine):
    desk = Desk(engine, per_day(calls=4))
    claimed = desk.claim()
    desk.reserve(claimed)
    _supersede(desk, claimed)
    assert desk.finish(claimed, call()) is EvaluationState.SUPERSEDED
    desk.clock.advance(seconds=200)
    assert desk.sweep() == 0
    assert desk.spent() == [(1, 1_000, pytest.approx(0.01), 0)]


def test_a_running_evaluation_is_left_to_who_claims_it(engine):
    desk = Desk(engine, per_day(calls=4))
    desk.reserve(desk.claim())
    desk.clock.advance(seconds=200)
    assert desk.sweep() == 0
    assert desk.reserved()[0][0] == 3


def test_so_many_are_released_at_once_and_the_oldest_first(engine):
    desk = Desk(engine, per_day(calls=100), now=NOON)
    claims = []
    for number in range(3):
        claims.append(desk.claim(number))
        desk.reserve(claims[-1], WorstCase(calls=number + 1, tokens=1, cost_usd=None))
        withdraw_record(engine, claims[-1].key.trace, now=desk.clock.now())
        desk.clock.advance(seconds=1)
    desk.clock.advance(seconds=200)
    assert desk.sweep(limit=2) == 2
    assert desk.reserved()[0][0] == 3, "the newest holds three"
    assert desk.sweep(limit=2) == 1


def test_the_monitor_releases_them_each_minute(engine, caplog):
    desk = Desk(engine, per_day(calls=4))
    dead = desk.claim()
    desk.reserve(dead)
    withdraw_record(engine, dead.key.trace, now=desk.clock.now())
    chores = JudgeChores(
        engine=engine, judges=(), fingerprints={}, series=Series(MONITOR_SERIES), clock=desk.clock
    )
    (job,) = [job for job in chores.build_jobs() if job.name == "reservations"]
    assert (job.interval_seconds, job.is_exclusive) == (60, True)
    desk.clock.advance(seconds=200)
    job.run()
    job.run()
    assert desk.reserved() == [(0, 0, pytest.approx(0))]
    assert [record.message for record in caplog.records] == ["reservations_released"]
