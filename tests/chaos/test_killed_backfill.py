"""Worker and monitor are killed in the middle of a backfill: every trace is evaluated and counted once."""

from __future__ import annotations

import json

import pytest

from services.mock_llm_process import running_llm
from services.stored_traces import make_slow_judge, store_traces
from services.waiting import wait_for

pytestmark = pytest.mark.chaos

TRACES = 60
THREADS = 8
PLACES = 2
"""A quarter of the threads."""
KILLS_AT = (10, 25)
SCORED = "SELECT count(*) FROM evaluation WHERE judge = 'gpt' AND state = 'scored'"


def test_killed_twice_every_trace_is_evaluated_once(rabbitmq_deployment):
    deployment = rabbitmq_deployment
    with running_llm(latency_seconds=0.2) as llm:
        # a lease is the deadline and 30 s: what was killed comes back when it is over
        judge = make_slow_judge(llm.url, timeout_seconds=10, deadline_seconds=20)
        deployment.settings["RAGSONDE_CONFIG"] = str(deployment.folder / "ragsonde.yaml")
        (deployment.folder / "ragsonde.yaml").write_text(json.dumps({"judges": [judge]}))
        store_traces(deployment.database_url, TRACES)
        worker = deployment.start_ready_worker("--threads", str(THREADS))
        monitor = deployment.start("monitor")
        begun = deployment.run(*("backfill", "start", "--rate", "20", "--output", "json"))
        assert json.loads(begun.stdout)["evaluations"] == TRACES, begun.stderr
        for scored in KILLS_AT:
            wait_for(
                lambda least=scored: deployment.count(SCORED) >= least, seconds=120, what=f"{scored} scored"
            )
            worker.kill()
            monitor.kill()
            worker = deployment.start_ready_worker("--threads", str(THREADS))
            monitor = deployment.start("monitor")
        wait_for(
            lambda: deployment.query("SELECT state FROM backfill") == [("done",)],
            seconds=240,
            what="the end of the backfill",
        )
        ended = json.loads(deployment.run("backfill", "show", "1", "--output", "json").stdout)
        calls = llm.total

    states = deployment.query("SELECT state, count(*) FROM evaluation WHERE judge = 'gpt' GROUP BY state")
    assert states == [("scored", TRACES)]
    assert ended["tally"]["scored"] == ended["planned"] == TRACES
    assert TRACES <= calls <= TRACES + len(KILLS_AT) * PLACES
    assert deployment.count("SELECT count(*) FROM backfill_item") == 0
    assert deployment.count("SELECT count(*) FROM parked_message") == 0
