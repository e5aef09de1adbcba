"""Traces of a file, taken in behind live traffic: with their own time, once, and in no live series."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest

from builders.rag_messages import make_messages
from services.mock_llm_process import running_llm
from services.stored_traces import make_slow_judge
from services.waiting import wait_for

pytestmark = pytest.mark.integration

TRACES = 6
SCORED = "SELECT count(*) FROM evaluation WHERE state = 'scored'"


def test_a_file_is_taken_in_once_with_its_own_time_and_what_waits_belongs_to_the_backfill(
    rabbitmq_deployment,
):
    deployment = rabbitmq_deployment
    occurred_at = datetime.now(UTC) - timedelta(days=3)
    lines = [
        json.dumps({**message, "occurred_at": occurred_at.isoformat()}) for message in make_messages(TRACES)
    ]
    (deployment.folder / "traces.jsonl").write_text("\n".join(lines))
    with running_llm() as llm:
        judges = [{"name": "lexical", "kind": "lexical"}, make_slow_judge(llm.url, sample=1.0)]
        (deployment.folder / "ragsonde.yaml").write_text(json.dumps({"judges": judges}))
        deployment.settings["RAGSONDE_CONFIG"] = str(deployment.folder / "ragsonde.yaml")
        worker = deployment.start_ready_worker()
        deployment.start("monitor")
        command = ("backfill", "files", "traces.jsonl", "--rate", "50", "--output", "json")
        begun = json.loads(deployment.run(*command).stdout)
        assert (begun["accepted"], begun["refused"]) == (TRACES, 0)
        wait_for(lambda: deployment.count(SCORED) == 2 * TRACES, what="all scores")
        wait_for(
            lambda: deployment.query("SELECT state, scored FROM backfill") == [("done", TRACES)],
            what="the end of the backfill",
        )
        again = json.loads(deployment.run(*command).stdout)
        wait_for(
            lambda: 'ragsonde_duplicates_total{kind="duplicate"} 6.0' in worker.read("/metrics"),
            what="six duplicates",
        )
        calls, page = llm.total, worker.read("/metrics")

    assert again["backfill"] == begun["backfill"] + 1
    assert calls == TRACES
    assert deployment.query("SELECT DISTINCT day FROM trace") == [(occurred_at.date(),)]
    assert deployment.count("SELECT count(*) FROM evaluation WHERE backfill_id = %s", begun["backfill"]) == 12
    backfilled = [line for line in page.splitlines() if line.startswith("ragsonde_backfilled_total{")]
    assert sum(float(line.rpartition(" ")[2]) for line in backfilled) == 2 * TRACES
    scores = [line for line in page.splitlines() if line.startswith("ragsonde_score_count{")]
    assert sum(float(line.rpartition(" ")[2]) for line in scores) == 0
