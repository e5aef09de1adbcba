"""Worker, monitor and broker die in the middle of a backfill: every trace is evaluated and counted once."""

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
ON_QUEUE = 5
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
            deployment.wait_until_unsuspected()
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


def test_a_killed_broker_and_a_purged_queue_lose_no_evaluation_and_double_none(ground):
    deployment, node = ground.deployment, ground.node
    vhost = deployment.broker_url.rpartition("/")[2]

    def count_ready():
        listed = node.ctl(
            "list_queues", "-p", vhost, "--quiet", "--formatter", "json", "name", "messages_ready"
        )
        return {one["name"]: one["messages_ready"] for one in json.loads(listed)}.get("ragsonde.backfill", 0)

    with running_llm(latency_seconds=0.5) as llm:
        # what was published and is lost is published again after the deadline and 30 s
        judge = make_slow_judge(llm.url, timeout_seconds=10, deadline_seconds=10)
        deployment.settings["RAGSONDE_JUDGES"] = json.dumps([judge])
        store_traces(deployment.database_url, TRACES)
        ground.start_worker()
        deployment.start("monitor")
        begun = deployment.run(*("backfill", "start", "--rate", "20", "--output", "json"))
        assert json.loads(begun.stdout)["evaluations"] == TRACES, begun.stderr
        ground.wait_until_scored(KILLS_AT[0], judge="gpt")
        node.kill()
        node.start()
        ground.wait_until_scored(KILLS_AT[1], judge="gpt")
        wait_for(lambda: count_ready() >= ON_QUEUE, what="messages to be lost")
        node.ctl("purge_queue", "-p", vhost, "ragsonde.backfill")
        wait_for(
            lambda: deployment.query("SELECT state FROM backfill") == [("done",)],
            seconds=240,
            what="the end of the backfill",
        )
        ended = json.loads(deployment.run("backfill", "show", "1", "--output", "json").stdout)

    # a call that took too long, as the first one may, is another matter
    answered = deployment.count("SELECT count(*) FROM judge_reply WHERE outcome = 'ok'")
    assert deployment.query("SELECT state, count(*) FROM evaluation WHERE judge = 'gpt' GROUP BY state") == [
        ("scored", TRACES)
    ]
    assert (ended["tally"]["scored"], ended["planned"], answered) == (TRACES, TRACES, TRACES)
    assert deployment.count("SELECT count(*) FROM backfill_item") == 0
    assert deployment.count("SELECT count(*) FROM parked_message") == 0
