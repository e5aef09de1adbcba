"""`ragsonde cost` over a real Postgres."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from fakes.clock import FakeClock
from fakes.evaluations import PAID, make_assessment, make_calls, make_result, make_trace, plan_paid
from ragsonde.cli.cost import TRACES_TO_SEE, estimate_days, show_cost
from ragsonde.cli.main import run
from ragsonde.storage.costs import DayCost, sum_costs
from ragsonde_schemas.evaluation import EvaluationState
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
    (line,) = sum_costs(own_engine, since=TODAY)
    assert line == DayCost(
        day=TODAY.date(),
        judge=PAID,
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
    )
    assert line.effective_rate == pytest.approx(3 / 7)
    assert show_cost(line) == "0.0100 + 1 of unknown price"


def test_the_time_to_see_a_drop_follows_from_what_is_judged():
    line = DayCost(
        day=TODAY.date(), judge=PAID, looked_at=1000, judged=500, cached=0, shed=0, sampled_out=500,
        calls=500, tokens_in=0, tokens_out=0, cost_usd=0.0, unpriced=0,
    )  # fmt: skip
    assert estimate_days([line], drop=0.10, days=1) == pytest.approx(TRACES_TO_SEE[0.10] / 500)
    assert estimate_days([line.model_copy(update={"judged": 0})], drop=0.10, days=1) is None


def test_the_command_prints_lines_for_people_and_for_scripts(database_url, stores, capsys):  # noqa: ARG001
    def cost(*options):
        with pytest.raises(SystemExit) as ended:
            run(["cost", "--database-url", database_url, *options])
        assert ended.value.code == 0
        return capsys.readouterr().out

    shown = cost()
    assert "0.0100 + 1 of unknown price" in shown
    assert "a drop of 0.05 after" in shown
    (line,) = json.loads(cost("--output", "json"))
    assert (line["calls"], line["unpriced"]) == (2, 1)
