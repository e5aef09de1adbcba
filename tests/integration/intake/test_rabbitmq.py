"""A worker on a real RabbitMQ: what it declares, what it consumes, and what it does when things differ."""

from __future__ import annotations

import json
import os

import amqp
import pytest

from services.plain_amqp import open_channel, publish
from services.rabbitmq import rabbitmqctl
from services.waiting import wait_for

pytestmark = [pytest.mark.integration, pytest.mark.e2e]

# the documented topology, written out
SAFE = {
    "x-queue-type": "quorum",
    "x-delivery-limit": 20,
    "x-dead-letter-exchange": "ragsonde.dead",
    "x-dead-letter-strategy": "at-least-once",
    "x-overflow": "reject-publish",
}
QUEUES = {
    "ragsonde.traces": SAFE,
    "ragsonde.work": SAFE,
    "ragsonde.backfill": SAFE,
    "ragsonde.traces.dead": {"x-queue-type": "quorum"},
}
EXCHANGES = {"ragsonde": "topic", "ragsonde.work": "direct", "ragsonde.dead": "fanout"}
BINDINGS = {
    ("ragsonde", "ragsonde.traces", "#"),
    ("ragsonde.work", "ragsonde.work", "ragsonde.work"),
    ("ragsonde.work", "ragsonde.backfill", "ragsonde.backfill"),
    ("ragsonde.dead", "ragsonde.traces.dead", "ragsonde.traces.dead"),
}
PARKED = "SELECT queue, reason, message FROM parked_message"


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


def test_a_worker_leaves_exactly_the_documented_topology_in_a_fresh_virtual_host(rabbitmq_deployment):
    worker = rabbitmq_deployment.start_ready_worker()
    with open_channel(rabbitmq_deployment.broker_url) as channel:
        publish(channel, make_body("t"))
    rabbitmq_deployment.wait_until_scored(1)

    exchanges = rabbitmq_deployment.ask_rabbitmq("list_exchanges", "name", "type")
    ours = {one["name"]: one["type"] for one in exchanges if not one["name"].startswith("amq.")}
    assert ours == {"": "direct", **EXCHANGES}
    queues = rabbitmq_deployment.ask_rabbitmq("list_queues", "name", "durable", "arguments")
    assert all(queue["durable"] for queue in queues)
    found = {queue["name"]: {name: value for name, _, value in queue["arguments"]} for queue in queues}
    assert found == QUEUES
    bindings = rabbitmq_deployment.ask_rabbitmq(
        "list_bindings", "source_name", "destination_name", "routing_key"
    )
    named = {(one["source_name"], one["destination_name"], one["routing_key"]) for one in bindings}
    assert {binding for binding in named if binding[0]} == BINDINGS
    # Celery's events would have a second one
    listed = json.loads(rabbitmqctl("list_connections", "vhost", "--quiet", "--formatter", "json").stdout)
    assert listed.count({"vhost": rabbitmq_deployment.vhost}) == 1
    assert worker.terminate() == 0
    log = worker.read_log()
    assert "info worker_stopping" in log
    assert "(MainProcess)" not in log


def test_a_dead_letter_is_parked(rabbitmq_deployment, channel):
    rabbitmq_deployment.start_ready_worker()
    publish(channel, make_body("dead"), exchange="ragsonde.dead", routing_key="whatever")
    ((queue, reason, message),) = wait_for(
        lambda: rabbitmq_deployment.query(PARKED), seconds=30, what="the parked dead letter"
    )
    assert (queue, reason) == ("ragsonde.traces.dead", "dead_letter")
    assert "dead-lettered by the broker" in message
    assert rabbitmq_deployment.count("SELECT count(*) FROM trace") == 0


def test_a_queue_with_other_arguments_ends_the_worker_with_its_name_and_the_way_out(
    rabbitmq_deployment, channel
):
    channel.queue_declare("ragsonde.traces", durable=True, auto_delete=False)
    for command in (("worker",), ("publish", "-")):
        ended = rabbitmq_deployment.run(*command, stdin=make_body("t").decode())
        assert ended.returncode == 4, ended.stderr
        assert "ragsonde.traces" in ended.stderr
        assert "x-queue-type" in ended.stderr or "x-dead-letter-exchange" in ended.stderr
        assert "rabbitmqctl delete_queue" in ended.stderr
        assert "Traceback" not in ended.stderr


def test_after_its_connections_were_closed_a_worker_is_ready_again_and_scores_everything(
    rabbitmq_deployment,
):
    worker = rabbitmq_deployment.start_ready_worker()
    for turn in range(2):
        rabbitmq_deployment.publish([json.loads(make_body(f"{turn}-{number}")) for number in range(60)])
        rabbitmqctl("close_all_connections", "--vhost", rabbitmq_deployment.vhost, "closed by a test")
    rabbitmq_deployment.wait_until_scored(120)
    wait_for(worker.is_on_broker, seconds=30, what="a ready worker")
    assert rabbitmq_deployment.query(PARKED) == []
    rabbitmq_deployment.publish([json.loads(make_body("afterwards"))])
    rabbitmq_deployment.wait_until_scored(121)
    assert worker.terminate() == os.EX_OK


def test_nothing_that_a_producer_publishes_reaches_the_work_queue(rabbitmq_deployment, channel):
    rabbitmq_deployment.start_ready_worker()
    with pytest.raises(amqp.exceptions.ChannelError, match="NO_ROUTE"):
        publish(channel, make_body("t"), exchange="ragsonde.work", routing_key="anything")
