from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ragsonde.servers.backoff import Backoff


def test_the_pause_doubles_up_to_the_longest():
    backoff = Backoff(shortest_seconds=0.5, longest_seconds=3.0, calm_seconds=60.0)

    assert [backoff.delay_after_life(1.0) for _ in range(5)] == [0.5, 1.0, 2.0, 3.0, 3.0]


def test_a_long_life_makes_the_next_death_a_first_one():
    backoff = Backoff(shortest_seconds=0.5, longest_seconds=30.0, calm_seconds=60.0)
    for _ in range(4):
        backoff.delay_after_life(0.1)

    assert backoff.delay_after_life(60.0) == 0.5
    assert backoff.delay_after_life(0.1) == 1.0


@given(lives=st.lists(st.floats(min_value=0.0, max_value=1e6), max_size=50))
def test_every_pause_lies_between_the_shortest_and_the_longest(lives):
    backoff = Backoff(shortest_seconds=0.25, longest_seconds=7.0, calm_seconds=10.0)

    assert all(0.25 <= backoff.delay_after_life(life) <= 7.0 for life in lives)
