"""How much evidence a page needs."""

import math

import pytest

from ragsonde.regression.threshold import (
    count_active,
    count_active_by_day,
    find_log_blocks,
    find_page_threshold,
)

DAY = 86_400


def test_a_page_needs_365_days_for_each_stream():
    assert [find_page_threshold(streams) for streams in (0, 1, 12)] == [365, 365, 4380]


def test_a_stream_counts_for_seven_days_after_its_last_trace():
    last = [0.0, 3 * DAY - 1.0, 3 * DAY, 9.5 * DAY]
    assert count_active(last, day_start=10 * DAY) == 2
    assert count_active([], day_start=10 * DAY) == 0


def test_days_are_288_blocks():
    assert find_log_blocks(30) == pytest.approx(math.log(8640))


def test_a_day_counts_the_streams_that_had_traces_in_the_seven_days_before_it():
    active = count_active_by_day([[0, 1], [3], []])
    assert [active[day] for day in range(12)] == [0, 1, 1, 1, 2, 2, 2, 2, 2, 1, 1, 0]
