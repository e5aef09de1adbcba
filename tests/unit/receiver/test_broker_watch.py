import threading

import pytest

from ragsonde.receiver.broker_watch import BrokerWatch
from services.waiting import wait_for

AWAY = "amqp://127.0.0.1: connection refused"


class Broker:
    """What a look at the broker finds: what is next on the list, and the last one for ever."""

    def __init__(self, *found):
        self.found, self.looks = list(found), 0
        self.may_look = threading.Event()
        self.may_look.set()

    def find_problem(self):
        self.may_look.wait(timeout=20)
        self.looks += 1
        return self.found.pop(0) if len(self.found) > 1 else self.found[0]


@pytest.fixture
def events(caplog):
    caplog.set_level("INFO", logger="ragsonde.receiver.broker_watch")
    return lambda: [(one.levelname, one.getMessage(), getattr(one, "error", "")) for one in caplog.records]


def watch(broker):
    return BrokerWatch(broker.find_problem, pause_seconds=0.01)


def wait_for_looks(broker, number):
    wait_for(lambda: broker.looks >= number, seconds=10, what="another look")


def test_a_broker_that_is_there_is_no_event(events):
    broker = Broker(None)
    with watch(broker) as watching:
        assert watching.find_problem() is None
        wait_for_looks(broker, 3)
    assert events() == []


def test_one_that_is_away_at_the_start_is_one_event_and_its_return_another(events):
    broker = Broker(AWAY)
    with watch(broker) as watching:
        assert watching.find_problem() == AWAY
        assert watching.is_away()
        wait_for_looks(broker, 10)
        assert events() == [("WARNING", "broker_away", AWAY)]
        broker.found = [None]
        wait_for(lambda: watching.find_problem() is None, seconds=10, what="the broker")
        assert not watching.is_away()
    assert events()[1:] == [("INFO", "broker_back", "")]


def test_one_that_goes_later_is_told(events):
    broker = Broker(None)
    with watch(broker) as watching:
        assert watching.find_problem() is None
        broker.found = [AWAY]
        wait_for(lambda: watching.find_problem() == AWAY, seconds=10, what="the loss")
    assert events() == [("WARNING", "broker_away", AWAY)]


def test_a_connection_that_the_broker_closed_is_no_loss(events):
    broker = Broker(None, AWAY, None, AWAY, None)
    with watch(broker) as watching:
        wait_for_looks(broker, 8)
        assert watching.find_problem() is None
    assert events() == []


def test_before_the_first_look_it_is_not_known_to_be_there():
    broker = Broker(None)
    broker.may_look.clear()
    watching = BrokerWatch(broker.find_problem, first_look_seconds=0.05)
    with watching:
        assert "expected an answer" in watching.find_problem()
        assert not watching.is_away()
        broker.may_look.set()
        wait_for(lambda: watching.find_problem() is None, seconds=10, what="the first look")
