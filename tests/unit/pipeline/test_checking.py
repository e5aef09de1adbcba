"""A trace of the check set before a judge: the path of an evaluation, outside of all means."""

from __future__ import annotations

import math
from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.budgets import FakeBudgets
from fakes.check_store import FakeCheckStore
from fakes.clock import NOON
from fakes.evaluations import make_calls, make_trace
from fakes.judge import FakeJudge
from fakes.stages import make_stages
from ragsonde.pipeline.checking import check, choose_checks, measure_drift
from ragsonde_schemas.assessment import Aspect, Assessment, Fault
from ragsonde_schemas.check import Candidate, CheckKey, CheckScore
from ragsonde_schemas.errors import Cause, JudgePausedError, JudgeUnavailableError
from ragsonde_schemas.spending import Reservation

PRINT = "f" * 16
KEY = CheckKey(check_id=1, judge="fake", fingerprint=PRINT, day=date(2026, 6, 15))


def run(*troubles, budgets=None, key=KEY, unfinished_starts=1):
    judge = FakeJudge(fingerprint=PRINT, is_free=False, troubles=troubles)
    store = FakeCheckStore({key: make_trace()}, unfinished_starts=unfinished_starts)
    stages = make_stages(judge, checks=store, budgets=budgets or FakeBudgets())
    return judge, store, stages


def test_a_check_is_judged_for_all_scorers_and_no_series_of_scores_hears_of_it():
    judge, store, stages = run()
    check(KEY, stages)
    assert len(judge.asked) == 1
    assert {one.scorer for one in store.finished[KEY].outcomes} == {one.instance for one in stages.scorers}
    assert store.finished[KEY].assessment is not None
    assert stages.sink.told == []


def test_its_calls_are_told_because_they_cost_money():
    calls = make_calls()
    _, store, stages = run(Assessment(calls=calls))
    check(KEY, stages)
    ((key, told),) = [arguments for name, arguments in stages.sink.told if name == "on_calls"]
    assert (key.judge, key.fingerprint, told) == ("fake", PRINT, calls)
    assert store.finished[KEY].assessment.calls == calls


def test_a_check_that_is_done_is_not_judged_again():
    judge, _, stages = run()
    check(KEY, stages)
    check(KEY, stages)
    assert len(judge.asked) == 1


@pytest.mark.parametrize(
    ("outage", "seconds"),
    [
        (JudgeUnavailableError("fake", "503"), 120),
        (JudgeUnavailableError("fake", "429", retry_after_seconds=900), 900),
        (JudgePausedError("fake", "401"), 120),
    ],
)
def test_an_outage_leaves_it_undone_for_later_the_same_day(outage, seconds):
    _, store, stages = run(outage)
    check(KEY, stages)
    assert store.finished == {}
    assert store.postponed == [(NOON + timedelta(seconds=seconds), ())]


def test_a_judge_that_was_too_slow_is_asked_again_and_its_calls_are_kept():
    fault = Fault(cause=Cause.DEADLINE_EXCEEDED, message="no time left")
    calls = make_calls()
    _, store, stages = run(Assessment(faults=dict.fromkeys(Aspect, fault), calls=calls))
    check(KEY, stages)
    assert store.finished == {}
    assert store.postponed == [(NOON + timedelta(seconds=120), calls)]
    assert [name for name, _ in stages.sink.told] == ["on_calls"]


@pytest.mark.parametrize("answer", [Reservation.BUSY, Reservation.PACED, Reservation.SPENT])
def test_without_room_in_the_budget_nothing_is_asked(answer):
    judge, store, stages = run(budgets=FakeBudgets(answer))
    check(KEY, stages)
    assert (judge.asked, store.finished, len(store.postponed)) == ([], {}, 1)


def test_a_judge_that_is_configured_otherwise_leaves_it_to_other_workers():
    other = KEY.model_copy(update={"fingerprint": "0" * 16})
    judge, store, stages = run(key=other)
    check(other, stages)
    assert (judge.asked, store.finished, len(store.postponed)) == ([], {}, 1)


def test_a_check_that_twice_took_the_process_with_it_ends_as_an_error():
    judge, store, stages = run(unfinished_starts=3)
    check(KEY, stages)
    assert judge.asked == []
    assert store.finished[KEY].cause is Cause.REPEATED_CRASH


def test_a_fault_of_ours_is_stored_and_raised():
    _, store, stages = run(RuntimeError("ours"))
    with pytest.raises(RuntimeError, match="ours"):
        check(KEY, stages)
    assert store.finished[KEY].cause is Cause.INTERNAL_ERROR


def make_candidate(number, mean_raw, *, content=None):
    return Candidate(
        row=None,
        trace_id=f"t-{number}",
        content_hash=content or f"c-{number}",
        mean_raw=mean_raw,
        place=number,
    )


def test_low_middle_and_high_scores_and_the_newest_take_turns():
    many = [make_candidate(number, 0.95) for number in range(100)]
    few = [make_candidate(200 + number, raw) for number, raw in enumerate((0.1, 0.2, 0.5))]
    chosen = choose_checks([*many, *few], count=12)
    assert {one.trace_id for one in few} <= {one.trace_id for one in chosen}
    assert "t-0" in {one.trace_id for one in chosen}  # the newest
    assert len(chosen) == 12


@given(
    st.lists(st.tuples(st.floats(0, 1), st.integers(0, 30)), max_size=60),
    st.integers(0, 40),
    st.randoms(use_true_random=False),
)
def test_a_choice_is_the_same_in_whatever_order_and_holds_each_content_once(drawn, count, random):
    candidates = [
        make_candidate(number, raw, content=f"c-{content}") for number, (raw, content) in enumerate(drawn)
    ]
    chosen = choose_checks(candidates, count=count)
    random.shuffle(candidates)
    assert choose_checks(candidates, count=count) == chosen
    contents = [one.content_hash for one in chosen]
    assert len(set(contents)) == len(contents) == min(count, len({one.content_hash for one in candidates}))


def make_score(check_id, first, newest, *, days=1, **changes):
    day = date(2026, 6, 1)
    fields = {
        "judge": "gpt",
        "fingerprint": PRINT,
        "scorer": "context_relevance",
        "version": "1",
        "first_day": day,
        "newest_day": day + timedelta(days=days),
    }
    return CheckScore(check_id=check_id, first=first, newest=newest, **(fields | changes))


def test_the_drift_is_the_mean_paired_difference_with_its_standard_error():
    # differences -.1, -.2, -.3: mean -.2, deviation .1 (n - 1), divided by the root of 3
    (drift,) = measure_drift([make_score(1, 0.9, 0.8), make_score(2, 0.8, 0.6), make_score(3, 0.7, 0.4)])
    assert drift.n == 3
    assert drift.difference == pytest.approx(-0.2)
    assert drift.stderr == pytest.approx(0.1 / math.sqrt(3))
    assert (drift.reference, drift.now) == (pytest.approx(0.8), pytest.approx(0.6))


def test_first_numbers_alone_are_no_drift_of_zero():
    assert measure_drift([make_score(1, 0.9, 0.9, days=0)]) == ()


def test_one_trace_has_no_standard_error():
    (drift,) = measure_drift([make_score(1, 0.9, 0.8)])
    assert drift.stderr is None


def test_versions_of_a_scorer_are_never_mixed():
    drifts = measure_drift([make_score(1, 0.9, 0.8), make_score(2, 0.9, 0.1, version="2")])
    assert [(one.version, one.n) for one in drifts] == [("1", 1), ("2", 1)]
