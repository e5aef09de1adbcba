"""Nobody waits for a sink: what it cannot take is tried again, then dropped and counted."""

from __future__ import annotations

import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.score_events import make_event
from ragsonde.sinks.delivery import DeliveryError
from ragsonde.sinks.outbox import Outbox

AWAY = DeliveryError("cannot be reached: ConnectionRefusedError")


class Place:
    """Takes batches, unless it is told otherwise; may be shut until it is opened."""

    def __init__(self, *troubles, is_open=True) -> None:
        self.batches: list[list[str]] = []
        self.attempts = 0
        self.begun = threading.Event()
        self.opened = threading.Event()
        if is_open:
            self.opened.set()
        self._troubles = list(troubles)

    def deliver(self, batch) -> int:
        self.attempts += 1
        self.begun.set()
        assert self.opened.wait(20)
        trouble = self._troubles.pop(0) if self._troubles else 0
        if isinstance(trouble, Exception):
            raise trouble
        self.batches.append([event.trace_id for event in batch])
        return trouble


class Counts:
    def __init__(self) -> None:
        self.sent = self.dropped = 0

    def add_sent(self, number) -> None:
        self.sent += number

    def add_dropped(self, number) -> None:
        self.dropped += number


def make_outbox(place, *, pauses=None, **changes):
    counts = Counts()
    limits = {"size": 100, "batch": 10, "attempts": 3} | changes
    pauses = [] if pauses is None else pauses
    outbox = Outbox(
        "hook", place, on_sent=counts.add_sent, on_dropped=counts.add_dropped, pause=pauses.append, **limits
    )
    return outbox, counts


def events(number, *, first=0):
    return [make_event(first + one) for one in range(number)]


def test_what_is_put_is_delivered_in_order_and_in_batches():
    place = Place(is_open=False)
    outbox, counts = make_outbox(place, batch=2)
    outbox.put(events(1))
    assert place.begun.wait(20)
    outbox.put(events(4, first=1))
    place.opened.set()
    outbox.close()
    assert place.batches == [["t-0"], ["t-1", "t-2"], ["t-3", "t-4"]]
    assert (counts.sent, counts.dropped) == (5, 0)


def test_put_returns_while_the_sink_hangs_and_what_finds_no_room_is_counted():
    place = Place(is_open=False)
    outbox, counts = make_outbox(place, size=3)
    outbox.put(events(1))
    assert place.begun.wait(20)
    outbox.put(events(5, first=1))
    assert counts.dropped == 2
    place.opened.set()
    outbox.close()
    assert (counts.sent, counts.dropped) == (4, 2)


def test_a_sink_that_is_away_is_asked_again_after_growing_pauses():
    place, pauses = Place(AWAY, AWAY, AWAY), []
    outbox, counts = make_outbox(place, pauses=pauses, attempts=4)
    done = threading.Event()
    outbox._on_sent = lambda number: (counts.add_sent(number), done.set())
    outbox.put(events(2))
    assert done.wait(20)
    outbox.close()
    assert pauses == [0.5, 1.0, 2.0]
    assert (counts.sent, counts.dropped) == (2, 0)


def drop_one(place, **changes):
    """What became of one result that is dropped, and the pauses before."""
    pauses = []
    outbox, counts = make_outbox(place, pauses=pauses, **changes)
    done = threading.Event()
    outbox._on_dropped = lambda number: (counts.add_dropped(number), done.set())
    outbox.put(events(1))
    assert done.wait(20)
    outbox.close()
    return counts, pauses


def test_after_the_last_attempt_a_batch_is_dropped_and_counted():
    place = Place(AWAY, AWAY, AWAY, AWAY)
    counts, _ = drop_one(place)
    assert (place.attempts, counts.sent, counts.dropped) == (3, 0, 1)


def test_a_refusal_for_good_is_not_tried_again():
    place = Place(DeliveryError("answered 400", is_final=True))
    counts, pauses = drop_one(place)
    assert (place.attempts, counts.dropped, pauses) == (1, 1, [])


@pytest.mark.parametrize(("asked", "waited"), [(7.0, 7.0), (0.1, 0.5), (9_999.0, 60.0)])
def test_what_the_other_side_asks_for_is_waited_within_reason(asked, waited):
    trouble = DeliveryError("answered 429", retry_after_seconds=asked)
    _, pauses = drop_one(Place(trouble, trouble), attempts=2)
    assert pauses == [waited]


def test_any_exception_of_a_foreign_sink_costs_its_own_results_only():
    place = Place(RuntimeError("of a package"), RuntimeError("of a package"), RuntimeError("of a package"))
    counts, _ = drop_one(place)
    assert (place.attempts, counts.dropped) == (3, 1)


