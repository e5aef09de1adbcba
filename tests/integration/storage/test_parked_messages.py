"""How parked messages are found, read back and worked on again."""

from __future__ import annotations

import gzip
import hashlib
import json
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import event, select, text

from fakes.clock import NOON, FakeClock
from fakes.judge import FakeJudge
from fakes.stages import make_stages, states
from ragsonde.pipeline.evaluate_trace import ingest
from ragsonde.storage.history import read_history
from ragsonde.storage.parking_store import find_parked, name_trace, read_envelope
from ragsonde.storage.tables import ParkedMessageRow
from ragsonde_schemas.envelope import Envelope
from ragsonde_schemas.errors import ParkReason
from services.stores import PostgresStores

pytestmark = pytest.mark.integration
SAMPLES = Path(__file__).parents[2] / "data" / "samples"
ENVELOPE = Envelope(
    body=b'{"trace_id": "t-1"',
    body_bytes=18,
    content_type="application/json",
    content_encoding="utf-8",
    headers={"traceparent": "00-x"},
    message_id="id-1",
    message_key="m-1",
    published_at=NOON - timedelta(seconds=3),
    received_at=NOON,
)


@pytest.fixture
def stores(engine):
    return PostgresStores(FakeClock(), engine)


def park(stores, body=b"{}", *, key="m-1", **fields):
    envelope = ENVELOPE.model_copy(
        update={"body": body, "body_bytes": len(body), "message_key": key, **fields}
    )
    stores.parking.park(envelope, reason=ParkReason.INVALID_JSON, message="cut off", where="body")
    return envelope


def test_a_message_comes_back_as_it_was_delivered(stores):
    envelope = park(stores, bytes(range(256)))
    (parked,) = find_parked(stores.engine, trace_id="m-1")
    assert read_envelope(stores.engine, parked_id=parked.id) == envelope
    assert (parked.reason, parked.where, parked.message) == (ParkReason.INVALID_JSON, "body", "cut off")
    assert (parked.received_at, parked.kept_bytes, parked.is_replayable) == (NOON, 256, True)


def test_one_read_back_is_ingested_as_if_it_had_just_come(stores):
    body = (SAMPLES / "langchain_openinference.otlp.pb").read_bytes()
    park(stores, body, content_type="application/x-protobuf", content_encoding=None)
    (parked,) = find_parked(stores.engine, trace_id="m-1")
    assert parked.is_replayable
    stages = make_stages(FakeJudge("lexical"))
    ingest(read_envelope(stores.engine, parked_id=parked.id), stages)
    assert stages.sink.of("on_received") == [("otlp_protobuf",)]
    assert states(stages) == {"lexical": "scored"}
    assert len(stages.traces.traces[0].contexts) > 0


def test_of_an_oversize_body_the_kept_part_is_stored_and_it_cannot_be_replayed(stores):
    park(stores, b"x" * 65_536, body_bytes=5_000_000)
    (parked,) = find_parked(stores.engine, trace_id="m-1")
    assert (parked.kept_bytes, parked.body_bytes, parked.is_replayable) == (65_536, 5_000_000, False)


def test_characters_that_postgres_refuses_are_replaced(stores):
    park(stores, key="a\x00b", headers={"tra\x00ce": "\ud800"}, content_type="te\x00xt")
    (parked,) = find_parked(stores.engine, trace_id="a\ufffdb")
    assert (parked.message_key, parked.content_type) == ("a\ufffdb", "te\ufffdxt")
    headers = read_envelope(stores.engine, parked_id=parked.id).headers
    assert headers == {"tra\ufffdce": "\ufffd"}


def test_what_is_not_there_is_none(stores):
    assert read_envelope(stores.engine, parked_id=1) is None


@pytest.mark.parametrize(
    ("trace_id", "body"),
    [
        ("t-1", b'{"trace_id": "t-1", "contexts": [1'),
        ("fünf", '{"trace_id":"fünf"'.encode()),
        ("fünf", json.dumps({"trace_id": "fünf"}).encode()),
        (
            "00112233445566778899aabbccddeeff",
            b"\n\x10" + bytes.fromhex("00112233445566778899aabbccddeeff"),
        ),
        ("00112233445566778899AABBCCDDEEFF", b'{"traceId": "00112233445566778899aabbccddeeff"'),
        ("t-1", gzip.compress(b'{"trace_id": "t-1"}', mtime=0)),
        ("t-1", b'[{"trace_id": "t-1"}, {"trace_id": "t-2"}]'),
    ],
)
def test_it_is_found_by_the_trace_it_names(stores, trace_id, body):
    park(stores, body)
    park(stores, b'{"trace_id": "t-12", "note": "t-1 or f\xc3\xbcnf"}', key="m-2")
    assert [one.message_key for one in find_parked(stores.engine, trace_id=trace_id)] == ["m-1"]
    assert len(read_history(stores.engine, trace_id).parked) == 1


def test_it_is_found_by_its_message_id(stores):
    park(stores, b"", message_id="t-9")
    assert len(find_parked(stores.engine, trace_id="t-9")) == 1


def test_the_newest_come_first_and_no_more_than_asked_for(stores):
    for number in range(3):
        park(stores, b'{"trace_id": "t-1"}', key=f"m-{number}")
        stores.clock.advance(1)
    assert [one.message_key for one in find_parked(stores.engine, trace_id="t-1", limit=2)] == [
        "m-2",
        "m-1",
    ]


def explain(_connection, _cursor, statement, parameters, _context, _is_many):
    return f"EXPLAIN {statement}", parameters


def test_no_body_is_looked_into_to_find_the_messages_of_a_trace(stores):
    park(stores, b'{"trace_id": "t-1"}')
    with stores.engine.begin() as connection:
        # the few rows of a test would be read as a whole
        connection.execute(text("SET LOCAL enable_seqscan = off"))
        event.listen(connection, "before_cursor_execute", explain, retval=True)
        found = connection.execute(select(ParkedMessageRow.id).where(name_trace("t-1")))
        plan = "\n".join(row[0] for row in found)
    assert "Seq Scan" not in plan
    for index in ("ix_parked_message_names", "ix_parked_message_message_id", "uq_parked_message_message_key"):
        assert index in plan, plan


def test_users_of_a_body_are_not_noted_as_they_stand_in_it(stores):
    park(stores, b'{"trace_id": "t-1", "user_id": "ada@example.org", "app": "shop"}')
    with stores.engine.connect() as connection:
        noted = connection.execute(select(ParkedMessageRow.names)).scalar_one()
    digest = hashlib.sha256(b"t-1").hexdigest()
    assert noted == {"traces": [digest], "sessions": [], "users": [], "apps": []}
