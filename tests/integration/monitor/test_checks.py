"""The monitor's eye on judges: epochs, the check set of a day, and the drift it shows."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import delete, func, select

from fakes.broker import ListBroker
from fakes.clock import NOON, FakeClock
from fakes.evaluations import (
    FREE,
    FREE_PRINT,
    PAID,
    PAID_PRINT,
    make_assessment,
    make_outcomes,
    make_result,
    make_trace,
    plan_free,
)
from ragsonde.exposition.birth import KnownLabels
from ragsonde.exposition.registry import Series
from ragsonde.exposition.series import MONITOR_SERIES
from ragsonde.judging.options import JudgeOptions
from ragsonde.monitor.check_jobs import CheckChores, choose_model
from ragsonde.storage.check_runs import PostgresCheckStore
from ragsonde.storage.check_traces import add_checks, drop_checks, list_candidates, list_checks
from ragsonde.storage.judge_epochs import count_answers
from ragsonde.storage.judge_states import PostgresJudgeStates
from ragsonde.storage.tables import AssessmentRow, CheckResultRow, JudgeAnswersRow, JudgeEpochRow
from ragsonde_schemas.assessment import Assessment
from ragsonde_schemas.check import CheckResult
from ragsonde_schemas.errors import BrokerLostError, Cause
from ragsonde_schemas.evaluation import EvaluationState, PlannedEvaluation
from services.stores import PostgresStores

DAY = timedelta(days=1)
LEASE = 150
FALLBACK = "ab" * 8


@pytest.mark.parametrize(
    ("answers", "before", "model"),
    [
        ({}, None, None),
        ({}, "a", "a"),
        ({"a": 1}, None, "a"),  # the first model needs no crowd
        ({"a": 3, "b": 5}, None, "b"),
        ({"b": 19}, "a", "a"),  # too few
        ({"b": 20}, "a", "b"),
        ({"a": 10, "b": 20}, "a", "b"),  # two thirds
        ({"a": 11, "b": 20}, "a", "a"),
        ({"a": 50, "b": 50}, "a", "a"),
        ({"a": 1, "b": 1}, None, "a"),  # of equals the first by name
    ],
)
def test_whose_epoch_it_is_follows_from_a_days_answers(answers, before, model):
    assert choose_model(answers, before=before) == model


@given(st.lists(st.integers(35, 65), max_size=40), st.sampled_from(["a", "b"]))
def test_two_models_that_share_the_answers_never_end_an_epoch(shares, first):
    model = first
    for share in shares:
        model = choose_model({"a": share, "b": 100 - share}, before=model)
    assert model == first


class Watch:
    """A monitor over stored traces, on a clock that stands at noon."""

    def __init__(self, engine) -> None:
        self.engine = engine
        self.clock = FakeClock()
        self.stores = PostgresStores(self.clock, engine)
        self.series = Series(MONITOR_SERIES, known=KnownLabels())
        self.broker = ListBroker()
        self.worker = PostgresCheckStore(engine, clock=self.clock, lease_seconds=LEASE)
        self._stored = 0

    def chores(self, **options) -> CheckChores:
        return CheckChores(
            engine=self.engine,
            judges=(
                JudgeOptions(name=FREE, kind="lexical"),
                JudgeOptions(name=PAID, kind="litellm", model="m", **options),
            ),
            fingerprints={FREE: FREE_PRINT, PAID: PAID_PRINT},
            paid=frozenset({PAID}),
            broker=self.broker,
            queued_for_seconds=LEASE,
            series=self.series,
            clock=self.clock,
        )

    def answer(self, model, number=20, **fields):
        for _ in range(number):
            self._stored += 1
            assessment = make_assessment().model_copy(update={"answered_model": model, **fields})
            born = PlannedEvaluation(
                judge=PAID,
                fingerprint=PAID_PRINT,
                state=EvaluationState.SCORED,
                sample_rate=1.0,
                result=make_result(assessment=assessment),
            )
            self.stores.traces.admit(make_trace(f"a-{self._stored}", answer=str(self._stored)), (born,))

    def turn(self) -> None:
        self.chores().turn_epochs()

    def epoch(self, fingerprint=PAID_PRINT):
        state = PostgresJudgeStates(self.engine, clock=self.clock).find(PAID, fingerprint)
        return state.epoch, state.answered_model

    def fill(self, *apps):
        for number, app in enumerate(apps):
            trace = make_trace(f"c-{number}", answer=f"check {number}", app=app, environment=f"{app}-live")
            self.stores.traces.admit(trace, (plan_free(),))
        for app in set(apps):
            found = list_candidates(self.engine, app=app, now=self.clock.now(), days=2)
            add_checks(self.engine, found, now=self.clock.now())

    def publish(self, **options):
        """What one run of the job publishes."""
        before = len(self.broker.published)
        self.chores(**options).publish_checks()
        return self.broker.published[before:]

    def judge(self, key, raw, *, cause=None):
        outcomes = () if cause else make_outcomes(raw)
        result = CheckResult(assessment=Assessment(answered_model="m-1"), cause=cause, outcomes=outcomes)
        assert self.worker.finish(self.worker.claim(key), result)

    def shown(self, name):
        self.chores().show_drift()
        text = self.series.render().body.decode()
        return {
            labels: float(value)
            for labels, value in re.findall(rf"^ragsonde_{name}\{{(.*)\}} (\S+)$", text, re.MULTILINE)
        }


@pytest.fixture
def watch(engine):
    return Watch(engine)


@pytest.mark.integration
def test_the_first_model_is_epoch_1(watch):
    watch.answer("m-1", 1)
    watch.turn()
    assert watch.epoch() == (1, "m-1")


@pytest.mark.integration
def test_another_model_opens_the_next_epoch_once_it_has_the_day(watch, caplog):
    watch.answer("m-1", 5)
    watch.turn()
    watch.clock.jump(DAY.total_seconds() + 1)
    watch.answer("m-2", 19)
    watch.turn()
    assert watch.epoch() == (1, "m-1")
    watch.answer("m-2", 1)
    watch.turn()
    watch.turn()
    assert watch.epoch() == (2, "m-2")
    began = [record for record in caplog.records if record.message == "judge_epoch_began"]
    assert [(one.epoch, one.answered_model_before) for one in began if one.levelname == "WARNING"] == [
        (2, "m-1")
    ]


@pytest.mark.integration
def test_a_provider_that_goes_to_and_fro_has_two_epochs_and_no_third(watch):
    for model in ("m-1", "m-2", "m-1", "m-2", "m-1"):
        watch.answer(model)
        watch.turn()
        watch.clock.jump(DAY.total_seconds() + 1)
    assert watch.epoch() == (1, "m-1")
    with watch.engine.connect() as connection:
        rows = connection.execute(select(JudgeEpochRow.answered_model, JudgeEpochRow.epoch)).all()
    assert sorted(map(tuple, rows)) == [("m-1", 1), ("m-2", 2)]


@pytest.mark.integration
def test_cached_verdicts_are_no_answers(watch):
    watch.answer("m-1", 5)
    watch.turn()
    watch.clock.jump(DAY.total_seconds() + 1)
    watch.answer("m-2", 30, is_cached=True)
    watch.turn()
    assert watch.epoch() == (1, "m-1")


@pytest.mark.integration
def test_a_fallback_has_epochs_of_its_own(watch):
    watch.answer("m-1")
    watch.answer("f-1", answered_fingerprint=FALLBACK)
    watch.turn()
    assert (watch.epoch(), watch.epoch(FALLBACK)) == ((1, "m-1"), (1, "f-1"))


@pytest.mark.integration
def test_a_pause_of_the_judge_outlives_the_turn(watch):
    states = PostgresJudgeStates(watch.engine, clock=watch.clock)
    states.pause(PAID, PAID_PRINT, message="401")
    watch.answer("m-1")
    watch.turn()
    assert states.find(PAID, PAID_PRINT).paused_until is not None


@pytest.mark.integration
def test_each_trace_of_the_set_is_published_once_for_each_paid_judge(watch):
    watch.fill("shop", "shop", "help")
    keys = watch.publish()
    assert {(key.judge, key.fingerprint, key.day) for key in keys} == {(PAID, PAID_PRINT, NOON.date())}
    assert len({key.check_id for key in keys}) == 3
    assert watch.publish() == []


@pytest.mark.integration
def test_a_judge_sees_only_traces_that_it_would_judge(watch):
    watch.fill("shop", "help")
    keys = watch.publish(match={"environment": "help-live"})
    names = {one.id: one.app for one in list_checks(watch.engine)}
    assert [names[key.check_id] for key in keys] == ["help"]


@pytest.mark.integration
def test_what_an_outage_left_is_published_again_the_same_day(watch):
    watch.fill("shop")
    (key,) = watch.publish()
    watch.worker.postpone(watch.worker.claim(key), until=watch.clock.now() + timedelta(minutes=5))
    assert watch.publish() == []
    watch.clock.advance(300)
    assert watch.publish() == [key]


@pytest.mark.integration
def test_a_broker_that_went_away_costs_the_time_in_the_queue_and_nothing_else(watch):
    watch.fill("shop")
    watch.broker.refuses_publishing = True
    with pytest.raises(BrokerLostError):
        watch.publish()
    watch.broker.refuses_publishing = False
    watch.clock.advance(LEASE)
    assert len(watch.publish()) == 1


@pytest.mark.integration
def test_the_drift_is_shown_with_its_error_and_age(watch):
    watch.fill("shop", "shop")
    for first, second in ((0.9, 0.9), (0.8, 0.6)):
        keys = sorted(watch.publish(), key=lambda key: key.check_id)
        for key, raw in zip(keys, (first, second), strict=True):
            watch.judge(key, raw)
        watch.clock.jump(DAY.total_seconds())
    watch.clock.jump(-DAY.total_seconds() + 60)
    labels = 'judge="gpt@fedcba",scorer="context_precision:answer"'
    # differences -.1 and -.3
    assert watch.shown("judge_drift") == {labels: pytest.approx(-0.2)}
    assert watch.shown("judge_drift_stderr") == {labels: pytest.approx(0.1)}
    assert watch.shown("judge_check_age_seconds") == {'judge="gpt@fedcba"': 60.0}


@pytest.mark.integration
def test_after_one_day_there_is_no_drift_and_no_zero(watch):
    watch.fill("shop")
    (key,) = watch.publish()
    watch.judge(key, 0.9)
    assert watch.shown("judge_drift") == {}
    assert watch.shown("judge_check_age_seconds") == {'judge="gpt@fedcba"': 0.0}


@pytest.mark.integration
def test_an_error_is_no_score_of_the_drift(watch):
    watch.fill("shop")
    for raw in (0.9, None):
        (key,) = watch.publish()
        watch.judge(key, raw or 0.0, cause=None if raw else Cause.INVALID_REPLY)
        watch.clock.jump(DAY.total_seconds())
    assert watch.shown("judge_drift") == {}


@pytest.mark.integration
def test_an_old_drift_is_not_shown_as_todays(watch):
    watch.fill("shop")
    for raw in (0.9, 0.5):
        (key,) = watch.publish()
        watch.judge(key, raw)
        watch.clock.jump(DAY.total_seconds())
    assert watch.shown("judge_drift")
    watch.clock.jump(2 * DAY.total_seconds())
    assert watch.shown("judge_drift") == {}


@pytest.mark.integration
def test_answers_are_counted_once_in_slots_of_ten_minutes(watch):
    def count():
        now = watch.clock.now()
        return [one.answers for one in count_answers(watch.engine, since=now - DAY, now=now)]

    watch.answer("m-1", 3)
    watch.clock.advance(540)
    watch.answer("m-1", 4)
    assert count() == [7], "of the slot that is not over"
    watch.clock.advance(60)
    assert count() == [7], "a slot is settled a minute after its end"
    watch.clock.advance(60)
    assert count() == [7]
    with watch.engine.begin() as connection:
        connection.execute(delete(AssessmentRow))
    assert count() == [7], "what was counted is not read again"
    watch.answer("m-1", 2)
    assert count() == [9]
    watch.clock.jump(DAY.total_seconds() - 30)
    assert count() == [2], "older than a day"
    with watch.engine.connect() as connection:
        oldest = connection.execute(select(func.min(JudgeAnswersRow.starts_at))).scalar_one()
    assert oldest >= watch.clock.now() - DAY


@pytest.mark.integration
def test_the_epoch_is_shown_for_every_judge(watch):
    watch.answer("m-1")
    watch.turn()
    watch.clock.jump(DAY.total_seconds() + 1)
    watch.answer("m-2")
    watch.turn()
    assert watch.shown("judge_model_epoch") == {
        'judge="gpt@fedcba"': 2.0,
        'judge="lexical@012345"': 1.0,
    }


@pytest.mark.integration
def test_a_dropped_set_is_opened_for_nobody(watch):
    watch.fill("shop")
    drop_checks(watch.engine, app="shop", ids=None)
    assert watch.publish() == []
    with watch.engine.connect() as connection:
        assert connection.execute(select(CheckResultRow.check_id)).all() == []


@pytest.mark.integration
def test_old_results_lose_their_scores_and_the_first_one_keeps_them(watch):
    watch.fill("shop")
    for raw in (0.8, 0.7, 0.6):
        (key,) = watch.publish()
        watch.judge(key, raw)
        watch.clock.jump(DAY.total_seconds())
    watch.clock.jump(34 * DAY.total_seconds())

    def kept():
        watch.chores().drop_old()
        row = CheckResultRow
        with watch.engine.connect() as connection:
            rows = connection.execute(
                select(row.is_reference, row.verdicts.is_(None), row.scores.is_(None), row.calls).order_by(
                    row.day
                )
            )
            return [tuple(one) for one in rows]

    assert kept() == [(True, True, False, 0), (False, True, True, 0), (False, False, False, 0)]
    (key,) = watch.publish()
    watch.judge(key, 0.5)
    assert watch.shown("judge_drift") == {
        'judge="gpt@fedcba",scorer="context_precision:answer"': pytest.approx(-0.3),
    }
    watch.clock.jump(401 * DAY.total_seconds())
    assert kept() == [(True, True, False, 0)]


@pytest.mark.integration
def test_a_first_number_by_another_version_is_a_reference_of_its_own(watch):
    watch.fill("shop")
    for version in ("1", "1", "2"):
        (key,) = watch.publish()
        outcomes = tuple(one.model_copy(update={"version": version}) for one in make_outcomes(0.5))
        result = CheckResult(assessment=Assessment(answered_model="m-1"), cause=None, outcomes=outcomes)
        assert watch.worker.finish(watch.worker.claim(key), result)
        watch.clock.jump(DAY.total_seconds())
    with watch.engine.connect() as connection:
        rows = connection.execute(select(CheckResultRow.is_reference).order_by(CheckResultRow.day))
        assert list(rows.scalars()) == [True, False, True]
