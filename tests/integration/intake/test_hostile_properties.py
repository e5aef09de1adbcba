"""Properties and headers that hurt the libraries below, and forged work: the worker lives on."""

import bz2
import json
import re
import struct
from pathlib import Path

import amqp
import pytest

from services.plain_amqp import EXCHANGE, ROUTING_KEY, open_channel, publish
from services.waiting import wait_for

pytestmark = [pytest.mark.integration, pytest.mark.e2e]


def make_body(trace_id):
    message = {
        "trace_id": trace_id,
        "query": "Wie lange dauert die Rückgabe?",
        "contexts": ["Die Rückgabe dauert 14 Tage."],
        "answer": "14 Tage.",
    }
    return json.dumps(message, ensure_ascii=False).encode()


def publish_raw_headers(channel, body, entries):
    """Publishes with a header table of these very bytes."""
    message = amqp.Message(body)
    message._serialize_properties = lambda: struct.pack(">HI", 0x2000, len(entries)) + entries
    channel.basic_publish(message, exchange=EXCHANGE, routing_key=ROUTING_KEY, mandatory=True)


def nested(levels):
    array = b""
    for _ in range(levels):
        array = b"A" + struct.pack(">I", len(array)) + array
    return array


UNREADABLE = {
    "milliseconds": b"\x01xT" + struct.pack(">Q", 1_700_000_000_000),
    "no-such-year": b"\x01xT" + struct.pack(">Q", 2**63),
    "deep": b"\x01x" + nested(4_000),
}
FORGED_WORK = {
    "no list": (b'{"a": 1}', {"task": "ragsonde.evaluate", "id": "1"}),
    "no id": (b"[]", {"task": "ragsonde.evaluate"}),
    "no JSON": (b"\xff", {"task": "ragsonde.evaluate", "id": "2"}),
    "eta": (b"[[{}], {}, {}]", {"task": "ragsonde.evaluate", "id": "3", "eta": "2999-01-01T00:00:00"}),
    "callbacks": (
        b'[[1], {}, {"callbacks": [{"task": "celery.map"}]}]',
        {"task": "ragsonde.evaluate", "id": "4"},
    ),
}


def test_the_worker_lives_through_all_of_it_and_scores_every_trace_once(rabbitmq_deployment):
    worker = rabbitmq_deployment.start_ready_worker()
    good = []
    with open_channel(rabbitmq_deployment.broker_url) as channel:

        def send_good(name):
            good.append(name)
            return make_body(name)

        for name, entries in UNREADABLE.items():
            publish_raw_headers(channel, send_good(name), entries)
        for number, compression in enumerate(["gzip", "bzip2", "foo", 5]):
            body = send_good(f"compression-{number}")
            publish(channel, body, application_headers={"compression": compression})
        for encoding in ("iso-8859-1", "utf-16", "nonsense"):
            publish(channel, send_good(encoding), content_type="text/plain", content_encoding=encoding)
        bomb = bz2.compress(b"\0" * 200_000_000)
        publish(channel, bomb, application_headers={"compression": "bzip2"})
        for body, headers in FORGED_WORK.values():
            publish(
                channel,
                body,
                exchange="ragsonde.work",
                routing_key="ragsonde.work",
                application_headers=headers,
            )
        publish(channel, send_good("last"))
    rabbitmq_deployment.wait_until_scored(len(good))
    parked = "SELECT count(*) FROM parked_message"
    wait_for(lambda: rabbitmq_deployment.count(parked) == 1 + len(FORGED_WORK), what="what is parked")
    assert rabbitmq_deployment.count("SELECT count(*) FROM trace") == len(good)
    questions = rabbitmq_deployment.query("SELECT DISTINCT query FROM trace_text")
    assert questions == [("Wie lange dauert die Rückgabe?",)]
    reasons = dict(rabbitmq_deployment.query("SELECT queue, min(reason) FROM parked_message GROUP BY queue"))
    assert reasons["ragsonde.work"] == "invalid_message"
    log = worker.read_log()
    assert "Rückgabe" not in log
    assert "14 Tage" not in log
    columns = ("name", "messages_ready", "messages_unacknowledged")
    queues = rabbitmq_deployment.ask_rabbitmq("list_queues", *columns)
    assert {(one["messages_ready"], one["messages_unacknowledged"]) for one in queues} == {(0, 0)}
    highest = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{worker.pid}/status").read_text()).group(1)
    assert int(highest) < 300_000, "the bomb of 200 MB was unpacked"
