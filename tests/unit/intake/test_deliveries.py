from datetime import UTC, datetime, timedelta, timezone

import pytest
from kombu.message import Message

from ragsonde.intake.deliveries import KEPT_BYTES_OF_OVERSIZE, KEY_HEADER, compute_message_key, read_envelope

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


def read(limit=1 << 20, **fields):
    return read_envelope(
        Message(**{"body": b"{}", **fields}), queue="ragsonde.traces", received_at=NOW, max_body_bytes=limit
    )


def test_a_body_is_taken_as_bytes_whatever_the_transport_made_of_it():
    assert read(body=b"\x00\xff").body == b"\x00\xff"
    assert read(body=memoryview(b"abc")).body == b"abc"
    assert read(body="é").body == "é".encode()
    assert read(body="\ud800").body == b"\xed\xa0\x80"
    assert read(body=None).body == b""


def test_of_an_oversize_body_the_first_64_kib_and_the_size_are_kept():
    envelope = read(body=b"x" * 100_000, limit=99_999)
    assert (len(envelope.body), envelope.body_bytes) == (KEPT_BYTES_OF_OVERSIZE, 100_000)
    assert KEPT_BYTES_OF_OVERSIZE == 65536


def test_a_body_of_exactly_the_limit_is_kept_whole():
    assert len(read(body=b"x" * 100_000, limit=100_000).body) == 100_000


def test_only_tracing_and_death_headers_are_kept():
    headers = {
        "task": "celery.map",
        "traceparent": "00-a",
        "x-death": [{"count": 1}],
        "reply_to": "q",
        "id": "1",
    }
    assert read(headers=headers).headers == {"traceparent": "00-a", "x-death": "[{'count': 1}]"}


@pytest.mark.parametrize(
    ("timestamp", "expected"),
    [
        (1_700_000_000, datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)),
        (datetime(2026, 1, 1, tzinfo=timezone(timedelta(hours=1))), datetime(2025, 12, 31, 23, tzinfo=UTC)),
        (datetime(2026, 1, 1), datetime(2026, 1, 1, tzinfo=UTC)),  # noqa: DTZ001 - AMQP timestamps come naive
        (1e30, None),
        ("yesterday", None),
        (True, None),
        (None, None),
    ],
)
def test_the_amqp_timestamp_is_believed_only_where_it_is_one(timestamp, expected):
    assert read(properties={"timestamp": timestamp}).published_at == expected


def test_two_bodies_with_the_same_message_id_have_different_keys():
    first = read(body=b"1", properties={"message_id": "same"})
    second = read(body=b"2", properties={"message_id": "same"})
    assert first.message_key != second.message_key
    assert first.message_key == compute_message_key(b"1")


def test_redelivery_is_what_the_broker_says():
    assert read(delivery_info={"redelivered": True}).redelivered
    assert not read(headers={"redelivered": True}).redelivered


@pytest.mark.parametrize(
    ("deaths", "queue"),
    [
        ([{"queue": "ragsonde.work", "reason": "delivery_limit"}, {"queue": "older"}], "ragsonde.work"),
        ([], "ragsonde.traces.dead"),
        ("forged", "ragsonde.traces.dead"),
        ([{"reason": "rejected"}], "ragsonde.traces.dead"),
        (None, "ragsonde.traces.dead"),
    ],
)
def test_a_dead_letter_is_of_the_queue_in_which_it_died(deaths, queue):
    message = Message(body=b"{}", headers={"x-death": deaths})
    dead = read_envelope(message, queue="ragsonde.traces.dead", received_at=NOW, max_body_bytes=99)
    assert dead.queue == queue
    assert read(headers={"x-death": deaths}).queue == "ragsonde.traces"


def test_what_is_published_again_keeps_the_key_of_what_came_first():
    first = compute_message_key(b"as it came")
    assert read(body=b"redacted", headers={KEY_HEADER: first}).message_key == first
    assert KEY_HEADER not in read(headers={KEY_HEADER: first}).headers
    for forged in ("short", first.upper() + "0", 7, None):
        assert read(body=b"1", headers={KEY_HEADER: forged}).message_key == compute_message_key(b"1")
