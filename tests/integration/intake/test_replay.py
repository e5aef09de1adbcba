"""Messages through real workers: each is settled once; what is parked is scored once when it is replayed."""

from __future__ import annotations

import json

import pytest
from prometheus_client.parser import text_string_to_metric_families

from builders.rag_spans import RAG_SPANS
from builders.spans import make_span, write_export
from ragsonde.extraction.judge_calls import JUDGE_CALL_TAG
from services.plain_amqp import open_channel, publish
from services.waiting import wait_for

pytestmark = [pytest.mark.integration, pytest.mark.e2e]

TRACE = {
    "query": "How long does a refund take?",
    "contexts": ["A refund is issued within 14 days after the returned parcel arrives."],
    "answer": "Within 14 days.",
}
SCORES = "SELECT count(*) FROM score"
EVALUATED = "SELECT trace_id, state, count(*) FROM evaluation GROUP BY 1, 2 ORDER BY 1"
PARKED = "SELECT reason, queue, replays, replayed_at IS NOT NULL FROM parked_message"


def message(trace_id, **fields):
    return json.dumps({"trace_id": trace_id, **TRACE, **fields}).encode()


OWN_JUDGE = {
    "id": "chatcmpl-1",
    "trace_id": "judge-1",
    "call_type": "completion",
    "status": "success",
    "startTime": 1796013960.3,
    "endTime": 1796013960.5,
    "model": "gpt-4o-mini",
    "metadata": {},
    "request_tags": [JUDGE_CALL_TAG],
    "messages": [{"role": "user", "content": "?"}],
    "response": {"choices": [{"index": 0, "message": {"role": "assistant", "content": "{}"}}]},
    "model_parameters": {},
    "hidden_params": {},
}
"""What LiteLLM tells of a call of one of our own judges."""


def read_totals(worker, *names):
    """The sums of counters by their last label, those above 0."""
    families = text_string_to_metric_families(worker.read("/metrics"))
    found = {}
    for family in families:
        for sample in family.samples:
            if sample.name in names and sample.value:
                found.setdefault(sample.name, {})[next(iter(sample.labels.values()), "")] = sample.value
    return [found.get(name, {}) for name in names]


def test_what_is_received_is_what_was_accepted_absorbed_duplicate_filtered_and_parked(rabbitmq_deployment):
    worker = rabbitmq_deployment.start_ready_worker()
    half = [{"trace_id": "half", **TRACE}, {"trace_id": "x", "contexts": [1]}]
    bodies = (
        *(message("good"), message("good"), message("good", answer="Within 30 days.")),
        *(b"junk", b"", json.dumps(half).encode(), json.dumps(OWN_JUDGE).encode()),
        *(write_export(*RAG_SPANS), write_export(*RAG_SPANS), write_export(make_span(99, trace_id="e" * 32))),
    )
    with open_channel(rabbitmq_deployment.broker_url) as channel:
        for body in bodies:
            publish(channel, body)
    names = ("ragsonde_messages_received_total", "ragsonde_messages_settled_total")
    received, settled = wait_for(
        lambda: totals if sum((totals := read_totals(worker, *names))[1].values()) == len(bodies) else None,
        seconds=30,
        what="all messages settled",
    )
    assert sum(received.values()) == sum(settled.values()) == len(bodies)
    assert settled == {"accepted": 2, "duplicate": 2, "parked": 3, "absorbed": 2, "filtered": 1}
    assert worker.terminate() == 0


def test_what_a_limit_parked_is_scored_once_when_it_is_raised_and_replayed(deployment):
    deployment.settings["RAGSONDE_MAX_BODY_BYTES"] = "100"
    worker = deployment.start_ready_worker()
    deployment.publish([json.loads(message("big"))])
    wait_for(lambda: deployment.query(PARKED), seconds=20, what="the parked message")
    assert worker.terminate() == 0

    del deployment.settings["RAGSONDE_MAX_BODY_BYTES"]
    deployment.start_ready_worker()
    foretold = deployment.run("parked", "replay", "--reason", "oversize", "--dry-run", "-o", "json")
    assert json.loads(foretold.stdout)["replay"] == [1], foretold.stderr
    assert deployment.query(PARKED) == [("oversize", "ragsonde.traces", 0, False)]
    replayed = deployment.run("parked", "replay", "--reason", "oversize", "-o", "json")
    assert json.loads(replayed.stdout) == {"published": 1, "refused": 0, "taken": 0, "erased": 0}, (
        replayed.stderr
    )
    deployment.wait_until_scored(1)
    scores = deployment.count(SCORES)

    assert deployment.run("parked", "replay", "--reason", "oversize").returncode == 1
    assert deployment.run("parked", "replay", "1", "--all", "-o", "json").returncode == 0
    deployment.publish([json.loads(message("after"))])
    deployment.wait_until_scored(2)
    assert deployment.query(EVALUATED) == [("after", "scored", 1), ("big", "scored", 1)]
    assert deployment.count(SCORES) == 2 * scores
    assert deployment.query(PARKED) == [("oversize", "ragsonde.traces", 2, True)]
    assert "published again" in deployment.run("why", "big").stdout
    ledger = deployment.run("ledger", "-o", "json")
    assert (ledger.returncode, json.loads(ledger.stdout)["holds"]) == (0, True), ledger.stdout
    table = deployment.run("ledger")
    assert (table.returncode, "every invariant holds" in table.stdout) == (0, True)


def test_a_dead_letter_is_replayed_to_its_queue_as_a_new_message(rabbitmq_deployment):
    with (
        rabbitmq_deployment.publisher() as publisher,
        open_channel(rabbitmq_deployment.broker_url) as channel,
    ):
        publisher.publish_trace(
            message("dead"), content_type="application/json", headers={"traceparent": "00-1"}
        )
        for _ in range(2):  # the first goes back and so has a count of deliveries
            taken = wait_for(lambda: channel.basic_get("ragsonde.traces"), seconds=10, what="the message")
            channel.basic_reject(taken.delivery_tag, requeue=not taken.headers.get("x-delivery-count"))
        worker = rabbitmq_deployment.start_ready_worker()
        wait_for(lambda: rabbitmq_deployment.query(PARKED), seconds=20, what="the parked dead letter")
        assert rabbitmq_deployment.query(PARKED) == [("dead_letter", "ragsonde.traces", 0, False)]
        assert worker.terminate() == 0

        assert rabbitmq_deployment.run("parked", "replay", "1").returncode == 0
        again = wait_for(lambda: channel.basic_get("ragsonde.traces"), seconds=10, what="it again")
        assert json.loads(again.body) == json.loads(message("dead"))
        assert "x-death" not in again.headers
        assert again.headers.get("x-delivery-count", 0) == 0
        assert (again.headers["traceparent"], again.content_type) == ("00-1", "application/json")
        assert not again.delivery_info["redelivered"]
        channel.basic_reject(again.delivery_tag, requeue=True)
    rabbitmq_deployment.start_ready_worker()
    rabbitmq_deployment.wait_until_scored(1)
