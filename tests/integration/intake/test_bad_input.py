"""Whatever is published and how: parked with its reason or mended, and the next message is scored."""

from __future__ import annotations

import gzip
import json
import pickle
from contextlib import ExitStack
from typing import NamedTuple

import pytest
import zstandard

from builders.spans import TRACE_ID, make_span, write_export
from services.plain_amqp import open_channel, publish
from services.waiting import wait_for

pytestmark = [pytest.mark.integration, pytest.mark.e2e]

BYTES = "application/octet-stream"
TRACE = {
    "query": "How long does a refund take?",
    "contexts": ["A refund is issued within 14 days after the returned parcel arrives."],
    "answer": "Within 14 days.",
}
SCORED = "SELECT count(*) FROM evaluation WHERE trace_id = %s AND state = 'scored'"
PARKED = "SELECT reason, message, place FROM parked_message"
CELERY_HEADERS = {"lang": "py", "task": "celery.map", "id": "1", "eta": "2100-01-01T00:00:00", "root_id": "1"}


def message(trace_id="bad", **fields):
    return json.dumps({"trace_id": trace_id, **TRACE, **fields}).encode()


class Bad(NamedTuple):
    """A message that is parked.

    Attributes:
        reason: why.
        told: what the message says, or where.
    """

    body: bytes
    reason: str
    told: str
    content_type: str = "application/json"
    headers: dict = {}  # noqa: RUF012 - nobody changes it


class Mended(NamedTuple):
    """A message that is scored all the same, as the trace of that id."""

    trace_id: str
    body: bytes
    content_type: str = "application/json"
    headers: dict = {}  # noqa: RUF012 - nobody changes it


BAD = {
    "empty body": Bad(b"", "empty_body", "found no byte"),
    "truncated JSON": Bad(message()[:-20], "invalid_json", "column"),
    "a list of numbers": Bad(b"[1, 2]", "unknown_format", "[0]: found number 1"),
    "another object": Bad(b'{"event": "click"}', "unknown_format", "event"),
    "a word": Bad(b"hello", "invalid_json", "column"),
    "5 MB": Bad(message(answer="x" * 5_000_000), "oversize", "expected at most 1048576"),
    "invalid UTF-8": Bad(b'{"trace_id": "\xff", "query": "q"}', "invalid_utf8", "0xff"),
    "a raw NUL": Bad(b'{"trace_id": "a\x00b", "query": "q"}', "invalid_json", "column"),
    "deep nesting": Bad(message()[:-1] + b', "x": ' + b"[" * 65 + b"]" * 65 + b"}", "invalid_json", "64"),
    "very deep nesting": Bad(b"[" * 100_000, "invalid_json", "64"),
    "NaN": Bad(message()[:-1] + b', "latency_ms": NaN}', "invalid_json", "NaN at column"),
    "Infinity": Bad(message()[:-1] + b', "latency_ms": -Infinity}', "invalid_json", "-Infinity at column"),
    "a key twice": Bad(message()[:-1] + b', "query": "other"}', "invalid_json", "query"),
    "another schema": Bad(message(schema_version="9"), "unsupported_schema_version", "schema_version"),
    "contexts as numbers": Bad(message(contexts=[1, 2]), "invalid_message", "contexts[0]"),
    "a trace id of 500 characters": Bad(message("x" * 500), "bad_trace_id", "trace_id"),
    "no trace id": Bad(json.dumps(TRACE).encode(), "bad_trace_id", "trace_id"),
    "pickle": Bad(
        pickle.dumps({"trace_id": "t"}),
        "unknown_format",
        "80 04",
        content_type="application/x-python-serialize",
    ),
    "truncated gzip": Bad(
        gzip.compress(message("gzip"), mtime=0)[:-12], "invalid_compression", "gzip", content_type=BYTES
    ),
    "a gzip bomb": Bad(
        gzip.compress(b"[" + b" " * 50_000_000, mtime=0), "oversize", "16777216", content_type=BYTES
    ),
    "gzip in gzip": Bad(
        gzip.compress(gzip.compress(message("gzip"), mtime=0), mtime=0),
        "invalid_compression",
        "gzip",
        content_type=BYTES,
    ),
    "a span without trace id": Bad(
        write_export(make_span(1)).replace(bytes.fromhex(TRACE_ID), bytes(16)),
        "bad_trace_id",
        "trace_id",
        content_type=BYTES,
    ),
    "a task for Celery": Bad(
        b'[[[1, 2, 3]], {}, {"callbacks": null}]',
        "unknown_format",
        "[0]: found a list",
        headers=CELERY_HEADERS,
    ),
}

