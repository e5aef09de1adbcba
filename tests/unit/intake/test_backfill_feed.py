import pytest
from kombu import Connection, Queue

from ragsonde.intake.backfill_feed import IDLE_TURNS, BackfillFeed, count_places
from ragsonde.intake.topology import BACKFILL


@pytest.mark.parametrize(
    ("threads", "concurrencies", "places"),
    [(16, (), 4), (1, (), 1), (4, (None,), 1), (32, (None, 4), 2), (32, (1,), 1), (8, (100,), 2)],
)
def test_a_quarter_of_the_threads_and_half_of_what_a_judge_bears_at_once(threads, concurrencies, places):
    assert count_places(threads, concurrencies=concurrencies) == places


class Pool:
    """A broker in memory, and a process that holds what it is handed until a test says otherwise."""

    def __init__(self, *, places=2, threads=8):
        self.connection = Connection("memory://")
        self.queue = Queue(BACKFILL, channel=self.connection.default_channel)
        self.queue.declare()
        self.queue.purge()
        self.taken, self.live = [], 0
        self.feed = BackfillFeed(
            self.connection,
            handle=self.taken.append,
            places=places,
            threads=threads,
            count_reserved=lambda: self.live + self.count_held(),
        )

    def count_held(self):
        return sum(not message.acknowledged for message in self.taken)

    def publish(self, count):
        producer = self.connection.Producer(routing_key=BACKFILL)
        for number in range(count):
            producer.publish({"number": number})


@pytest.fixture
def pool():
    pool = Pool()
    yield pool
    pool.connection.close()


def test_it_holds_no_more_than_its_places_and_takes_the_next_when_one_is_done(pool):
    pool.publish(5)
    pool.feed.turn()
    pool.feed.turn()
    assert len(pool.taken) == 2
    pool.taken[0].ack()
    pool.feed.turn()
    assert len(pool.taken) == 3
    for message in pool.taken:
        if not message.acknowledged:
            message.requeue()
    pool.feed.turn()
    assert len(pool.taken) == 5


@pytest.mark.parametrize(("live", "taken"), [(0, 2), (3, 2), (4, 0), (8, 0)])
def test_it_takes_nothing_while_live_deliveries_hold_half_of_the_threads(pool, live, taken):
    pool.publish(5)
    pool.live = live
    pool.feed.turn()
    assert len(pool.taken) == taken


def test_an_empty_queue_is_left_alone_for_some_turns(pool):
    pool.feed.turn()
    pool.publish(1)
    for _ in range(IDLE_TURNS):
        pool.feed.turn()
    assert pool.taken == []
    pool.feed.turn()
    assert len(pool.taken) == 1


def test_a_broker_that_is_away_is_no_reason_to_fail(pool, monkeypatch, caplog):
    pool.publish(1)

    def fail():
        raise pool.connection.connection_errors[0]("reset")

    monkeypatch.setattr(pool.connection, "channel", fail)
    pool.feed.turn()
    assert pool.taken == []
    assert [record.message for record in caplog.records] == ["backfill_queue_not_read"]
