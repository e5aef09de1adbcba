"""What a publisher declares, when, and how it mends what was deleted."""

from __future__ import annotations

from contextlib import ExitStack
from datetime import date

import amqp
import pytest

from ragsonde.cli.broker_connection import open_publisher
from ragsonde.intake.publisher import Publisher
from ragsonde_schemas.errors import BrokerLostError, SetupError
from ragsonde_schemas.evaluation import EvaluationKey
from ragsonde_schemas.trace import TraceKey
from services.plain_amqp import open_channel
from services.rabbitmq import own_vhost, require_rabbitmq

pytestmark = pytest.mark.integration

KEY = EvaluationKey(
    trace=TraceKey(app="shop", trace_id="t", day=date(2026, 6, 15)),
    revision=1,
    judge="lexical",
    fingerprint="0123456789abcdef",
)


@pytest.fixture
def url():
    require_rabbitmq()
    with own_vhost() as made:
        yield made


@pytest.fixture
def channel(url):
    with open_channel(url) as opened:
        yield opened


@pytest.fixture
def publisher(url):
    opened = Publisher(url)
    yield opened
    opened.close()


@pytest.fixture
def declared(monkeypatch):
    """The names of the queues that py-amqp was asked to declare, not only to look at, in order."""
    names = []
    declare = amqp.Channel.queue_declare

    def note(self, queue="", passive=False, **rest):  # noqa: FBT002 - py-amqp's signature
        if not passive:
            names.append(queue)
        return declare(self, queue, passive, **rest)

    monkeypatch.setattr(amqp.Channel, "queue_declare", note)
    return names


def has_queue(url, name):
    with open_channel(url) as asking:
        try:
            asking.queue_declare(name, passive=True)
        except amqp.NotFound:
            return False
    return True


def test_the_topology_is_declared_once_on_a_connection_whatever_is_called(publisher, declared):
    for _ in range(3):
        publisher.publish_work([KEY])
        publisher.publish_trace(b"x", content_type=None)
        publisher.declare_topology()
    assert publisher.count_messages() == {
        "ragsonde.traces": 3,
        "ragsonde.work": 3,
        "ragsonde.backfill": 0,
        "ragsonde.traces.dead": 0,
    }
    assert sorted(declared) == [
        "ragsonde.backfill",
        "ragsonde.traces",
        "ragsonde.traces.dead",
        "ragsonde.work",
    ]


@pytest.mark.parametrize("call", ["publish_work", "count_messages"])
def test_a_queue_that_was_deleted_is_told_of_once_and_declared_again(publisher, channel, call):
    def act():
        return publisher.publish_work([KEY]) if call == "publish_work" else publisher.count_messages()

    act()
    channel.queue_delete("ragsonde.work")
    with pytest.raises(BrokerLostError, match=r"NO_ROUTE|no queue 'ragsonde\.work'"):
        act()
    act()
    publisher.publish_work([KEY])
    assert publisher.count_messages()["ragsonde.work"] >= 1


@pytest.mark.parametrize("call", ["declare_topology", "count_messages"])
def test_other_arguments_are_a_clear_error_each_time(publisher, channel, call):
    channel.queue_declare("ragsonde.work", durable=True, auto_delete=False)
    for _ in range(2):
        with pytest.raises(SetupError, match=r"ragsonde\.work.*rabbitmqctl delete_queue"):
            getattr(publisher, call)()
    channel.queue_delete("ragsonde.work")
    getattr(publisher, call)()


def test_who_only_looks_declares_nothing(url):
    looking = Publisher(url, declares=False)
    try:
        assert [queue.exists for queue in looking.look_up(["otlp_spans"])] == [False]
        with pytest.raises(BrokerLostError, match=r"ragsonde\.traces"):
            looking.count_messages()
    finally:
        looking.close()
    assert not has_queue(url, "ragsonde.traces")


def test_confirms_are_always_on(url):
    publisher = Publisher(url)
    try:
        assert publisher._connection.transport_options["confirm_publish"] is True
    finally:
        publisher.close()


def test_closing_does_not_wait_for_a_call_that_hangs(url):
    publisher = Publisher(url)
    publisher.declare_topology()
    with publisher._lock:  # another thread's call
        publisher.close()
    assert publisher._connection.connected
    publisher.close()
    assert not publisher._connection.connected


def test_a_missing_foreign_queue_is_missing_on_the_embedded_broker_too(embedded_valkey):
    publisher = Publisher(embedded_valkey[1])
    try:
        assert [queue.exists for queue in publisher.look_up(["otlp_spans"])] == [False]
    finally:
        publisher.close()


def test_a_monitor_closes_its_connections(url):
    with ExitStack() as stack:
        opened = [open_publisher(url, stack) for _ in range(3)]
        for one in opened:
            one.declare_topology()
        assert all(one._connection.connected for one in opened)
    assert not any(one._connection.connected for one in opened)
