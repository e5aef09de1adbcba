import struct

import amqp
import pytest
from amqp import serialization

from ragsonde.intake import amqp_transport
from ragsonde.intake.amqp_transport import decode_properties


def short(text):
    return struct.pack(">B", len(text)) + text


def table(entries):
    return struct.pack(">I", len(entries)) + entries


def nested(levels):
    array = b""
    for _ in range(levels):
        array = b"A" + struct.pack(">I", len(array)) + array
    return array


def header(name, value):
    return short(name) + value


UNREADABLE = {
    "milliseconds as a timestamp": header(b"x", b"T" + struct.pack(">Q", 1_700_000_000_000)),
    "a timestamp beyond all years": header(b"x", b"T" + struct.pack(">Q", 2**63)),
    "an array 12,000 levels deep": header(b"x", nested(12_000)),
    "an unknown type": header(b"x", b"?"),
    "cut off": header(b"x", b"S" + struct.pack(">I", 1000)),
}


@pytest.mark.parametrize("entries", UNREADABLE.values(), ids=UNREADABLE)
def test_a_table_that_cannot_be_read_is_left_out_and_the_other_properties_stay(entries):
    flags = 0x8000 | 0x2000 | 0x0080 | 0x0040
    properties = (
        short(b"application/json") + table(entries) + short(b"id-1") + struct.pack(">Q", 1_700_000_000)
    )
    buffer = b"before" + struct.pack(">H", flags) + properties
    with pytest.raises(Exception):  # noqa: B017, PT011 - the library raises whatever it likes
        serialization.decode_properties_basic(buffer, 6)
    decoded, end = decode_properties(buffer, 6)
    assert decoded == {"content_type": "application/json", "message_id": "id-1", "timestamp": 1_700_000_000}
    assert end == len(buffer)


def test_properties_that_make_no_sense_at_all_are_none():
    assert decode_properties(b"\xff\xff\xff", 0) == ({}, 3)


def test_properties_that_can_be_read_are_as_amqp_reads_them():
    message = amqp.Message(
        "x", content_type="text/plain", application_headers={"a": [1, {"b": "c"}]}, priority=3
    )
    buffer = message._serialize_properties()
    assert decode_properties(buffer, 0) == serialization.decode_properties_basic(buffer, 0)
    assert serialization.PROPERTY_CLASSES[amqp.spec.Basic.CLASS_ID] is decode_properties


def make_message(body, **properties):
    delivered = amqp.Message(body)
    delivered.properties = properties
    delivered.delivery_info = {"delivery_tag": 1, "exchange": "", "routing_key": "q"}
    return amqp_transport.Message(delivered, channel=None)


@pytest.mark.parametrize("compression", ["gzip", "bzip2", "nonsense", 5, ["a"], {"a": 1}])
def test_a_compression_header_unpacks_nothing(compression):
    message = make_message(b"{}", application_headers={"compression": compression, "traceparent": "00-a"})
    assert (message.body, message.errors) == (b"{}", [])
    assert message.headers == {"traceparent": "00-a"}
