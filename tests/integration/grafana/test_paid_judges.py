"""What the Judges dashboard shows of judges that cost money, from what worker and monitor expose."""

from __future__ import annotations

import time
from contextlib import ExitStack, closing

import pytest

from fakes.clock import FakeClock
from ragsonde.exposition.birth import KnownLabels
from ragsonde.exposition.closed_labels import REPLIES
from ragsonde.exposition.health import Health
from ragsonde.exposition.http import serve
from ragsonde.exposition.registry import Series
from ragsonde.exposition.routes import build_routes
from ragsonde.exposition.series import (
    JUDGE_AGREEMENT,
    JUDGE_BUDGET_RATIO,
    JUDGE_DRIFT,
    JUDGE_DRIFT_STDERR,
    JUDGE_PAUSED,
    JUDGE_SAMPLE_RATE,
    LEDGER_EVALUATIONS,
    MONITOR_SERIES,
    UNSCORED,
    WORKER_SERIES,
)
from ragsonde.exposition.sink import PrometheusSink
from ragsonde_schemas.errors import Cause
from ragsonde_schemas.evaluation import EvaluationKey
from ragsonde_schemas.judge_call import JudgeCall
from services.grafana import fill_expression, list_asked, read_dashboard
from services.prometheus_server import running_prometheus
from services.waiting import wait_for

pytestmark = pytest.mark.integration

GPT, LEXICAL, MODEL = "gpt@3fa2c1", "lexical@0123ab", "openai/some"
KEY = EvaluationKey.model_construct(judge="gpt", fingerprint="3fa2c1d4")
ASKED = {
    (asked.panel["id"], asked.ref_id): asked.expression for asked in list_asked(read_dashboard("judges"))
}


def call(outcome, *, seconds, purpose="assess"):
    return JudgeCall(
        purpose=purpose, model=MODEL, outcome=outcome, tokens_in=1000, tokens_out=50, cost_usd=0.25,
        seconds=seconds, reply="",
    )  # fmt: skip


def tell_of_a_worker():
    known = KnownLabels(judges=(LEXICAL, GPT), models=((GPT, MODEL),), scorers=("context_position",))
    series = Series(WORKER_SERIES, known=known)
    sink = PrometheusSink(series, clock=FakeClock(), fingerprints={"gpt": "3fa2c1d4"})
    calls = (
        *(call("ok", seconds=1.5) for _ in range(6)),
        call(Cause.INVALID_REPLY, seconds=40),
        call("ok", seconds=1.5, purpose="repair"),
    )
    sink.on_calls(KEY, calls)
    for is_hit in (True, False, False, False):
        sink.on_cache_read(KEY, is_hit=is_hit)
    sink.on_circuit("gpt", MODEL, is_open=True)
    second_model = {"scorer": "context_position", "judge": f"{GPT}.2"}
    series.add(UNSCORED, 3, status="error", cause=Cause.INVALID_REPLY, **second_model)
    return series


def tell_of_a_monitor():
    series = Series(MONITOR_SERIES)
    series.replace(JUDGE_PAUSED, {(LEXICAL,): 0.0, (GPT,): 1.0})
    series.replace(JUDGE_BUDGET_RATIO, {(GPT, "day"): 0.9})
    series.replace(JUDGE_SAMPLE_RATE, {(GPT, "shop"): 0.05})
    series.replace(JUDGE_AGREEMENT, {(GPT, LEXICAL, "shop", "false"): 0.75})
    series.replace(JUDGE_DRIFT, {(GPT, "context_position"): -0.08})
    series.replace(JUDGE_DRIFT_STDERR, {(GPT, "context_position"): 0.015})
    states = {"scored": 30.0, "failed": 2.0, "sampled_out": 96.0, "not_evaluable": 10.0}
    series.replace(LEDGER_EVALUATIONS, {("gpt", state): number for state, number in states.items()})
    return series


@pytest.fixture(scope="module")
def prometheus(tmp_path_factory):
    with ExitStack() as stack:
        server = stack.enter_context(running_prometheus(tmp_path_factory.mktemp("prometheus")))
        for series in (tell_of_a_worker(), tell_of_a_monitor()):
            routes = build_routes(series, live=Health({}), ready=Health({}))
            server.scrape(stack.enter_context(closing(serve("127.0.0.1", 0, routes=routes))).url)
        wait_for(lambda: server.query("ragsonde_judge_paused"), what="the monitor's series")
        yield server


def ask(prometheus, panel, ref_id="A", **values):
    """Values by what tells the lines apart."""
    found = prometheus.ask(
        "query", query=fill_expression(ASKED[panel, ref_id], values), time=str(time.time())
    )
    return {
        " ".join(
            value for name, value in sorted(line["metric"].items()) if name != "__name__"
        ): pytest.approx(float(line["value"][1]), nan_ok=True)
        for line in found["result"]
    }


@pytest.mark.parametrize(
    ("panel", "expected"),
    [
        (101, {GPT: 1, LEXICAL: 0}),
        (102, {GPT: 1, LEXICAL: 0}),
        # no line where nothing was done: a share of nothing is not 0
        (202, {GPT: 1 / 8}),
        (204, {GPT: 1, LEXICAL: 0}),
        (206, {GPT: 1 / 4}),
        (302, {f"{GPT} day": 0.9}),
        (304, {"in fact gpt": 32 / 128, f"shop {GPT}": 0.05}),
        (401, {f"{LEXICAL} shop {GPT} false": 0.25}),
        (403, {f"{GPT} context_position": -0.08}),
    ],
)
def test_a_paid_judge_is_shown_beside_the_free_one(prometheus, panel, expected):
    assert ask(prometheus, panel) == expected


def test_money_and_tokens_of_the_calls_are_shown(prometheus):
    assert ask(prometheus, 303)[GPT] == 2.0
    assert ask(prometheus, 205)[f"in {GPT}"] == 8000
    assert ask(prometheus, 201) == {
        **{f"{GPT} {outcome}": 0 for (outcome,) in REPLIES.rows},
        f"{GPT} ok": 7,
        f"{GPT} invalid_reply": 1,
        LEXICAL: 0,
    }


def test_the_budget_of_the_day_is_projected_by_how_much_of_it_is_over(prometheus):
    over = max(time.time() % 86_400 / 86_400, 1 / 24)
    assert ask(prometheus, 302, "B")[GPT].expected == pytest.approx(0.9 / over, rel=0.01)


def test_the_latency_is_of_the_slow_calls(prometheus):
    # 7 calls of 1.5 s, one of 40 s: the 95th percentile lies in its bucket
    assert 30 < ask(prometheus, 203)[GPT].expected <= 60


def test_failures_of_the_second_model_are_those_of_the_judge(prometheus):
    found = ask(prometheus, 405, judge=GPT)
    assert found[f"invalid_reply {GPT}.2"] == 3
    assert not [line for line in found if LEXICAL in line]
