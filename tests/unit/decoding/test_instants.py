import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragsonde.decoding.instants import read_instant

NOON = 1_795_953_600_000_000_000
"""2026-11-29T12:00:00Z, by `date -u -d @1795953600`."""


@pytest.mark.parametrize(
    ("written", "nanoseconds"),
    [
        ("2026-11-29T12:00:00Z", NOON),
        ("2026-11-29 12:00:00", NOON),
        ("2026-11-29 12:00:00.123456", NOON + 123_456_000),
        ("2026-11-29T14:00:00+02:00", NOON),
        ("1795953600", NOON),
        ("1795953600.5", NOON + 500_000_000),
        (1_795_953_600, NOON),
        (1_795_953_600_000, NOON),
        (1_795_953_600_000_000, NOON),
        (NOON, NOON),
        (NOON + 1, NOON + 1),
        (1_795_953_600.5, NOON + 500_000_000),
        ("1970-01-01T00:00:00Z", 0),
        ("1969-12-31T23:59:59Z", -1_000_000_000),
        ("2100-01-01T00:00:00Z", 4_102_444_800_000_000_000),
        ("9999-12-31T23:59:59Z", 2**64 - 1),
        ("0001-01-01T00:00:00Z", -(2**63)),
        ("datetime.datetime(2026, 11, 29, 12, 0, tzinfo=datetime.timezone.utc)", NOON),
        (10**300, 0),
        (-(10**300), 0),
        ("soon", 0),
        ("", 0),
        (None, 0),
        (True, 0),
        ({}, 0),
    ],
)
def test_a_moment_is_read_in_every_form(written, nanoseconds):
    assert nanoseconds == read_instant(written)


@given(
    st.none()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=30)
    | st.datetimes().map(str)
    | st.sampled_from(["nan", "inf", "-inf", "1e999", "9" * 5000, "0001-01-01T00:00:00+14:00", "1.5e400"])
)
def test_anything_is_read_within_64_bits(written):
    assert -(2**63) <= read_instant(written) < 2**64
