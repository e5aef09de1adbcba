import threading

import pytest

from fakes.receiver import ListPublisher
from ragsonde.receiver.publishing import SharedPublishers
from ragsonde_schemas.errors import BrokerLostError


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


def test_what_fails_twice_is_an_error_and_the_connection_is_free_again():
    publisher = ListPublisher()
    fail(publisher, times=2)
    shared = SharedPublishers([publisher])
    with pytest.raises(BrokerLostError, match="refused"):
        shared.publish_trace(b"x", content_type=None)
    shared.publish_trace(b"y", content_type=None)
    assert publisher.bodies == [b"y"]


def test_a_broker_that_keeps_one_waiting_is_asked_by_nobody_for_two_seconds():
    time, publisher = Time(), ListPublisher()
    fail(publisher, times=1, time=time, seconds=6.0)
    shared = SharedPublishers([publisher], monotonic=time)
    with pytest.raises(BrokerLostError):
        shared.publish_trace(b"x", content_type=None)
    assert publisher.attempts == 1
    time.now += 1.9
    with pytest.raises(BrokerLostError, match="a moment ago"):
        shared.publish_trace(b"x", content_type=None)
    assert publisher.attempts == 1
    time.now += 0.2
    shared.publish_trace(b"x", content_type=None)
    assert publisher.bodies == [b"x"]
