"""The rates of an hour: written once by the monitor, in force for the workers."""

from __future__ import annotations

from datetime import timedelta

import pytest
from sqlalchemy import select

from fakes.clock import NOON, FakeClock
from fakes.evaluations import FREE, FREE_PRINT, PAID, PAID_PRINT, make_trace, plan_free, plan_paid
from ragsonde.exposition.birth import KnownLabels
from ragsonde.exposition.registry import Series
from ragsonde.exposition.series import MONITOR_SERIES
from ragsonde.judging.options import BudgetOptions, JudgeOptions
from ragsonde.monitor.judge_jobs import JudgeChores
from ragsonde.storage.engine import build_engine
from ragsonde.storage.sample_rates import PostgresSampleRates, read_profile
from ragsonde.storage.tables import JudgeSpendRow, SampleRateRow
from ragsonde_schemas.evaluation import EvaluationState
from services.stores import PostgresStores

pytestmark = pytest.mark.integration

HOUR = timedelta(hours=1)
CONFIGURED = {FREE: 1.0, PAID: 0.05}
MIDNIGHT = NOON.replace(hour=0)
PAID_LABEL = f"{PAID}@{PAID_PRINT[:6]}"


class Deployment:
    """Traces as they were stored, a monitor and a worker on one clock that stands at noon."""

    def __init__(self, engine, **options) -> None:
        self.engine = engine
        self.clock = FakeClock(NOON - HOUR / 2)
        self.options = options
        self.stores = PostgresStores(self.clock, engine)
        self.start(sample=CONFIGURED[PAID])

    def start(self, *, sample) -> None:
        """A monitor and a worker under settings with this `sample` of the paid judge."""
        self.chores = JudgeChores(
            engine=self.engine,
            judges=(
                JudgeOptions(name=FREE, kind="lexical"),
                JudgeOptions(name=PAID, kind="litellm", model="m", sample=sample, **self.options),
            ),
            fingerprints={FREE: FREE_PRINT, PAID: PAID_PRINT},
            series=Series(MONITOR_SERIES, known=KnownLabels()),
            clock=self.clock,
        )
        self.rates = PostgresSampleRates(self.engine, clock=self.clock, configured={FREE: 1.0, PAID: sample})

    def store(self, *apps, state=EvaluationState.SAMPLED_OUT) -> None:
        for number, app in enumerate(apps):
            trace = make_trace(f"{app}-{number}", app=app, occurred_at=NOON)
            self.stores.traces.admit(trace, (plan_free(), plan_paid(state)))

    def set_rates(self, *, at=NOON) -> None:
        self.clock.jump((at - self.clock.now()).total_seconds())
        self.chores.set_rates()

    def spend(self, period, *, starts_at, **amounts) -> None:
        with self.engine.begin() as connection:
            connection.execute(
                JudgeSpendRow.__table__.insert().values(
                    judge=PAID, period=period, starts_at=starts_at, **amounts
                )
            )

    def show(self):
        """The series after the monitor has looked, without those of the process."""
        self.chores.show_budgets()
        page = self.chores.series.render().body.decode()
        return [line for line in page.splitlines() if line.startswith("ragsonde_judge_")]

    def rows(self):
        row = SampleRateRow
        with self.engine.connect() as connection:
            query = select(row.app, row.judge, row.rate, row.cause, row.traces).order_by(row.app, row.judge)
            return [tuple(found) for found in connection.execute(query)]


def test_before_the_monitor_has_written_any_the_configured_rates_hold(engine):
    rates = Deployment(engine).rates
    assert (rates.find("shop", PAID), rates.find("", FREE)) == (0.05, 1.0)


def test_a_floor_raises_the_rate_of_the_app_that_had_few_traces(engine):
    deployment = Deployment(engine, min_per_hour=2)
    deployment.store(*["shop"] * 100, *["desk"] * 4)
    deployment.set_rates()
    assert deployment.rates.find("shop", PAID) == 0.05
    assert deployment.rates.find("desk", PAID) == 0.5
    assert deployment.rates.find("desk", FREE) == 1.0
    assert deployment.rates.find("other", PAID) == 0.05
    assert deployment.rows() == [
        ("desk", PAID, 0.5, "floor", 4),
        ("desk", FREE, 1.0, "configured", 4),
        ("shop", PAID, 0.05, "configured", 100),
        ("shop", FREE, 1.0, "configured", 100),
    ]


