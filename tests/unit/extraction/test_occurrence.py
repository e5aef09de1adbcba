from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragsonde.extraction.occurrence import find_occurrence, read_nanoseconds, read_time_in_id
from ragsonde_schemas.decoded import Receipt

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
PUBLISHED = NOW - timedelta(seconds=5)
RFC_UUID7 = "017f22e2-79b0-7cc3-98c4-dc0c0c07398f"
"""The test vector of RFC 9562, appendix A.6: Tuesday, February 22, 2022 2:22:22.00 PM GMT-05:00."""
RFC_TIME = datetime(2022, 2, 22, 19, 22, 22, tzinfo=UTC)
SPEC_ULID = "01ARZ3NDEKTSV4RRFFQ69G5FAV"
"""The example of the ULID specification; its time by the reference implementation: 1469922850259 ms."""
SPEC_TIME = datetime(2016, 7, 30, 23, 54, 10, 259_000, tzinfo=UTC)


def find(claimed, *, ids=(), published_at=PUBLISHED, retention_days=90, now=NOW):
    receipt = Receipt(received_at=now, published_at=published_at)
    return find_occurrence(claimed, ids=ids, receipt=receipt, retention_days=retention_days)


def test_the_producers_time_holds_and_is_given_in_utc():
    claimed = datetime(2026, 11, 30, 1, 0, tzinfo=timezone(timedelta(hours=5)))
    assert find(claimed) == (datetime(2026, 11, 29, 20, 0, tzinfo=UTC), False, None, "producer")
    assert find(claimed).at.tzinfo is UTC


def test_a_naive_time_is_utc():
    assert find(datetime(2026, 11, 30, 1, 0)).at == datetime(2026, 11, 30, 1, 0, tzinfo=UTC)  # noqa: DTZ001 the case


@pytest.mark.parametrize("offset", [timedelta(days=1), -timedelta(days=90) + timedelta(seconds=1)])
def test_a_day_ahead_and_the_whole_retention_are_believed(offset):
    assert find(NOW + offset) == (NOW + offset, False, None, "producer")


@pytest.mark.parametrize(
    "claimed",
    [
        datetime(1970, 1, 1, tzinfo=UTC),
        datetime(2100, 1, 1, tzinfo=UTC),
        NOW + timedelta(days=1, seconds=1),
        NOW - timedelta(days=90, seconds=1),
        datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=14))),
        datetime(9999, 12, 31, 23, 59, tzinfo=timezone(-timedelta(hours=12))),
    ],
)
def test_a_time_out_of_bounds_is_kept_and_replaced(claimed):
    assert find(claimed) == (PUBLISHED, True, claimed.isoformat(), "published_at")


def test_a_claim_that_is_no_time_is_kept_and_replaced():
    assert find("99 ns since 1970") == (PUBLISHED, True, "99 ns since 1970", "published_at")


def test_a_missing_time_is_replaced_and_nothing_is_claimed():
    assert find(None) == (PUBLISHED, True, None, "published_at")
    assert find(None, published_at=None) == (NOW, True, None, "received_at")


def test_a_transport_time_out_of_bounds_is_not_used():
    assert find(None, published_at=datetime(1970, 1, 1, tzinfo=UTC)).rule == "received_at"


@pytest.mark.parametrize(("name", "time"), [(RFC_UUID7, RFC_TIME), (SPEC_ULID, SPEC_TIME)])
def test_the_time_inside_an_id_comes_before_the_transports(name, time):
    now = time + timedelta(days=3)
    for spelling in (name, name.upper(), name.lower()):
        assert find(None, ids=("plain", None, spelling), now=now, published_at=now) == (
            time,
            True,
            None,
            "id",
        )


def test_the_time_inside_an_old_id_is_not_used():
    assert find(None, ids=(RFC_UUID7,)).rule == "published_at"


@pytest.mark.parametrize(
    "name",
    [
        "",
        "order-17",
        "6ff2cb8a7635c0ce43f51f8457f147df",
        "017f22e2-79b0-4cc3-98c4-dc0c0c07398f",
        "017f22e2-79b0-7cc3-18c4-dc0c0c07398f",
        "81ARZ3NDEKTSV4RRFFQ69G5FAV",
        "01ARZ3NDEKTSV4RRFFQ69G5FAU",
        "ffffffff-ffff-7cc3-98c4-dc0c0c07398f",
    ],
)
def test_other_ids_hold_no_time(name):
    assert read_time_in_id(name) is None


def test_a_uuid7_without_dashes_holds_its_time():
    assert read_time_in_id(RFC_UUID7.replace("-", "")) == RFC_TIME


@pytest.mark.parametrize(
    ("nanoseconds", "time"),
    [
        (0, None),
        (1_795_990_275_604_990_976, datetime(2026, 11, 29, 22, 11, 15, 604_990, tzinfo=UTC)),
        (2**64 - 1, datetime(2554, 7, 21, 23, 34, 33, 709_551, tzinfo=UTC)),
        (-5, "-5 ns since 1970"),
        (253_402_300_800 * 10**9, "253402300800000000000 ns since 1970"),
    ],
)
def test_nanoseconds_are_a_time_or_a_claim(nanoseconds, time):
    assert time == read_nanoseconds(nanoseconds)


@given(
    st.none() | st.datetimes(timezones=st.none() | st.timezones()) | st.text(max_size=5),
    st.none() | st.datetimes(timezones=st.just(UTC)),
    st.text(max_size=40) | st.uuids().map(str),
    st.integers(1, 10**9),
)
def test_any_claim_gives_an_aware_time_within_bounds(claimed, published_at, name, retention_days):
    found = find(claimed, ids=(name,), published_at=published_at, retention_days=retention_days)
    assert found.at.tzinfo is UTC
    assert found.at <= NOW + timedelta(days=1)
    assert (NOW - found.at).days < retention_days
    assert found.is_guessed or found.claimed is None
