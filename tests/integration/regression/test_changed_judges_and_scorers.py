"""A changed penalty, a changed prompt, a new judge model: no alert, new streams armed, old ones seen out."""

from __future__ import annotations

import pytest

from ragsonde.judging import litellm_judge
from ragsonde.storage.arming_progress import Waits
from services.arming_ground import ArmingGround
from services.judging_worker import make_judge
from services.mock_llm_process import running_llm

pytestmark = pytest.mark.integration

PER_DAY = 80
MEANS = """
SELECT s.id, s.judge, s.version, s.fingerprint, sum(b.total) / sum(b.n), sum(b.n)::int
FROM score_stream s JOIN score_block b ON b.stream_id = s.id
WHERE s.scorer = 'context_relevance' GROUP BY s.id ORDER BY s.id
"""
ARMED = """
SELECT a.stream_id, a.old_stream_id, a.way, b.kind, a.seen_out_at IS NOT NULL
FROM stream_arming a LEFT JOIN LATERAL (SELECT baseline_id FROM monitor_state m
    WHERE m.stream_id = a.stream_id ORDER BY m.day DESC LIMIT 1) m ON true
LEFT JOIN baseline b ON b.id = m.baseline_id ORDER BY a.stream_id
"""


@pytest.fixture
def llm():
    with running_llm(seed=3) as process:
        process.run_script({"none_relevant": 0.1})
        yield process


@pytest.fixture
def ground(own_engine, database_url, llm):
    settings = {
        "judges": [{"name": "lexical", "kind": "lexical"}, make_judge(llm.url)],
        "scorers": {"context_relevance": {}},
        "regression": {"arming_per_second": 50},
    }
    with ArmingGround(own_engine, database_url, **settings) as made:
        made.live(days=8, per_day=PER_DAY)
        yield made


def read_streams(ground):
    """Of the judge that costs: number, version, fingerprint, mean and traces, the oldest first."""
    return [(number, *rest) for number, name, *rest in ground.query(MEANS) if name == "gpt"]


def read_shown(ground):
    """The labels of the streams of which a state is shown."""
    lines = ground.series.render().body.decode().splitlines()
    return [line for line in lines if line.startswith("ragsonde_regression_state{")]


def change_penalty(ground, _llm, _patch):
    ground.restart(scorers={"context_relevance": {"penalties": {"unused_high": 0.25}}})


def change_model(ground, llm, _patch):
    llm.run_script({"none_relevant": 0.4})
    lexical, gpt = ground.settings["judges"]
    ground.restart(judges=[lexical, {**gpt, "model": "openai/strict"}])


def change_prompt(ground, llm, patch):
    llm.run_script({"none_relevant": 0.7})
    patch.setattr(litellm_judge, "PROMPT_VERSION", "2")
    ground.restart()


def check_change(ground, llm, *, change, way):
    """The new stream is armed by its way, with nothing told but that it is under way."""
    (old, _, _, was, _) = read_streams(ground)[-1]
    ground.armings.clear()
    calls = llm.total
    change()
    ground.live(days=1, per_day=PER_DAY)
    live_calls = llm.total - calls
    ground.settle()

    new, _, _, mean, traces = read_streams(ground)[-1]
    assert new != old
    assert mean < 0.8 * was, "it looks like a regression"
    assert traces >= 7 * PER_DAY
    found = {one[0]: one[1:4] for one in ground.query(ARMED)}
    assert found[new] == (old, way, "pinned")
    assert (llm.total - calls > live_calls) is (way == "backfill")
    assert [one for told in ground.armings for one in told if one.waits_for is Waits(way)]
    assert ground.armings[-1] == ()
    assert ground.query("SELECT * FROM alert") == []


def test_no_alert_new_streams_armed_old_ones_seen_out(ground, llm, monkeypatch):
    check_change(ground, llm, change=lambda: change_penalty(ground, llm, monkeypatch), way="rescore")
    check_change(ground, llm, change=lambda: change_model(ground, llm, monkeypatch), way="backfill")
    check_change(ground, llm, change=lambda: change_prompt(ground, llm, monkeypatch), way="backfill")

    ground.live(days=9, per_day=6)
    ground.settle()
    assert all(is_seen_out for *_, is_seen_out in ground.query(ARMED))
    assert len(read_shown(ground)) == 2, "lexical and gpt, as they are now"
    assert ground.query("SELECT * FROM alert") == []
