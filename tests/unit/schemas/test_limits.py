from __future__ import annotations

import pytest

from ragsonde_schemas.spending import Limit, Period


@pytest.mark.parametrize("hour", range(24))
@pytest.mark.parametrize("calls", [24, 240, 24_000_000])
def test_even_hours_give_each_an_equal_part_of_a_days_limit(hour, calls):
    share = sum([1 / 24] * (hour + 1))
    scaled = Limit(period=Period.DAY, calls=calls, tokens=calls).scaled(share)
    assert (scaled.calls, scaled.tokens) == (calls // 24 * (hour + 1),) * 2


def test_a_part_of_a_call_is_none_and_no_limit_stays_none():
    assert Limit(period=Period.DAY, calls=9).scaled(0.5) == Limit(period=Period.DAY, calls=4)
