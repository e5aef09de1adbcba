from __future__ import annotations

from fakes.clock import FakeClock
from ragsonde.judging.circuit import PROBE_SECONDS, Circuit, Entry
from ragsonde.judging.options import CircuitOptions

IN = Entry(None)
PROBE = Entry(None, is_probe=True)


class Breaker:
    """A circuit that opens after 3 outages for 10 s, on a clock that stands."""

    def __init__(self, **options):
        self.clock = FakeClock()
        self.told = []
        given = {"failures": 3, "open_seconds": 10, "longest_open_seconds": 35, **options}
        self.circuit = Circuit(
            CircuitOptions(**given), monotonic=self.clock.monotonic, on_change=self.told.append
        )

    def fail(self, times=1, *, is_probe=False, **options):
        for _ in range(times):
            self.circuit.fail(is_probe=is_probe, **options)

    def fail_probe(self, **options):
        assert self.circuit.enter() == PROBE
        self.fail(is_probe=True, **options)


def test_outages_in_a_row_open_it_and_an_answer_between_them_starts_the_count_again():
    breaker = Breaker()
    breaker.fail(2)
    breaker.circuit.succeed(is_probe=False)
    breaker.fail(2)
    assert breaker.circuit.enter() == IN
    breaker.fail()
    assert breaker.circuit.enter() == Entry(10)
    assert breaker.told == [True]


def test_one_probe_alone_is_let_through_when_the_time_is_over_and_its_answer_closes():
    breaker = Breaker()
    breaker.fail(3)
    breaker.clock.advance(9)
    assert breaker.circuit.enter() == Entry(1)
    breaker.clock.advance(1)
    assert breaker.circuit.enter() == PROBE
    assert breaker.circuit.enter() == Entry(PROBE_SECONDS)
    breaker.circuit.succeed(is_probe=True)
    assert breaker.circuit.enter() == IN
    assert breaker.told == [True, False]


def test_each_failed_probe_doubles_the_time_up_to_the_longest_and_an_answer_forgets_it():
    breaker = Breaker()
    breaker.fail(3)
    for seconds in (10, 20, 35, 35):
        assert breaker.circuit.enter() == Entry(seconds)
        breaker.clock.advance(seconds)
        breaker.fail_probe()
    breaker.clock.advance(35)
    assert breaker.circuit.enter() == PROBE
    breaker.circuit.succeed(is_probe=True)
    breaker.fail(3)
    assert breaker.circuit.enter() == Entry(10)
    assert breaker.told == [True, False, True]


def test_a_retry_after_opens_it_at_once_for_so_long_and_is_no_outage_in_a_row():
    breaker = Breaker()
    for _ in range(5):
        breaker.fail(retry_after_seconds=4)
        assert breaker.circuit.enter() == Entry(4)
        breaker.clock.advance(4)
    breaker.fail_probe(retry_after_seconds=2)
    assert breaker.circuit.enter() == Entry(2)


def test_a_retry_after_of_nothing_is_an_outage_like_any_other():
    breaker = Breaker()
    breaker.fail(3, retry_after_seconds=0.0)
    assert breaker.circuit.enter() == Entry(10)


def test_the_longer_of_two_waits_holds():
    breaker = Breaker()
    breaker.fail(retry_after_seconds=30)
    breaker.fail(retry_after_seconds=3)
    assert breaker.circuit.enter() == Entry(30)


def test_calls_that_were_begun_before_it_opened_neither_close_nor_prolong_nor_end_its_probe():
    breaker = Breaker()
    breaker.fail(3)
    breaker.circuit.succeed(is_probe=False)
    breaker.clock.advance(5)
    breaker.fail(10)
    assert breaker.circuit.enter() == Entry(5)
    breaker.clock.advance(5)
    assert breaker.circuit.enter() == PROBE
    breaker.fail()
    breaker.circuit.leave(is_probe=False)
    breaker.circuit.succeed(is_probe=False)
    assert breaker.circuit.enter() == Entry(PROBE_SECONDS)


def test_a_probe_that_was_not_made_leaves_the_place_to_the_next():
    breaker = Breaker()
    breaker.fail(3)
    breaker.clock.advance(10)
    assert breaker.circuit.enter() == PROBE
    breaker.circuit.leave(is_probe=True)
    assert breaker.circuit.enter() == PROBE
