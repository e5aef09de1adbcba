"""How long the monitor's jobs rest, and for how long they vouch for what they show."""

from __future__ import annotations

import pytest

from ragsonde.exposition.registry import Series
from ragsonde.exposition.series import MONITOR_SERIES
from ragsonde.monitor.ledger_jobs import LedgerChores
from ragsonde.monitor.pace import Ending, Pace
from ragsonde.monitor.running_looks import RunningLooks

D, F, G = Ending.DONE, Ending.FAILED, Ending.GIVEN_UP


def make_pace(interval=60.0, *, deadline=60.0):
    return Pace(interval_seconds=interval, retry_seconds=min(interval, 15.0), deadline_seconds=deadline)


@pytest.mark.parametrize(
    ("interval", "took", "pause"),
    [
        (60, 1, 60),
        (60, 15, 135),
        (60, 30, 180),  # three intervals
        (15, 1, 15),
        (15, 30, 45),
        (120, 59, 300),  # five minutes
        (300, 59, 300),
    ],
)
def test_a_look_rests_nine_times_as_long_as_it_took_within_three_intervals_and_five_minutes(
    interval, took, pause
):
    assert make_pace(interval).note(D, took_seconds=took) == pause


@pytest.mark.parametrize("frozen", [20, 59, 87, 132])
def test_a_run_that_stood_still_does_not_slow_those_after_it(frozen):
    pace = make_pace()
    assert [pace.note(D, took_seconds=1) for _ in range(2)] == [60, 60]
    assert pace.note(D, took_seconds=frozen) == 60
    assert pace.note(D, took_seconds=1) == 60


def test_work_that_has_grown_is_known_after_three_runs():
    pace = make_pace()
    assert [pace.note(D, took_seconds=seconds) for seconds in (1, 10, 10, 10)] == [60, 60, 60, 90]


@pytest.mark.parametrize(("ending", "took"), [(G, 30), (D, 61)])
def test_what_is_given_up_or_late_again_and_again_rests_as_long_as_anything_may(ending, took):
    pace = make_pace()
    assert [pace.note(ending, took_seconds=took) for _ in range(3)] == [60, 180, 180]
    assert [pace.note(D, took_seconds=1), pace.note(ending, took_seconds=took)] == [60, 60]


def test_an_outage_is_no_measure_and_is_tried_again_soon():
    pace = make_pace()
    assert [pace.note(F, took_seconds=seconds) for seconds in (0, 30, 200)] == [15, 15, 15]
    assert pace.note(D, took_seconds=1) == 60


def test_a_job_that_changes_things_keeps_its_interval():
    pace = make_pace(deadline=None)
    assert [pace.note(ending, took_seconds=500) for ending in Ending] == [60, 60, 15, 15]


def test_what_is_shown_is_gone_when_the_last_success_is_three_runs_old():
    pace = make_pace()
    pause = pace.note(D, took_seconds=2)
    assert pace.choose_shown_seconds(pause_seconds=pause) == 186
    pause = pace.note(D, took_seconds=132)  # two minutes of it a standstill
    assert pace.choose_shown_seconds(pause_seconds=pause) == 186


def test_the_check_of_the_ledger_keeps_to_its_five_minutes_and_has_the_time_that_it_takes():
    chores = LedgerChores(engine=None, series=Series(MONITOR_SERIES), clock=None, kept_days=90)
    (job,) = chores.build_jobs()
    pace = make_pace(job.interval_seconds, deadline=job.deadline_seconds)
    assert [pace.note(D, took_seconds=100) for _ in range(4)] == [300] * 4


def test_a_look_is_late_once_a_deadline_until_it_ends():
    times = iter([0.0, 0.0, 59.0, 60.0, 61.0, 119.0, 120.5, 900.0])
    looks = RunningLooks(lambda: next(times))
    looks.begin("gathered", deadline_seconds=60)
    looks.begin("invariants", deadline_seconds=600)
    assert [looks.list_late() for _ in range(5)] == [[], ["gathered"], [], [], ["gathered"]]
    looks.end("gathered")
    assert looks.list_late() == ["invariants"]