def test_within_an_hour_a_rate_does_not_change(engine):
    deployment = Deployment(engine, min_per_hour=2)
    deployment.store("desk")
    deployment.set_rates()
    deployment.clock.jump(60)
    deployment.store(*[f"desk-{number}" for number in range(3)])
    deployment.chores.set_rates()
    assert [row[0] for row in deployment.rows()] == ["desk", "desk"]


def test_a_rate_that_the_monitor_did_not_renew_ends_with_the_next_hour(engine):
    deployment = Deployment(engine, min_per_hour=2)
    deployment.store("desk")
    deployment.set_rates()
    deployment.clock.jump(119 * 60)
    assert deployment.rates.find("desk", PAID) == 1.0
    deployment.clock.jump(60)
    assert deployment.rates.find("desk", PAID) == 0.05


@pytest.mark.parametrize("state", [EvaluationState.FILTERED, EvaluationState.NOT_EVALUABLE])
def test_traces_that_the_judge_never_looks_at_do_not_count(engine, state):
    deployment = Deployment(engine, min_per_hour=2)
    deployment.store("desk", state=state)
    deployment.set_rates()
    assert [row[1] for row in deployment.rows()] == [FREE]


def test_a_budget_that_would_not_last_until_midnight_lowers_the_rate(engine):
    deployment = Deployment(engine, budget=BudgetOptions(calls_per_day=100))
    deployment.store(*["shop"] * 100)
    deployment.spend("day", starts_at=MIDNIGHT, runs=70, spent_calls=70)
    deployment.set_rates()
    # 100 traces an hour for 12 hours at .05 are 60 calls, and 30 are left
    assert deployment.rates.find("shop", PAID) == pytest.approx(0.025)
    assert ("shop", PAID, pytest.approx(0.025), "budget", 100) in deployment.rows()


@pytest.mark.parametrize(("calls_left", "rate"), [(300, 0.25), (1200, 0.5)])
def test_a_budget_lowers_what_a_floor_has_raised(engine, calls_left, rate):
    deployment = Deployment(engine, min_per_hour=50, budget=BudgetOptions(calls_per_day=70 + calls_left))
    deployment.store(*["shop"] * 100)
    deployment.spend("day", starts_at=MIDNIGHT, runs=70, spent_calls=70)
    deployment.set_rates()
    # a floor of 50 of 100 traces an hour is 600 calls in the 12 hours to come
    assert deployment.rates.find("shop", PAID) == pytest.approx(rate)


def test_a_limit_by_the_hour_lowers_the_rate_of_the_hour(engine):
    deployment = Deployment(engine, budget=BudgetOptions(calls_per_hour=2))
    deployment.store(*["shop"] * 80)
    deployment.spend("day", starts_at=MIDNIGHT, runs=10, spent_calls=10)
    deployment.set_rates()
    # 80 traces at .05 are 4 calls in this hour, and it can pay 2
    assert deployment.rates.find("shop", PAID) == pytest.approx(0.025)


def test_after_midnight_an_evaluation_costs_what_it_did_yesterday(engine):
    deployment = Deployment(engine, budget=BudgetOptions(calls_per_hour=2))
    deployment.clock.jump(12 * 3600)
    deployment.store(*["shop"] * 80)
    deployment.spend("day", starts_at=MIDNIGHT, runs=10, spent_calls=10)
    deployment.set_rates(at=MIDNIGHT + 24 * HOUR)
    assert deployment.rates.find("shop", PAID) == pytest.approx(0.025)


def test_after_a_quiet_hour_a_floor_counts_on_the_last_one_with_traces(engine):
    deployment = Deployment(engine, min_per_hour=2)
    deployment.store(*["desk"] * 4)
    for hour in range(24):
        deployment.set_rates(at=NOON + hour * HOUR)
        assert deployment.rates.find("desk", PAID) == 0.5
    assert ("desk", PAID, 0.5, "floor", 0) in deployment.rows()
    deployment.set_rates(at=NOON + 24 * HOUR)
    deployment.clock.jump(2 * 3600)
    assert deployment.rates.find("desk", PAID) == 0.05


