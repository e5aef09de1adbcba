"""Queues of others on a real RabbitMQ: taken from, named, waited for, and not shared unasked."""

from __future__ import annotations

import json

import pytest

from services.plain_amqp import open_channel, publish
from services.waiting import wait_for

pytestmark = [pytest.mark.integration, pytest.mark.e2e]

FOREIGN = "otlp_spans"
OURS = {"ragsonde.traces", "ragsonde.work", "ragsonde.backfill", "ragsonde.traces.dead"}
PARKED = "SELECT body, queue FROM parked_message"


def make_body(trace_id):
    return json.dumps(
        {
            "trace_id": trace_id,
            "query": "How long does a refund take?",
            "contexts": ["A refund is issued within 14 days after the returned parcel arrives."],
            "answer": "Within 14 days.",
        }
    ).encode()


@pytest.fixture
def channel(rabbitmq_deployment):
    with open_channel(rabbitmq_deployment.broker_url) as opened:
        yield opened


def test_a_foreign_queue_is_consumed_and_named_whichever_exchange_it_is_bound_to(
    rabbitmq_deployment, channel
):
    rabbitmq_deployment.settings["RAGSONDE_QUEUES"] = f"ragsonde.traces,{FOREIGN}"
    channel.queue_declare(FOREIGN, durable=True, auto_delete=False)
    channel.exchange_declare("otel", "topic", durable=True, auto_delete=False)
    channel.queue_bind(FOREIGN, "otel", "#")
    rabbitmq_deployment.start_ready_worker()
    publish(channel, make_body("by-default"), exchange="", routing_key=FOREIGN)
    publish(channel, make_body("ours"))
    publish(channel, b"junk by default", exchange="", routing_key=FOREIGN)
    publish(channel, b"junk by theirs", exchange="otel", routing_key="spans")
    publish(channel, b"junk by ours")
    rabbitmq_deployment.wait_until_scored(2)
    wait_for(lambda: len(rabbitmq_deployment.query(PARKED)) == 3, seconds=30, what="three parked")
    parked = {bytes(body): queue for body, queue in rabbitmq_deployment.query(PARKED)}
    assert parked == {
        b"junk by default": FOREIGN,
        b"junk by theirs": FOREIGN,
        b"junk by ours": "ragsonde.traces",
    }


def test_a_missing_foreign_queue_is_no_hindrance_and_consumed_when_it_comes_and_comes_again(
    rabbitmq_deployment, channel
):
    rabbitmq_deployment.settings["RAGSONDE_QUEUES"] = f"ragsonde.traces,{FOREIGN}"
    worker = rabbitmq_deployment.start_ready_worker()
    assert f"foreign_queue_missing queue={FOREIGN}" in worker.read_log()
    publish(channel, make_body("ours"))
    rabbitmq_deployment.wait_until_scored(1)
    for count in (2, 3):
        channel.queue_declare(FOREIGN, durable=True, auto_delete=False)
        publish(channel, make_body(f"theirs-{count}"), exchange="", routing_key=FOREIGN)
        rabbitmq_deployment.wait_until_scored(count)
        channel.queue_delete(FOREIGN)  # the broker cancels its consumer
    publish(channel, make_body("ours-again"))
    rabbitmq_deployment.wait_until_scored(4)
    assert {queue["name"] for queue in rabbitmq_deployment.ask_rabbitmq("list_queues", "name")} == OURS


def test_a_foreign_queue_that_somebody_else_consumes_is_refused_unless_it_may_be_shared(
    rabbitmq_deployment, channel
):
    rabbitmq_deployment.settings["RAGSONDE_QUEUES"] = f"ragsonde.traces,{FOREIGN}"
    channel.queue_declare(FOREIGN, durable=True, auto_delete=False)
    channel.basic_consume(FOREIGN)
    refused = rabbitmq_deployment.run("worker")
    assert refused.returncode == 4
    assert f"queue {FOREIGN} has 1 other consumers" in refused.stderr
    assert "--share-queue" in refused.stderr
    rabbitmq_deployment.start_ready_worker("--share-queue")
    assert {"name": FOREIGN, "consumers": 2} in rabbitmq_deployment.ask_rabbitmq(
        "list_queues", "name", "consumers"
    )
