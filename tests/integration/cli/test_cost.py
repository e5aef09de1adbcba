"""`ragsonde cost` over a real Postgres."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest

from fakes.clock import FakeClock
from fakes.evaluations import (
    FREE,
    PAID,
    make_assessment,
    make_calls,
    make_result,
    make_trace,
    plan_free,
    plan_paid,
)
from ragsonde.cli.cost import count_days, estimate_days, show_cost, tell_budget, tell_drops
from ragsonde.cli.main import run
from ragsonde.storage.costs import DayCost, sum_costs
from ragsonde.storage.tables import EvaluationRow
from ragsonde_schemas.evaluation import EvaluationState
from ragsonde_schemas.spending import Limit, Period, Spent
from services.stores import PostgresStores

pytestmark = pytest.mark.integration

S = EvaluationState
TODAY = datetime.now(UTC).replace(hour=1, minute=0, second=0, microsecond=0)


def judge(stores, number, *calls, cached=False):
    trace = make_trace(f"t-{number}", answer=str(number), occurred_at=TODAY)
    (key,) = stores.traces.admit(trace, (plan_paid(),)).pending
    assessment = make_assessment(calls=calls).model_copy(update={"is_cached": cached})
    claimed = stores.traces.claim(key)
    stores.traces.finish(claimed, make_result(assessment=assessment))


def leave_out(stores, number, state):
    trace = make_trace(f"t-{number}", answer=str(number), occurred_at=TODAY)
    stores.traces.admit(trace, (plan_paid(state),))


@pytest.fixture
def stores(own_engine):
    stores = PostgresStores(FakeClock(TODAY), own_engine)
    first, second, *_ = make_calls()
    judge(stores, 1, first.model_copy(update={"tokens_in": 1000, "tokens_out": 100, "cost_usd": 0.01}))
    judge(stores, 2, second.model_copy(update={"tokens_in": 500, "tokens_out": 50, "cost_usd": None}))
    judge(stores, 3, cached=True)
    for number, state in enumerate([S.SAMPLED_OUT, S.SAMPLED_OUT, S.SHED, S.FILTERED, S.WAITING], start=10):
        leave_out(stores, number, state)
    return stores


def test_a_day_is_told_with_what_is_known_and_what_is_not(own_engine, stores):  # noqa: ARG001
    (line,) = sum_costs(own_engine, day=TODAY.date())
    assert line == DayCost(
        day=TODAY.date(),
        judge=PAID,
        traces=8,
        looked_at=7,
        judged=3,
        cached=1,
        shed=1,
        sampled_out=2,
        calls=2,
        tokens_in=1500,
        tokens_out=150,
        cost_usd=0.01,
        unpriced=1,
        judged_by_app={"shop": 3},
    )
    assert line.effective_rate == pytest.approx(3 / 7)
    assert show_cost(line) == "0.0100 + 1 of unknown price"


def test_each_day_has_what_was_born_on_it(own_engine, stores):
    late = TODAY.replace(hour=23, minute=59, second=59)
    PostgresStores(FakeClock(late), own_engine).traces.admit(
        make_trace("late", occurred_at=TODAY), (plan_free(), plan_paid())
    )
    next_day = PostgresStores(FakeClock(late + timedelta(seconds=1)), own_engine)
    next_day.traces.admit(make_trace("next", occurred_at=TODAY), (plan_free(),))
    judge(PostgresStores(FakeClock(late), own_engine), 99, cached=True)
    lines = {line.judge: line for line in sum_costs(own_engine, day=TODAY.date())}
    assert (lines[PAID].looked_at, lines[PAID].cached, lines[PAID].judged) == (9, 2, 4)
    assert (lines[FREE].looked_at, lines[FREE].judged, lines[FREE].calls) == (1, 1, 0)
    (line,) = sum_costs(own_engine, day=TODAY.date() + timedelta(days=1))
    assert (line.judge, line.looked_at) == (FREE, 1)
    assert stores is not None


def test_verdicts_of_an_earlier_trace_count_as_judged_after_a_revision(own_engine, stores):
    with own_engine.begin() as connection:
        connection.execute(
            EvaluationRow.__table__.update().where(EvaluationRow.trace_id == "t-3").values(state="superseded")
        )
    (line,) = sum_costs(own_engine, day=TODAY.date())
    assert (line.judged, line.cached, line.judged_by_app) == (3, 1, {"shop": 3})
    assert stores is not None


@pytest.mark.parametrize(("app", "judged"), [("shop", 3), ("other", None)])
def test_one_app_alone(own_engine, stores, app, judged):
    lines = sum_costs(own_engine, day=TODAY.date(), app=app)
    assert next((line.judged for line in lines), None) == judged
    assert sum_costs(own_engine, day=TODAY.date(), judge="other") == ()
    assert stores is not None


def make_line(*, days_ago=0, **judged_by_app):
    judged = sum(judged_by_app.values())
    day = TODAY.date() - timedelta(days=days_ago)
    return DayCost(
        day=day, judge=PAID, traces=10 * judged, looked_at=10 * judged, judged=judged, cached=0, shed=0,
        sampled_out=9 * judged, calls=judged, tokens_in=0, tokens_out=0, cost_usd=0.0, unpriced=0,
        judged_by_app=judged_by_app,
    )  # fmt: skip


def test_today_counts_as_far_as_it_is_over():
    early = TODAY.replace(hour=2, minute=24)
    line = make_line(shop=100)
    days = count_days([line], now=early)
    assert days == pytest.approx(0.1)
    # 100 in a tenth of a day are 1,000 a day, after which a drop of .10 is seen
    assert estimate_days(100, drop=0.10, days=days) == pytest.approx(1.0)
    yesterday = make_line(days_ago=1, shop=1000)
    assert count_days([yesterday, line], now=early) == pytest.approx(1.1)
    assert estimate_days(0, drop=0.10, days=days) is None


def test_a_drop_is_told_for_each_of_the_largest_apps():
    lines = [make_line(a=500, b=210, c=220, d=230), make_line(a=500)]
    first, *rest, more = tell_drops(lines, days=1.0)
    assert first.startswith(f"{PAID}, app a: at this rate a drop of 0.05 after 4.6 days, 0.10 after 1.0 days")
    assert [sentence.partition(":")[0] for sentence in rest] == [f"{PAID}, app d", f"{PAID}, app c"]
    assert more.startswith(f"{PAID}: 1 more")
    assert tell_drops([make_line()], days=1.0) == [f"{PAID}: judged nothing, so no drop would be seen"]


def test_of_a_handful_of_traces_no_drop_is_foretold():
    (sentence,) = tell_drops([make_line(shop=159)], days=1.0)
    assert sentence.startswith(f"{PAID}, app shop: 159 judged: too little traffic to tell")
    (sentence,) = tell_drops([make_line(shop=160)], days=1.0)
    assert "0.20 after 1.0 days" in sentence


def test_a_budget_is_told_with_its_limit_the_share_used_what_is_held_and_when_it_begins_anew():
    limit = Limit(period=Period.DAY, usd=5.0, calls=1000)
    spent = Spent(usd=1.25, calls=40, reserved_usd=0.03, reserved_calls=2)
    money, calls = tell_budget(PAID, limit, spent=spent, now=datetime(2026, 12, 31, 13, tzinfo=UTC))
    assert money == (
        f"{PAID}: 1.25 of 5 USD this day (25%), 0.03 held by evaluations that run; "
        "begins anew 2027-01-01 00:00 UTC"
    )
    assert calls.startswith(f"{PAID}: 40 of 1,000 calls this day (4%), 2 held")
    (hourly,) = tell_budget(
        PAID, Limit(period=Period.HOUR, tokens=0), spent=Spent(), now=datetime(2026, 6, 1, 9, 59, tzinfo=UTC)
    )
    assert hourly == (
        f"{PAID}: 0 of 0 tokens this hour, 0 held by evaluations that run; begins anew 2026-06-01 10:00 UTC"
    )


def test_the_command_prints_lines_for_people_and_for_scripts(database_url, stores, capsys):  # noqa: ARG001
    def cost(*options):
        with pytest.raises(SystemExit) as ended:
            run(["cost", "--database-url", database_url, *options])
        assert ended.value.code == 0
        return capsys.readouterr().out

    def refuse(*options):
        with pytest.raises(SystemExit) as ended:
            run(["cost", "--database-url", database_url, *options])
        assert ended.value.code == 2
        return capsys.readouterr().err.strip().removeprefix("ragsonde: ")

    shown = cost()
    head, row = (line.split("  ") for line in shown.splitlines()[:2])
    assert [cell.strip() for cell in head if cell][:5] == ["day", "judge", "judged traces", "of", "share"]
    # the two filtered ones and what was not judged are traces too, as in the ledger
    assert [cell.strip() for cell in row if cell][1:5] == [PAID, "3 (1 cached)", "8", "37.5%"]
    assert "0.0100 + 1 of unknown price" in shown
    assert "app shop: 3 judged: too little traffic to tell" in shown
    assert cost("--since", "24h") == cost("--days", "2")
    assert "0.0100 + 1" in cost("--app", "shop")
    assert refuse("--app", "shpo") == "--app shpo: no such app; did you mean shop? (known: shop)"
    assert refuse("--judge", "gtp").startswith(f"--judge gtp: no such judge; did you mean {PAID}?")
    assert "no judge looked at any trace" in cost("--app", "default")
    (line,) = json.loads(cost("--output", "json"))
    assert (line["calls"], line["unpriced"]) == (2, 1)
