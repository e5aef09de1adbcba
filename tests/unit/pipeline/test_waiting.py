from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.traces import NOW, make_trace
from ragsonde.pipeline.waiting import choose_next_attempt, has_waited_too_long
from ragsonde_schemas.errors import JudgePausedError, JudgeUnavailableError
from ragsonde_schemas.evaluation import ClaimedEvaluation, EvaluationKey


def claimed(waiting=timedelta(0), trace_id="t"):
    trace = make_trace(trace_id=trace_id)
    return ClaimedEvaluation(
        key=EvaluationKey(trace=trace.key, revision=1, judge="gpt", fingerprint="ab"),
        trace=trace,
        unfinished_starts=1,
        attempts=0,
        waiting_since=NOW - waiting,
        starts=1,
    )


def delay(waiting, outage, trace_id="t"):
    return (choose_next_attempt(claimed(waiting, trace_id), outage, now=NOW) - NOW).total_seconds()


OUTAGE = JudgeUnavailableError("gpt", "503")


@given(st.floats(0, 86_400))
def test_the_delay_is_half_the_age_between_two_seconds_and_five_minutes_with_a_fifth_of_jitter(age):
    plain = min(max(age / 2, 2.0), 300.0)
    assert plain * 0.8 - 1e-6 <= delay(timedelta(seconds=age), OUTAGE) <= plain * 1.2 + 1e-6


def test_an_outage_of_an_hour_costs_a_few_dozen_attempts_and_no_more():
    age, attempts = 0.0, 0
    while age < 3600:
        age += delay(timedelta(seconds=age), OUTAGE)
        attempts += 1
    assert 15 < attempts < 40


def test_a_backlog_does_not_come_back_in_one_instant():
    delays = {delay(timedelta(seconds=100), OUTAGE, trace_id=f"t{number}") for number in range(50)}
    assert len(delays) == 50
    assert max(delays) - min(delays) > 10


def test_those_who_are_all_told_the_same_time_do_not_come_in_one_instant_either():
    outage = JudgeUnavailableError("gpt", "its circuit is open", retry_after_seconds=200.0)
    delays = {delay(timedelta(0), outage, trace_id=f"t{number}") for number in range(50)}
    assert len(delays) == 50
    assert 200 <= min(delays) < 210
    assert 240 < max(delays) <= 250


def test_who_is_told_when_to_come_waits_for_a_fifth_of_its_age_at_least():
    outage = JudgeUnavailableError("gpt", "429", retry_after_seconds=1.0)
    assert 1.6 <= delay(timedelta(0), outage) <= 2.4
    assert 16 <= delay(timedelta(seconds=100), outage) <= 24
    assert 240 <= delay(timedelta(hours=2), outage) <= 360


@pytest.mark.parametrize("retry_after", [30.0, 500.0])
def test_retry_after_is_a_lower_bound(retry_after):
    outage = JudgeUnavailableError("gpt", "429", retry_after_seconds=retry_after)
    assert delay(timedelta(0), outage) >= retry_after


def test_an_absurd_retry_after_does_not_wait_for_more_than_a_day():
    outage = JudgeUnavailableError("gpt", "429", retry_after_seconds=1e9)
    assert delay(timedelta(0), outage) == timedelta(hours=24).total_seconds()


def test_a_paused_judge_is_probed_about_once_a_minute():
    assert 48 <= delay(timedelta(0), JudgePausedError("gpt", "401")) <= 72


def test_a_clock_that_jumped_back_does_not_make_the_delay_negative():
    assert delay(timedelta(seconds=-500), OUTAGE) >= 1.6


def test_after_a_day_the_wait_is_over():
    assert not has_waited_too_long(claimed(timedelta(hours=23, minutes=59)), now=NOW)
    assert has_waited_too_long(claimed(timedelta(hours=24)), now=NOW)
