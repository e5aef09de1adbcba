"""The journal: what was popped and not noted is not lost."""

import json
from urllib.parse import urlsplit

import pytest
import redis
from kombu import Connection

from ragsonde.intake.broker_urls import name_transport
from ragsonde.intake.journal import _PAGE
from ragsonde.intake.publisher import Publisher
from ragsonde.intake.topology import TRACES, build_own_queues
from ragsonde.intake.unacked import restore_unacked
from ragsonde.intake.valkey_transport import JOURNAL

pytestmark = pytest.mark.integration


@pytest.fixture
def url(embedded_valkey):
    return embedded_valkey[1]


@pytest.fixture
def store(url):
    with redis.Redis(unix_socket_path=urlsplit(url).path, decode_responses=True) as client:
        client.flushall()
        yield client


@pytest.fixture
def publisher(url, store):  # noqa: ARG001 - an emptied broker
    opened = Publisher(url)
    yield opened
    opened.close()


def publish(publisher, count):
    for number in range(count):
        publisher.publish_trace(b"%d" % number, content_type=None)


def take_all(url):
    """The bodies in the queue, acked."""
    found = []
    with Connection(name_transport(url)) as connection, connection.channel() as channel:
        while (message := channel.basic_get(TRACES)) is not None:
            found.append(bytes(message.body))
            message.ack()
    return found


def test_a_message_is_in_the_journal_until_it_is_acked(url, store, publisher):
    publish(publisher, 3)
    assert store.hlen(JOURNAL) == store.llen(TRACES) == 3
    assert take_all(url) == [b"0", b"1", b"2"]
    assert store.hlen(JOURNAL) == 0


def test_a_message_that_was_popped_and_not_noted_comes_back_once_with_its_redelivery_marked(
    url, store, publisher
):
    publish(publisher, 3)
    store.rpop(TRACES)  # the worker is killed here
    assert restore_unacked(url) == 1
    assert json.loads(store.lindex(TRACES, -1))["properties"]["delivery_info"]["redelivered"] is True
    assert restore_unacked(url) == 0
    assert take_all(url) == [b"0", b"1", b"2"]


def test_what_waits_in_a_queue_longer_than_a_page_is_not_taken_for_lost(url, store, publisher):
    publish(publisher, _PAGE + 3)
    assert restore_unacked(url) == 0
    assert store.llen(TRACES) == _PAGE + 3


def test_a_message_that_is_put_back_can_be_lost_and_comes_back_again(url, store, publisher):
    publish(publisher, 1)
    for _ in range(3):
        store.rpop(TRACES)
        assert restore_unacked(url) == 1
    assert take_all(url) == [b"0"]
    assert store.hlen(JOURNAL) == 0


def test_a_message_that_was_given_back_stays_in_the_journal(url, store, publisher):
    publish(publisher, 1)
    with Connection(name_transport(url)) as connection, connection.channel() as channel:
        for queue in build_own_queues(is_amqp=False):
            queue(channel).declare()
        channel.basic_get(TRACES).reject(requeue=True)
    assert store.hlen(JOURNAL) == store.llen(TRACES) == 1
    store.rpop(TRACES)
    assert restore_unacked(url) == 1
    assert take_all(url) == [b"0"]


def test_messages_of_exchanges_that_are_not_ours_are_left_alone(store, url):
    entry = json.dumps([{"properties": {"delivery_tag": "t"}}, "somebody's", "key"])
    store.hset(JOURNAL, "t", entry)
    assert restore_unacked(url) == 0
    assert store.hget(JOURNAL, "t") == entry