def test_a_changed_sample_holds_at_once_and_is_written_for_the_same_hour(engine):
    deployment = Deployment(engine, min_per_hour=2)
    deployment.store(*["shop"] * 100, *["desk"] * 4)
    deployment.set_rates()
    deployment.start(sample=0.2)
    assert deployment.rates.find("shop", PAID) == 0.2
    assert deployment.rates.find("desk", PAID) == 0.2
    assert f'ragsonde_judge_sample_rate{{app="shop",judge="{PAID_LABEL}"}} 0.2' in deployment.show()

    deployment.clock.jump(60)
    deployment.chores.set_rates()
    assert deployment.rates.find("shop", PAID) == 0.2
    assert deployment.rates.find("desk", PAID) == 0.5
    assert deployment.rows() == [
        ("desk", PAID, 0.5, "floor", 4),
        ("desk", FREE, 1.0, "configured", 4),
        ("shop", PAID, 0.2, "configured", 100),
        ("shop", FREE, 1.0, "configured", 100),
    ]


def test_budgets_and_rates_are_shown_as_they_stand(engine, caplog):
    deployment = Deployment(engine, min_per_hour=50, budget=BudgetOptions(calls_per_hour=10, usd_per_day=5.0))
    deployment.store(*["shop"] * 100)
    deployment.set_rates()
    deployment.spend("hour", starts_at=NOON, spent_calls=6, reserved_calls=2)
    deployment.spend("day", starts_at=MIDNIGHT, spent_calls=9, spent_usd=3.0, reserved_usd=0.9)
    lines = deployment.show()
    for name, period, value in (
        ("budget_ratio", "hour", "0.8"),
        ("budget_ratio", "day", "0.78"),
        ("budget_warning", "hour", "1.0"),
        ("budget_warning", "day", "0.0"),
    ):
        assert f'ragsonde_judge_{name}{{judge="{PAID_LABEL}",period="{period}"}} {value}' in lines
    assert f'ragsonde_judge_sample_rate{{app="shop",judge="{PAID_LABEL}"}} 0.5' in lines
    deployment.show()
    warned = [record for record in caplog.records if record.getMessage() == "budget_nearly_spent"]
    assert [(one.judge, one.period, one.spent_share) for one in warned] == [(PAID, "hour", 0.8)]


def test_each_period_is_warned_of_anew(engine, caplog):
    deployment = Deployment(engine, budget=BudgetOptions(calls_per_hour=10))
    for hour in range(3):
        deployment.spend("hour", starts_at=NOON + hour * HOUR, spent_calls=10 if hour != 1 else 7)
    deployment.clock.jump(30 * 60)
    for _ in range(6):
        deployment.show()
        deployment.clock.jump(30 * 60)
    warned = [record for record in caplog.records if record.getMessage() == "budget_nearly_spent"]
    assert len(warned) == 2


def test_rates_that_cannot_be_read_keep_no_trace_waiting():
    away = build_engine("postgresql://127.0.0.1:1/away", application_name="test")
    rates = PostgresSampleRates(away, clock=FakeClock(NOON), configured=CONFIGURED)
    assert rates.find("shop", PAID) == 0.05


def test_the_profile_of_a_week_tells_when_a_days_traces_come(engine):
    deployment = Deployment(engine)
    with engine.begin() as connection:
        for hours, traces in ((26, 10), (25, 30), (2, 20), (1, 0)):
            connection.execute(
                SampleRateRow.__table__.insert().values(
                    app="shop",
                    judge=PAID,
                    starts_at=NOON - hours * HOUR,
                    rate=0.05,
                    configured=0.05,
                    cause="configured",
                    traces=traces,
                )
            )
    assert read_profile(engine, "other", now=NOON) is None
    shares = read_profile(engine, PAID, now=deployment.clock.now())
    assert {hour: share for hour, share in enumerate(shares) if share} == {9: 0.5, 10: 0.5}
