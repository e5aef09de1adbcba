"""When a block is closed."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.clock import NOON
from ragsonde.regression.block_closing import choose_grace, find_closed_until

NONE = timedelta()
MINUTES = st.timedeltas(timedelta(), timedelta(days=2))


def minutes(number):
    return timedelta(minutes=number)


@pytest.mark.parametrize(
    ("p99", "grace"),
    [(None, 5), (minutes(1), 5), (minutes(5), 5), (minutes(12), 12), (timedelta(days=3), 60)],
)
def test_grace_is_five_minutes_or_the_p99_and_never_more_than_an_hour(p99, grace):
    assert choose_grace(p99) == minutes(grace)


@pytest.mark.parametrize(
    ("now", "grace", "closed"),
    [
        (NOON, 5, NOON - minutes(5)),
        (NOON + minutes(4.99), 5, NOON - minutes(5)),
        (NOON + minutes(5), 5, NOON),
        (NOON + minutes(11), 7, NOON),
        (NOON + minutes(12), 7, NOON + minutes(5)),
    ],
)
def test_a_block_is_closed_when_its_end_is_as_long_ago_as_the_grace(now, grace, closed):
    assert find_closed_until(now, grace=minutes(grace), queue_lag=NONE) == closed


@pytest.mark.parametrize(("lag", "holds"), [(NONE, False), (minutes(4.99), False), (minutes(5), True)])
def test_while_the_queue_lags_by_a_block_nothing_is_closed(lag, holds):
    assert (find_closed_until(NOON, grace=minutes(5), queue_lag=lag) is None) is holds


@given(later=MINUTES, grace=MINUTES)
def test_time_only_adds_blocks_and_each_ended_at_least_the_grace_ago(later, grace):
    first = find_closed_until(NOON, grace=grace, queue_lag=NONE)
    second = find_closed_until(NOON + later, grace=grace, queue_lag=NONE)
    assert first <= second
    assert timedelta() <= NOON + later - grace - second < minutes(5)
