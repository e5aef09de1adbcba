"""The embedded broker as kombu and Celery use it, and what comes back after a kill."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest
import redis
from kombu import Connection, Exchange, Queue

from ragsonde.intake.unacked import restore_unacked, worker_presence
from ragsonde.servers.valkey import EmbeddedValkey

pytestmark = pytest.mark.integration

HERE = Path(__file__).parent
TOPIC = Exchange("traces", type="topic")
DIRECT = Exchange("work", type="direct")
QUEUES = [
    Queue("q.topic", TOPIC, routing_key="#"),
    Queue("q.direct", DIRECT, routing_key="now"),
    Queue("q.default"),
]
ROUTES = {
    "q.topic": {"exchange": TOPIC, "routing_key": "shop.production"},
    "q.direct": {"exchange": DIRECT, "routing_key": "now"},
    "q.default": {"routing_key": "q.default"},
}
OPTIONS = {"visibility_timeout": 600, "unacked_restore_interval": 5, "unacked_restore_throttle": 1}

# fetches from the queues without acking, says how many it has, and waits
HOARDER = """
import json, sys
from kombu import Connection
url, count, *queues = sys.argv[1:]
with Connection(url, transport_options=%r) as connection:
    channel = connection.channel()
    for queue in queues:
        for _ in range(int(count)):
            assert channel.basic_get(queue) is not None
    print("fetched", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def url(directory):
    with EmbeddedValkey(directory / "broker") as server:
        yield server.url


@pytest.fixture
def connection(url):
    with Connection(url, transport_options=OPTIONS) as opened:
        for queue in QUEUES:
            queue(opened.channel()).declare()
        yield opened


@pytest.fixture
def store(url):
    path = url.removeprefix("redis+socket://").partition("?")[0]
    with redis.Redis(unix_socket_path=path) as client:
        yield client


def publish(connection: Connection, queue: str, bodies, **properties) -> None:
    producer = connection.Producer()
    for body in bodies:
        producer.publish(body, **ROUTES[queue], **properties)


def fetch_all(connection: Connection, queue: str) -> list:
    """Everything in a queue, in order, acked."""
    channel = connection.channel()
    messages = []
    while (message := channel.basic_get(queue)) is not None:
        message.ack()
        messages.append(message)
    return messages


def bodies(messages) -> list:
    return [message.decode() for message in messages]


def hoard(url: str, count: int, *queues: str) -> None:
    """A worker fetches so many of each queue and is killed."""
    with subprocess.Popen(
        [sys.executable, "-c", HOARDER % OPTIONS, url, str(count), *queues],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"fetched\n"
        process.kill()


@pytest.mark.parametrize("queue", list(ROUTES))
def test_what_is_published_is_consumed(connection, queue):
    publish(connection, queue, [{"n": 1}, {"n": 2}])

    assert bodies(fetch_all(connection, queue)) == [{"n": 1}, {"n": 2}]


@pytest.mark.parametrize("queue", list(ROUTES))
def test_what_a_killed_worker_had_fetched_comes_back_first_and_in_order(url, connection, store, queue):
    publish(connection, queue, range(5))
    hoard(url, 3, queue)
    assert store.hlen("unacked") == 3

    assert restore_unacked(url) == 3

    messages = fetch_all(connection, queue)
    assert bodies(messages) == [0, 1, 2, 3, 4]
    assert [message.delivery_info.get("redelivered", False) for message in messages] == [True] * 3 + [
        False
    ] * 2
    assert (store.hlen("unacked"), store.zcard("unacked_index")) == (0, 0)


def test_each_message_comes_back_to_its_own_queue(url, connection):
    for number, queue in enumerate(ROUTES):
        publish(connection, queue, [number])
    hoard(url, 1, *ROUTES)

    assert restore_unacked(url) == 3
    assert [bodies(fetch_all(connection, queue)) for queue in ROUTES] == [[0], [1], [2]]


def test_bodies_headers_and_priorities_come_back_as_they_were(url, connection):
    publish(
        connection,
        "q.topic",
        [b"\x00\xff bytes"],
        content_type="application/x-protobuf",
        content_encoding="binary",
        headers={"traceparent": "00-1-2-03", "größe": 3},
        priority=6,
    )
    hoard(url, 1, "q.topic")

    restore_unacked(url)

    [message] = fetch_all(connection, "q.topic")
    assert (bytes(message.body), message.content_type) == (b"\x00\xff bytes", "application/x-protobuf")
    assert message.headers == {"traceparent": "00-1-2-03", "größe": 3, "redelivered": True}
    assert message.properties["priority"] == 6


def test_restoring_again_does_nothing(url, connection):
    publish(connection, "q.topic", range(3))
    hoard(url, 3, "q.topic")

    assert [restore_unacked(url) for _ in range(3)] == [3, 0, 0]
    assert bodies(fetch_all(connection, "q.topic")) == [0, 1, 2]


def test_a_message_that_leads_to_no_queue_stays_where_it_is(url, connection, store):
    publish(connection, "q.direct", [1])
    hoard(url, 1, "q.direct")
    bindings = store.smembers("_kombu.binding.work")
    store.delete("_kombu.binding.work")

    assert restore_unacked(url) == 0
    assert store.hlen("unacked") == 1

    store.sadd("_kombu.binding.work", *bindings)
    assert restore_unacked(url) == 1
    assert bodies(fetch_all(connection, "q.direct")) == [1]


def test_the_lock_of_a_worker_killed_while_it_looked_for_overdue_messages_is_removed(url, store):
    store.set("unacked_mutex", "somebody", ex=300)

    restore_unacked(url)

    assert store.exists("unacked_mutex") == 0


def test_an_index_entry_without_its_message_is_dropped(url, connection, store):
    publish(connection, "q.topic", [1])
    hoard(url, 1, "q.topic")
    store.delete("unacked")

    assert restore_unacked(url) == 0
    assert store.zcard("unacked_index") == 0


# restores until the message of that number is about to be moved, and is killed
CUT_OFF = """
import os, signal, sys
from ragsonde.intake import unacked
choose, left = unacked._list_key, [int(sys.argv[2])]
def choose_or_die(queue, payload):
    left[0] -= 1
    if left[0] == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    return choose(queue, payload)
unacked._list_key = choose_or_die
unacked.restore_unacked(sys.argv[1])
"""


def test_a_kill_in_the_middle_loses_none_and_doubles_none(url, connection, store):
    publish(connection, "q.topic", range(30))
    hoard(url, 30, "q.topic")

    cut_off = subprocess.run([sys.executable, "-c", CUT_OFF, url, "20"], check=False)

    assert cut_off.returncode == -signal.SIGKILL
    assert (store.llen("q.topic"), store.hlen("unacked")) == (19, 11)
    assert restore_unacked(url) == 11
    assert sorted(bodies(fetch_all(connection, "q.topic"))) == list(range(30))


class TestWorkerPresence:
    def test_the_first_worker_restores(self, url, connection, directory):
        publish(connection, "q.topic", range(3))
        hoard(url, 3, "q.topic")

        with worker_presence(directory, broker_url=url) as restored:
            assert restored == 3

    def test_a_second_worker_leaves_alone_what_the_first_works_on(self, url, connection, directory):
        publish(connection, "q.topic", range(3))
        with worker_presence(directory, broker_url=url):
            hoard(url, 3, "q.topic")
            with worker_presence(directory, broker_url=url) as restored:
                assert restored == 0
        with worker_presence(directory, broker_url=url) as restored:
            assert restored == 3