def test_results_that_the_other_side_refuses_count_as_dropped():
    place = Place(1)
    outbox, counts = make_outbox(place)
    outbox.put(events(3))
    outbox.close()
    assert (counts.sent, counts.dropped) == (2, 1)


class TakesAllOddly(Place):
    """Takes every batch and returns what its contract does not know; then it is well behaved."""

    def __init__(self, returned) -> None:
        super().__init__()
        self._returned = [returned]

    def deliver(self, batch):
        super().deliver(batch)
        return self._returned.pop() if self._returned else 0


@pytest.mark.parametrize("returned", [None, "2", 0.0, True, -1, 3, [], object()])
def test_a_sink_that_returns_nonsense_costs_that_batch_and_the_next_is_delivered(returned, caplog):
    place = TakesAllOddly(returned)
    outbox, counts = make_outbox(place, batch=2)
    outbox.put(events(4))
    outbox.close()
    assert place.batches == [["t-0", "t-1"], ["t-2", "t-3"]]
    assert (counts.sent, counts.dropped) == (2, 2)
    (record,) = [one for one in caplog.records if one.message == "score_sink_dropped"]
    assert "expected how many of 2 were refused" in record.error


class OddDelayError(DeliveryError):
    def __init__(self, asked) -> None:
        super().__init__("away")
        self.retry_after_seconds = asked


class OddWordsError(DeliveryError):
    def __str__(self) -> str:
        raise RuntimeError("has no words")


@pytest.mark.parametrize(
    "trouble",
    [
        SystemExit(1),
        KeyboardInterrupt(),
        OddDelayError("7"),
        OddDelayError(float("nan")),
        OddDelayError(-5),
        OddWordsError("x"),
    ],
)
def test_whatever_a_sink_raises_its_thread_goes_on(trouble):
    place = RaisesAnything(trouble)
    outbox, counts = make_outbox(place, batch=1, attempts=1)
    outbox.put(events(2))
    outbox.close()
    assert place.batches == [["t-1"]]
    assert (counts.sent, counts.dropped) == (1, 1)


@pytest.mark.parametrize("asked", ["7", float("nan"), float("inf"), -5, None])
def test_a_delay_that_is_none_is_not_waited(asked):
    counts, pauses = drop_one(Place(OddDelayError(asked), OddDelayError(asked)), attempts=2)
    assert (pauses, counts.dropped) == ([0.5], 1)


class RaisesAnything(Place):
    def deliver(self, batch):
        trouble = self._troubles.pop(0) if self._troubles else None
        if trouble is not None:
            raise trouble
        return super().deliver(batch)


def test_a_counter_that_fails_does_not_end_the_thread():
    place = Place()
    outbox, counts = make_outbox(place, batch=1)
    calls = []

    def count(number):
        calls.append(number)
        if len(calls) == 1:
            raise RuntimeError("of a counter")
        counts.add_sent(number)

    outbox._on_sent = count
    outbox.put(events(2))
    outbox.close()
    assert (len(place.batches), counts.sent) == (2, 1)


def test_closing_drops_what_a_hanging_sink_never_took_and_what_it_holds():
    place = Place(is_open=False)
    outbox, counts = make_outbox(place, size=9, batch=4)
    outbox.put(events(9))
    assert place.begun.wait(20)
    outbox.close(seconds=0.0)
    assert (counts.sent, counts.dropped) == (0, 9)


@pytest.mark.parametrize("trouble", [0, 1, AWAY])
def test_an_answer_after_closing_is_not_told_twice(trouble):
    place = Place(trouble, is_open=False)
    outbox, counts = make_outbox(place, batch=2)
    outbox.put(events(3))
    assert place.begun.wait(20)
    outbox.close(seconds=0.0)
    place.opened.set()
    outbox._thread.join(20)
    assert not outbox._thread.is_alive()
    assert (counts.sent, counts.dropped) == (0, 3)


def test_a_closed_outbox_takes_nothing_and_says_so():
    outbox, counts = make_outbox(Place())
    outbox.close()
    outbox.put(events(2))
    assert counts.dropped == 2


@given(st.lists(st.integers(0, 7), max_size=8), st.integers(1, 10), st.integers(1, 4))
def test_what_is_put_is_sent_or_dropped_and_nothing_else(sizes, size, batch):
    place = Place()
    outbox, counts = make_outbox(place, size=size, batch=batch)
    for number in sizes:
        outbox.put(events(number))
    outbox.close()
    assert counts.sent + counts.dropped == sum(sizes)
    assert sum(map(len, place.batches)) == counts.sent