MENDED = (
    Mended(
        "gzip",
        gzip.compress(message("gzip"), mtime=0),
        content_type=BYTES,
        headers={"compression": "gzip"},
    ),
    Mended("zstd", zstandard.compress(message("zstd")), content_type=BYTES),
    Mended("nul", message("nul", answer="14\x00 days \ud800")),
    Mended("rank", message("rank", contexts=[{"content": TRACE["contexts"][0], "rank": 7}])),
    Mended("y1970", message("y1970", occurred_at="1970-01-01T00:00:00Z")),
    Mended("y2100", message("y2100", occurred_at="2100-01-01T00:00:00Z")),
    Mended("celery", message("celery"), headers=CELERY_HEADERS),
    Mended("our-task", message("our-task"), headers={"task": "ragsonde.evaluate", "id": "1"}),
    Mended("not-pickle", message("not-pickle"), content_type="application/x-python-serialize"),
    Mended("unknown-type", message("unknown-type"), content_type="text/what; charset=ever"),
    Mended("no-compression", message("no-compression"), headers={"compression": "application/x-gzip"}),
)


@pytest.fixture
def send(deployment):
    """Publishes a body: to RabbitMQ by a plain AMQP client, to the embedded broker by our publisher."""
    with ExitStack() as stack:
        publisher = stack.enter_context(deployment.publisher())
        if deployment.kind == "embedded":

            def send_embedded(body, *, content_type="application/json", headers=None):
                publisher.publish_trace(body, content_type=content_type, headers=headers)

            yield send_embedded
            return
        channel = stack.enter_context(open_channel(deployment.broker_url))

        def send_plainly(body, *, content_type="application/json", headers=None):
            publish(channel, body, content_type=content_type, application_headers=headers or {})

        yield send_plainly


def wait_until_scored(deployment, trace_id):
    wait_for(lambda: deployment.count(SCORED, trace_id) == 1, seconds=20, what=f"the scores of {trace_id}")


def take_parked(deployment, name):
    """What was parked last, as the only message, which is then removed."""
    taken = wait_for(
        lambda: deployment.query("DELETE FROM parked_message RETURNING reason, message, place, body_bytes"),
        seconds=20,
        what=f"the parking of {name}",
    )
    assert len(taken) == 1, f"{name}: {taken}"
    return taken[0]


def test_bad_messages_are_parked_with_their_reason_and_the_next_one_is_scored(deployment, send):
    worker = deployment.start("worker", "--threads", "2")
    for number, (name, bad) in enumerate(BAD.items()):
        send(bad.body, content_type=bad.content_type, headers=bad.headers)
        send(message(f"good-{number}"))
        wait_until_scored(deployment, f"good-{number}")
        reason, told, place, body_bytes = take_parked(deployment, name)
        assert (reason, body_bytes) == (bad.reason, len(bad.body)), f"{name}: {told} ({place})"
        assert bad.told in f"{told} ({place})", f"{name}: {told} ({place})"
    assert deployment.count("SELECT count(*) FROM trace") == len(BAD)
    assert "refund" not in worker.read_log()
    assert worker.terminate() == 0


def test_what_can_be_mended_is_scored_and_nothing_is_parked(deployment, send):
    worker = deployment.start("worker", "--threads", "2")
    for mended in MENDED:
        send(mended.body, content_type=mended.content_type, headers=mended.headers)
        wait_until_scored(deployment, mended.trace_id)
    assert deployment.query(PARKED) == []
    assert "refund" not in worker.read_log()
    assert worker.terminate() == 0
