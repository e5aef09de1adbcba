"""A backfill over real processes: hundreds of traces by a slow judge, and live traces as quick as without."""

from __future__ import annotations

import json
import time
from statistics import median

import pytest

from builders.rag_messages import make_messages
from services.mock_llm_process import running_llm
from services.stored_traces import make_slow_judge, store_traces
from services.waiting import wait_for

pytestmark = pytest.mark.integration

STORED, LIVE = 200, 20
LLM_SECONDS = 2.0
SCORED = "SELECT count(*) FROM evaluation WHERE judge = %s AND state = 'scored' AND trace_id LIKE %s"


def time_live(deployment, prefix):
    """How long each live trace took from its publishing to its score, in seconds, from the quickest on."""
    taken = []
    with deployment.publisher() as publisher:
        for message in make_messages(LIVE, prefix=prefix):
            body, begun = json.dumps(message).encode(), time.monotonic()
            publisher.publish_trace(body, content_type="application/json")
            wait_for(
                lambda trace_id=message["trace_id"]: deployment.count(SCORED, "lexical", trace_id),
                what="a live score",
            )
            taken.append(time.monotonic() - begun)
    return sorted(taken)


def test_live_traces_do_not_wait_for_a_backfill_of_hundreds_by_a_slow_judge(deployment):
    with running_llm(latency_seconds=LLM_SECONDS) as llm:
        judges = [{"name": "lexical", "kind": "lexical"}, make_slow_judge(llm.url)]
        deployment.settings["RAGSONDE_CONFIG"] = str(deployment.folder / "ragsonde.yaml")
        (deployment.folder / "ragsonde.yaml").write_text(json.dumps({"judges": judges}))
        store_traces(deployment.database_url, STORED)
        deployment.start_ready_worker("--threads", "8")
        deployment.start("monitor")
        alone = time_live(deployment, "before")
        begun = deployment.run(*("backfill", "start", "--judge", "gpt", "--rate", "50", "--output", "json"))
        assert json.loads(begun.stdout)["evaluations"] == STORED + LIVE, begun.stderr
        wait_for(lambda: deployment.count(SCORED, "gpt", "%") >= 2, what="the backfill's first scores")
        beside = time_live(deployment, "beside")
        shown = json.loads(deployment.run("backfill", "show", "1", "--output", "json").stdout)

    assert shown["state"] == "running", "the backfill was over before the live traces came"
    assert shown["tally"]["outstanding"] > LIVE
    assert median(beside) < median(alone) + 0.25
    assert beside[LIVE * 9 // 10 - 1] < LLM_SECONDS / 2, "live traces waited for calls of the slow judge"
