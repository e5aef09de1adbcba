import threading

import pytest

from fakes.receiver import ListPublisher
from ragsonde.receiver.publishing import SharedPublishers
from ragsonde_schemas.errors import BrokerLostError, SetupError


class Time:
    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


def fail(publisher, *, times, time=None, seconds=0.0):
    """Makes the next calls fail, each after so many seconds."""
    left = [times]

    def act():
        if left[0] > 0:
            left[0] -= 1
            if time is not None:
                time.now += seconds
            raise BrokerLostError("amqp://127.0.0.1: connection refused")

    publisher.on_publish = act


def test_the_connection_that_was_used_last_is_used_again():
    first, second = ListPublisher(), ListPublisher()
    shared = SharedPublishers([first, second])
    for _ in range(5):
        shared.publish_trace(b"x", content_type=None)
    assert sorted([len(first.bodies), len(second.bodies)]) == [0, 5]


def test_no_connection_is_used_by_two_threads_at_once():
    inside, most = [0], [0]
    lock = threading.Lock()
    both = threading.Barrier(2, timeout=10)

    def note():
        with lock:
            inside[0] += 1
            most[0] = max(most[0], inside[0])
        both.wait()
        with lock:
            inside[0] -= 1

    publishers = [ListPublisher(on_publish=note) for _ in range(2)]
    shared = SharedPublishers(publishers)
    threads = [
        threading.Thread(target=shared.publish_trace, args=(b"x",), kwargs={"content_type": None})
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=10)
    assert most[0] == 2
    assert sum(len(one.bodies) for one in publishers) == 4


def test_an_idle_connection_that_was_closed_costs_nobody_an_answer():
    publisher = ListPublisher()
    fail(publisher, times=1)
    SharedPublishers([publisher]).publish_trace(b"x", content_type="application/json")
    assert publisher.published == [(b"x", "application/json")]


def test_what_fails_twice_is_an_error_the_log_knows_why_and_the_connection_is_free_again(caplog):
    time, publisher = Time(), ListPublisher()
    fail(publisher, times=2)
    shared = SharedPublishers([publisher], monotonic=time)
    with pytest.raises(BrokerLostError, match="away, or its queue is full"):
        shared.publish_trace(b"x", content_type=None)
    time.now += 2.1
    shared.publish_trace(b"y", content_type=None)
    assert publisher.bodies == [b"y"]
    assert "connection refused" in caplog.records[0].error


def test_a_broker_that_is_known_to_be_away_is_not_tried():
    publisher, away = ListPublisher(), [True]
    shared = SharedPublishers([publisher], is_away=lambda: away[0])
    with pytest.raises(BrokerLostError, match="away"):
        shared.publish_trace(b"x", content_type=None)
    assert publisher.attempts == 0
    away[0] = False
    shared.publish_trace(b"y", content_type=None)
    assert publisher.bodies == [b"y"]


def test_a_full_queue_is_not_asked_again_by_every_thread():
    time, publisher = Time(), ListPublisher(room=0)
    shared = SharedPublishers([publisher], monotonic=time)
    for _ in range(5):
        with pytest.raises(BrokerLostError):
            shared.publish_trace(b"x", content_type=None)
    assert publisher.attempts == 2


def test_a_queue_of_another_make_is_unconfirmed_for_a_client_and_told_in_the_log(caplog):
    def fail_setup():
        raise SetupError("ragsonde.traces: x-queue-type differs")

    with pytest.raises(BrokerLostError, match="away"):
        SharedPublishers([ListPublisher(on_publish=fail_setup)]).publish_trace(b"x", content_type=None)
    assert [record.error for record in caplog.records] == ["ragsonde.traces: x-queue-type differs"]


def test_a_broker_that_keeps_one_waiting_is_asked_by_nobody_for_two_seconds():
    time, publisher = Time(), ListPublisher()
    fail(publisher, times=1, time=time, seconds=6.0)
    shared = SharedPublishers([publisher], monotonic=time)
    with pytest.raises(BrokerLostError):
        shared.publish_trace(b"x", content_type=None)
    assert publisher.attempts == 1
    time.now += 1.9
    with pytest.raises(BrokerLostError, match="away"):
        shared.publish_trace(b"x", content_type=None)
    assert publisher.attempts == 1
    time.now += 0.2
    shared.publish_trace(b"x", content_type=None)
    assert publisher.bodies == [b"x"]
