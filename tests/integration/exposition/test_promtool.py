"""What we expose, read by Prometheus' own linter."""

import subprocess

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
