"""What we expose, read by Prometheus' own linter."""

import json
import re
import subprocess
from pathlib import Path

import pytest

from fakes.clock import FakeClock
from fakes.judge import FakeJudge
from fakes.stages import make_stages
from fakes.traces import make_envelope
from ragsonde.exposition.registry import Series
from ragsonde.exposition.series import MONITOR_SERIES, QUEUE_MESSAGES, WORKER_SERIES
from ragsonde.exposition.sink import PrometheusSink
from ragsonde.pipeline.evaluate_trace import ingest
from services.promtool import require_tool

pytestmark = pytest.mark.integration


@pytest.fixture(scope="module")
def promtool():
    return require_tool("promtool")


def check(promtool, page):
    return subprocess.run([promtool, "check", "metrics"], input=page.body, capture_output=True, check=False)


def test_a_workers_page_after_scores_junk_and_an_empty_retrieval_is_clean(promtool):
    series = Series(WORKER_SERIES)
    clock = FakeClock()
    stages = make_stages(
        FakeJudge("lexical"), clock=clock, sink=PrometheusSink(series, clock=clock, fingerprints={})
    )
    for envelope in (make_envelope(), make_envelope(b"junk"), make_envelope(trace_id="t2", contexts=[])):
        ingest(envelope, stages)
    page = series.render()
    assert b"ragsonde_score_bucket" in page.body
    result = check(promtool, page)
    assert (result.returncode, result.stdout + result.stderr) == (0, b"")


def test_a_monitors_page_is_clean(promtool):
    series = Series(MONITOR_SERIES)
    series.replace(QUEUE_MESSAGES, {("ragsonde.traces",): 3.0})
    result = check(promtool, series.render())
    assert (result.returncode, result.stdout + result.stderr) == (0, b"")


PAGE = (Path(__file__).parents[3] / "docs" / "reference" / "series.md").read_text()
PLACE = 'app="shop",environment="production"'
COUNTED = {
    f'traces_total{{{PLACE},release="1",instance="a"}}': 10,
    f'traces_total{{{PLACE},release="2",instance="b"}}': 2,
    f'score_count{{{PLACE},release="1",judge="lexical@0",scorer="context_position"}}': 9,
    f'score_count{{{PLACE},release="1",judge="lexical@0",scorer="context_precision"}}': 8,
    f'score_sum{{{PLACE},release="1",judge="lexical@0",scorer="context_position"}}': 4.5,
    f'no_context_total{{{PLACE},release="1"}}': 3,
    f'context_tokens_total{{{PLACE},release="1",judge="lexical@0",relevant="yes"}}': 30,
    f'context_tokens_total{{{PLACE},release="1",judge="lexical@0",relevant="no"}}': 10,
    'messages_received_total{format="native",instance="a"}': 20,
    'messages_received_total{format="otlp",instance="b"}': 40,
    'evaluations_total{judge="gpt@1",state="scored",cause=""}': 3,
    'evaluations_total{judge="gpt@1",state="failed",cause="refused"}': 1,
    'evaluations_total{judge="gpt@1",state="shed",cause="budget_spent"}': 2,
    'evaluations_total{judge="gpt@1",state="sampled_out",cause=""}': 100,
}
"""What is counted a minute."""
DEPTHS = {"ragsonde.work": 7, "ragsonde.traces": 12}
"""As two monitors show them."""
EXPECTED = {
    "score_sum": ('{judge="lexical@0",scorer="context_position"}', 4.5 / 9),
    "max by (app, environment, judge)": (f'{{{PLACE},judge="lexical@0"}}', 9 / 12),
    "evaluations_total": ('{judge="gpt@1"}', 3 / 6),
    "no_context_total": (f"{{{PLACE}}}", 3 / 12),
    "traces_total[1h] offset": (f"{{{PLACE}}}", 15 * 12),
    "context_tokens_total": (f'{{{PLACE},judge="lexical@0"}}', 30 / 40),
    "max by (queue)": ('{queue="ragsonde.work"}', 7),
    "messages_received_total": ("{}", 12),
}


def test_the_expressions_of_the_reference_give_the_shares_they_promise(promtool, tmp_path):
    expressions = re.findall(r"```promql\n(.*?)```", PAGE, re.DOTALL)
    assert [sum(name in one for name in EXPECTED) for one in expressions] == [1] * len(EXPECTED)
    minutes = 169 * 60
    series = [
        *({"series": f"ragsonde_{name}", "values": f"0+{step}x{minutes}"} for name, step in COUNTED.items()),
        *(
            {
                "series": f'ragsonde_queue_messages{{queue="{queue}",instance="{instance}"}}',
                "values": f"{depth}x{minutes}",
            }
            for queue, depth in DEPTHS.items()
            for instance in ("a", "b")
        ),
    ]
    tests = [
        {
            "expr": " ".join(one.split()),
            "eval_time": "169h",
            "exp_samples": [{"labels": labels, "value": value}],
        }
        for one in expressions
        for name, (labels, value) in EXPECTED.items()
        if name in one
    ]
    document = {"tests": [{"interval": "1m", "input_series": series, "promql_expr_test": tests}]}
    (tmp_path / "tests.json").write_text(json.dumps(document))
    command = [promtool, "test", "rules", str(tmp_path / "tests.json")]
    result = subprocess.run(command, capture_output=True, check=False, text=True)
    assert result.returncode == 0, result.stdout + result.stderr
