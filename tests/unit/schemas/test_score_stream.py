"""Blocks and bins."""

from datetime import UTC, datetime, timedelta, timezone
from decimal import ROUND_CEILING, Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragsonde_schemas.score_stream import BLOCK, begin_block, block_at, find_bin

MOMENTS = st.datetimes(
    datetime(1960, 1, 1),  # noqa: DTZ001 - hypothesis wants it naive
    datetime(2100, 1, 1),  # noqa: DTZ001
    timezones=st.sampled_from([UTC, timezone(timedelta(hours=5, minutes=45)), timezone(-timedelta(hours=3))]),
)


@given(MOMENTS)
def test_a_block_begins_on_the_clocks_fives_in_utc(moment):
    utc = moment.astimezone(UTC)
    assert begin_block(moment) == utc.replace(minute=utc.minute // 5 * 5, second=0, microsecond=0)
    assert begin_block(moment).tzinfo is UTC


@given(MOMENTS)
def test_a_block_is_found_by_its_number(moment):
    start = begin_block(moment)
    assert block_at(int(start.timestamp()) // int(BLOCK.total_seconds())) == start


@given(st.integers(0, 10_000))
def test_a_bin_is_the_hundredth_above_as_decimals_have_it(number):
    raw = Decimal(number) / 10_000
    assert find_bin(float(raw)) == int((raw * 100).to_integral_value(ROUND_CEILING))


@pytest.mark.parametrize(("raw", "bin_"), [(0.0, 0), (1e-12, 0), (1e-6, 1), (1.0, 100), (1 / 3, 34)])
def test_bins_of_single_values(raw, bin_):
    assert find_bin(raw) == bin_
