from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragsonde.extraction.foreign.moments import (
    count_nanoseconds,
    find_moment,
    measure_milliseconds,
    read_instant,
    read_moment,
    scale_seconds,
)

AT = datetime(2026, 11, 30, 4, 46, 0, 340000, tzinfo=UTC)
SHIFT = "datetime.timezone(datetime.timedelta"
AWARE = st.datetimes(min_value=datetime(1980, 1, 1), max_value=datetime(2200, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001


@pytest.mark.parametrize(
    "value",
    [
        "2026-11-30T04:46:00.340Z",
        "2026-11-30T05:46:00.340000000+01:00",
        "2026-11-30 04:46:00.340 UTC",
        1796013960.34,
        "1796013960.34",
        1796013960340,
        1796013960340000,
        1796013960340000000,
        "1796013960340",
        "datetime.datetime(2026, 11, 30, 4, 46, 0, 340000, tzinfo=datetime.timezone.utc)",
        {"lc": 1, "repr": "datetime.datetime(2026, 11, 30, 4, 46, 0, 340000, tzinfo=TzInfo(UTC))"},
        f"datetime.datetime(2026, 11, 30, 5, 46, 0, 340000, tzinfo={SHIFT}(seconds=3600)))",
        f"datetime.datetime(2026, 11, 30, 3, 46, 0, 340000, tzinfo={SHIFT}(days=-1, seconds=82800)))",
    ],
)
def test_one_time_written_in_many_ways(value):
    moment = read_moment(value)
    assert abs(moment - AT) < timedelta(milliseconds=1)


def test_a_time_without_zone_stays_naive():
    assert read_moment("2026-11-30T04:46:00") == datetime(2026, 11, 30, 4, 46)  # noqa: DTZ001
    assert read_moment("2026-11-30") == datetime(2026, 11, 30)  # noqa: DTZ001


@pytest.mark.parametrize("value", [None, "", "  ", 0, True, False])
def test_nothing_is_no_time(value):
    assert read_moment(value) is None


@pytest.mark.parametrize("value", ["yesterday", -5, 10**300, 1e308, [], "datetime.datetime(2026, 13, 1)"])
def test_what_is_no_time_is_a_claim_in_words(value):
    assert isinstance(read_moment(value), str)


def test_the_first_time_goes_before_an_earlier_claim_that_is_none():
    assert find_moment([None, "yesterday", "2026-11-30"]) == datetime(2026, 11, 30)  # noqa: DTZ001
    assert find_moment([None, "yesterday"]) == "yesterday"
    assert find_moment([]) is None


@given(AWARE)
def test_a_number_of_any_unit_tells_the_time_that_it_counts(moment):
    microseconds = (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)
    assert read_moment(microseconds) == moment
    assert read_moment(microseconds * 1_000) - moment < timedelta(milliseconds=1)
    assert read_moment(microseconds // 1_000) == moment.replace(
        microsecond=moment.microsecond // 1_000 * 1_000
    )
    assert read_moment(microseconds // 1_000_000) == moment.replace(microsecond=0)


@given(AWARE)
def test_pythons_own_notation_is_read_back(moment):
    assert read_moment(repr(moment)) == moment


@given(AWARE, st.integers(min_value=-1439, max_value=1439))
def test_nanoseconds_do_not_depend_on_the_zone(moment, minutes):
    elsewhere = moment.astimezone(timezone(timedelta(minutes=minutes)))
    assert count_nanoseconds(elsewhere) == count_nanoseconds(moment) > 0


@given(AWARE)
def test_an_instant_is_the_same_time_as_nanoseconds(moment):
    assert read_instant(moment.isoformat()) == read_instant(repr(moment)) == count_nanoseconds(moment)


@given(st.integers(min_value=10**17, max_value=10**20 - 1))
def test_an_instant_keeps_every_nanosecond_of_a_number(nanoseconds):
    assert read_instant(nanoseconds) == read_instant(str(nanoseconds)) == nanoseconds


@pytest.mark.parametrize("value", [None, "yesterday", -5, 10**300, float("nan"), True, []])
def test_what_is_no_time_is_no_instant(value):
    assert read_instant(value) == 0


def test_durations():
    assert measure_milliseconds("2026-11-30T04:46:00Z", "2026-11-30T04:46:01.5Z") == 1_500
    assert measure_milliseconds("2026-11-30T04:46:01Z", "2026-11-30T04:46:00Z") is None
    assert measure_milliseconds(None, "2026-11-30T04:46:00Z") is None
    assert (scale_seconds("1.5"), scale_seconds(-1), scale_seconds(1e308)) == (1_500, None, None)
