"""Damaged messages among good ones: the good are scored once, each damaged one ends in one known place.

CHAOS=long sends ten thousand; CHAOS_SEED damages them in the same way again.
"""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from typing import NamedTuple

import pytest

from builders.envelopes import RECEIPT, wrap
from builders.fuzzed_bodies import DATA, make_fuzzed
from ragsonde.api.rules import own_rules
from ragsonde.decoding.table import decode
from ragsonde_schemas.errors import DecodeError
from services.chaos_report import IS_LONG, SEED
from services.plain_amqp import open_channel, publish
from services.waiting import wait_for

pytestmark = pytest.mark.chaos

FUZZED, GOOD = (10_000, 1000) if IS_LONG else (1500, 150)
MOST_GROWTH = 1.2
PARKED = "SELECT count(*) FROM parked_message WHERE queue = 'ragsonde.traces'"
NOT_SETTLED = "SELECT count(*) FROM open_record WHERE next_close_at IS NOT NULL"
NOT_ENDED = "SELECT count(*) FROM evaluation WHERE state IN ('waiting', 'running')"


class Expected(NamedTuple):
    """What a body becomes.

    Attributes:
        is_parked: all of it, or what in it is no trace.
        span_traces: ids of the traces whose spans it holds.
        traces: ids of the whole traces in it.
    """

    is_parked: bool
    span_traces: frozenset[str] = frozenset()
    traces: frozenset[str] = frozenset()


def expect(fuzzed):
    envelope = wrap(
        fuzzed.body,
        content_type=fuzzed.properties.get("content_type"),
        content_encoding=fuzzed.properties.get("content_encoding"),
    )
    try:
        decoded = decode(envelope)
    except DecodeError:
        return Expected(is_parked=True)
    assert decoded.records or decoded.spans
    rules = own_rules()
    return Expected(
        is_parked=bool(decoded.faults),
        span_traces=frozenset(span.trace_id for span in decoded.spans),
        traces=frozenset(
            trace.trace_id for one in decoded.records for trace in rules.read(one, receipt=RECEIPT)
        ),
    )


def make_good(number):
    message = {
        "trace_id": f"good-{number}",
        "app": "fuzz",
        "query": f"How long does refund number {number} take?",
        "contexts": [f"Refund number {number} is issued within {number % 30 + 1} days."],
        "answer": f"Within {number % 30 + 1} days.",
    }
    return json.dumps(message).encode()


def publish_mixed(deployment, fuzzed, *, order):
    """All of them in one order, the good ones anywhere among the others."""
    mixed = [(one.body, one.properties) for one in fuzzed]
    mixed += [(make_good(number), {}) for number in range(GOOD)]
    order.shuffle(mixed)
    with deployment.publisher(), open_channel(deployment.broker_url) as channel:
        for body, properties in mixed:
            publish(channel, body, **properties)


def count_queued(deployment):
    """Messages that wait or are held, in all queues."""
    columns = ("messages_ready", "messages_unacknowledged")
    return sum(sum(one.values()) for one in deployment.ask_rabbitmq("list_queues", *columns))


def sum_series(process, name, labels=""):
    """The sum over all samples of a series whose labels hold this."""
    lines = re.findall(rf"^ragsonde_{name}(\S*) (\S+)$", process.read("/metrics"), re.MULTILINE)
    return int(sum(float(value) for found, value in lines if labels in found))


def read_memory(pid):
    return int(re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())[1])


def list_texts():
    """Questions and answers of the samples: nothing of the kind may be logged."""
    texts = {"refund number"}
    for path in (DATA / "samples").glob("*.expected.json"):
        expected = json.loads(path.read_text())
        texts |= {str(expected.get(field) or "")[:40] for field in ("query", "answer")}
    return {text for text in texts if len(text) >= len("refund number")}


def assert_good_are_scored_once(deployment):
    rows = deployment.query(
        "SELECT trace_id, count(*) FROM score WHERE app = 'fuzz' AND status = 'scored' GROUP BY 1"
    )
    assert dict(rows) == {f"good-{number}": 5 for number in range(GOOD)}
    assert deployment.count("SELECT count(*) FROM evaluation WHERE app = 'fuzz'") == GOOD


def assert_each_ended_in_one_place(deployment, worker, fuzzed):
    expected = [expect(one) for one in fuzzed]
    wanted = {wrap(one.body).message_key for one, its in zip(fuzzed, expected, strict=True) if its.is_parked}
    # what was received is parked a moment later
    wait_for(lambda: deployment.count(PARKED) >= len(wanted), seconds=60, what="the parking of the last")
    parked = deployment.query(
        "SELECT message_key, reason, place FROM parked_message WHERE queue = 'ragsonde.traces'"
    )
    assert {key for key, _, _ in parked} == wanted
    assert len(parked) == len(wanted)
    assert "internal_error" not in {reason for _, reason, _ in parked}
    assert all(place for _, _, place in parked)
    gathered = {trace_id for (trace_id,) in deployment.query("SELECT trace_id FROM open_record")}
    assert gathered == frozenset().union(*(its.span_traces for its in expected))
    stored = {trace_id for (trace_id,) in deployment.query("SELECT trace_id FROM trace WHERE app <> 'fuzz'")}
    whole = frozenset().union(*(its.traces for its in expected))
    assert whole <= stored <= whole | gathered
    assert sum_series(worker, "messages_received_total") == FUZZED + GOOD
    assert sum_series(worker, "parked_total") == deployment.count("SELECT count(*) FROM parked_message")


def test_damaged_messages_are_parked_or_stored_and_every_good_one_is_scored_once(
    rabbitmq_deployment, chaos_report
):
    deployment, order = rabbitmq_deployment, random.Random(SEED)
    fuzzed = make_fuzzed(FUZZED, order=order)
    for name, seconds in (("QUIET", 1), ("NO_ROOT", 2), ("MAX_WAIT", 20)):
        deployment.settings[f"RAGSONDE_ASSEMBLY__{name}_SECONDS"] = str(seconds)
    deployment.start("monitor")
    worker = deployment.start_ready_worker("--threads", "8")
    publish_mixed(deployment, fuzzed, order=order)
    chaos_report.count_bad_inputs(FUZZED)

    def count_received():
        return sum_series(worker, "messages_received_total")

    wait_for(lambda: count_received() >= (FUZZED + GOOD) // 5, seconds=120, what="a fifth")
    memory = read_memory(worker.pid)
    wait_for(lambda: count_received() == FUZZED + GOOD, seconds=300, what="all")
    wait_for(lambda: not deployment.count(NOT_SETTLED), seconds=90, what="the closing of every trace")
    wait_for(lambda: not deployment.count(NOT_ENDED), seconds=30, what="the end of every evaluation")
    assert read_memory(worker.pid) <= memory * MOST_GROWTH
    assert_good_are_scored_once(deployment)
    assert_each_ended_in_one_place(deployment, worker, fuzzed)
    log = worker.read_log()
    assert "Traceback" not in log
    assert [text for text in list_texts() if text in log] == []
    # an evaluation that waited long was sent twice, and whoever came first judged it
    wait_for(lambda: count_queued(deployment) == 0, seconds=60, what="the end of every queue")
    assert worker.terminate() == 0
    assert count_queued(deployment) == 0
