"""kill -9 of workers and of the monitor while spans are gathered: every trace is there, whole, once."""

import json
import random

import pytest

from builders.rag_spans import CONTEXTS, make_rag_spans
from builders.spans import write_export
from services.chaos_report import IS_LONG, SEED
from services.leases import end_leases, find_last_lease
from services.waiting import wait_for

pytestmark = pytest.mark.chaos

TRACES = 1500 if IS_LONG else 200
SPANS_A_MESSAGE = 20
CURRENT = """
SELECT e.trace_id, jsonb_array_length(t.contexts) FROM evaluation e
JOIN trace_text t USING (trace_id, app, record_key, revision, day) WHERE e.state = 'scored' ORDER BY 1
"""


def cut_into_messages():
    """All spans in disorder, one in twenty of them twice."""
    order = random.Random(SEED)
    spans = [span for number in range(TRACES) for span in make_rag_spans(trace_id=f"{number + 1:032x}")]
    spans += order.sample(spans, len(spans) // 20)
    order.shuffle(spans)
    return [write_export(*spans[at : at + SPANS_A_MESSAGE]) for at in range(0, len(spans), SPANS_A_MESSAGE)]


def test_killed_workers_and_a_killed_monitor_lose_no_span_and_double_no_trace(
    rabbitmq_deployment, chaos_report
):
    deployment = rabbitmq_deployment
    deployment.settings["RAGSONDE_ASSEMBLY__QUIET_SECONDS"] = "1"
    # a judge that is never asked, whose short deadline makes the lease of a killed worker short
    deployment.settings["RAGSONDE_JUDGES"] = json.dumps(
        [
            {"name": "lexical", "kind": "lexical"},
            {"name": "gpt", "kind": "litellm", "model": "openai/mock", "sample": 0, "deadline_seconds": 2},
        ]
    )
    monitor = deployment.start("monitor")
    with deployment.publisher() as publisher:
        for body in cut_into_messages():
            publisher.publish_trace(body, content_type=None)
    stored = "SELECT count(*) FROM open_record WHERE closed_version > 0"
    for share in (0.0, 0.3, 0.6):
        worker = deployment.start_ready_worker()
        goal = int(TRACES * share)
        wait_for(lambda goal=goal: deployment.count(stored) >= goal, seconds=90, what=f"{goal} closed")
        deployment.wait_until_unsuspected()
        worker.kill()
        if not IS_LONG:
            end_leases(deployment, last=find_last_lease(deployment))
        if share == 0.3:
            monitor.kill()
            monitor = deployment.start("monitor")
    deployment.start_ready_worker()
    wanted = [(f"{number + 1:032x}", len(CONTEXTS)) for number in range(TRACES)]
    wait_for(
        lambda: deployment.query(CURRENT) == wanted, seconds=150, what=f"{TRACES} whole traces, once each"
    )
    chaos_report.traces += TRACES
    chaos_report.survive("kill -9 of a worker that gathers spans", 3)
    chaos_report.survive("kill -9 of the monitor")
    assert deployment.query("SELECT reason, message FROM parked_message") == []
    assert deployment.count("SELECT count(*) FROM span_buffer") == 3 * TRACES
