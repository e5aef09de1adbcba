"""Parked messages in words: advice for every reason, moments, and bodies that cannot steer a terminal."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragsonde.cli.moments import read_moment
from ragsonde.cli.parked_advice import ADVICE, INCOMPLETE, advise, describe_life, tell_parked
from ragsonde.cli.parked_page import describe_body, read_text
from ragsonde.cli.terminal import mend
from ragsonde_schemas.errors import InputError, ParkReason
from ragsonde_schemas.history import ParkedMessage

NOW = datetime(2026, 6, 15, 12, 0, tzinfo=UTC)


def make_message(**fields):
    values = {
        "id": 7,
        "message_key": "m",
        "reason": ParkReason.OVERSIZE,
        "where": "body",
        "message": "found 9 bytes",
        "queue": "ragsonde.traces",
        "message_id": None,
        "content_type": None,
        "received_at": NOW,
        "parked_at": NOW,
        "body_bytes": 9,
        "kept_bytes": 9,
    }
    return ParkedMessage(**{**values, **fields})


def test_there_is_advice_for_every_reason():
    assert set(ADVICE) == set(ParkReason)
    assert advise(make_message()) == ADVICE[ParkReason.OVERSIZE]
    assert advise(make_message(kept_bytes=3)).endswith(INCOMPLETE)


def test_what_is_kept_whole_is_replayed_and_what_is_not_must_be_sent_again():
    whole = advise(make_message())
    assert whole.endswith("then replay")
    assert "send it again" not in whole
    part = advise(make_message(kept_bytes=3))
    assert "then replay" not in part
    assert part.endswith("have its producer send it again")


def test_of_a_faulty_record_nothing_is_said_to_be_scored():
    advice = advise(make_message(reason=ParkReason.INVALID_MESSAGE))
    assert "with the fault was not stored; others of the message, if it has any, were" in advice


@pytest.mark.parametrize(
    ("fields", "state", "told"),
    [
        ({}, "waits", "to do:"),
        ({"replays": 1}, "waits, replayed once before", "parked for the same once more"),
        ({"replays": 2, "replayed_at": NOW}, "replayed 2 times, last 2026-06-15 12:00", "published again"),
        ({"replays": 1, "dropped_at": NOW}, "dropped 2026-06-15 12:00", "somebody decided to leave it"),
    ],
)
def test_where_it_stands_is_told(fields, state, told):
    message = make_message(**fields)
    assert describe_life(message) == state
    assert any(told in line for line in tell_parked(message))


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("24h", NOW - timedelta(days=1)),
        ("90 m", NOW - timedelta(minutes=90)),
        ("2w", NOW - timedelta(days=14)),
        ("2026-06-01", datetime(2026, 6, 1, tzinfo=UTC)),
        ("2026-06-01T12:30+02:00", datetime(2026, 6, 1, 10, 30, tzinfo=UTC)),
        ("9998-12-31T23:59", datetime(9998, 12, 31, 23, 59, tzinfo=UTC)),
        ("0002-01-01", datetime(2, 1, 1, tzinfo=UTC)),
    ],
)
def test_a_moment_is_a_span_back_or_a_time_of_utc(text, moment):
    assert read_moment(text, option="--since", now=NOW) == moment


OUTSIDE = (
    "9999-12-31T23:59",
    "9999-12-31T23:59-14:00",
    "0001-01-01T00:00+14:00",
    "0001-12-31",
)
"""Days cannot be counted back and forth from there, or they are none of UTC."""


@pytest.mark.parametrize("text", ["", "yesterday", "24", "-1h", "2026-13-01", "999999h", *OUTSIDE])
def test_what_is_neither_is_refused_with_what_was_expected(text):
    with pytest.raises(InputError, match=r"--since: found .* expected how long ago"):
        read_moment(text, option="--since", now=NOW)


@given(st.binary(max_size=200))
def test_any_body_is_shown_without_a_character_that_steers(body):
    lines = describe_body(body)
    shown = {character for line in lines for character in mend(line)}
    assert not shown & {chr(code) for code in (*range(9), *range(11, 32), *range(127, 160))}
    if read_text(body) is None:
        assert len(lines) == -(-len(body) // 16)


def test_a_character_that_is_cut_at_the_end_leaves_a_text_a_text():
    assert describe_body("fünf Sätze, 50 €".encode()[:-1]) == ["fünf Sätze, 50 "]
    assert describe_body(b"\x00\xff\xfeabc") == [f"000000  {'00 ff fe 61 62 63':<48} ...abc"]
