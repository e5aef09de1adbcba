"""A thousand traces cut into spans and shuffled over messages, with two worker processes and a monitor."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from builders.spans import make_span, write_export
from services.waiting import wait_for

pytestmark = pytest.mark.integration

TRACES = 1_000
SPANS_A_MESSAGE = 40
SAMPLES = Path(__file__).parents[2] / "data" / "samples"
NAMES = ("split-1of3", "split-2of3", "split-3of3-late-retriever")


def make_rag_spans(number):
    """The eight spans of a trace: root, retriever with three documents, generation, and five others."""
    trace_id = f"{number + 1:032x}"
    question = f"What does part {number} of the manual say about valves?"
    documents = {
        f"retrieval.documents.{rank}.document.content": f"Part {number}: valve {rank} opens at {rank} bar."
        for rank in range(3)
    }
    place = {"trace_id": trace_id, "resource": {"service.name": f"app-{number % 3}"}}
    return [
        make_span(
            1,
            kind="CHAIN",
            start=0,
            end=100,
            attributes={"input.value": question, "output.value": "Valve 0 opens at 3 bar."},
            **place,
        ),
        make_span(
            2, 1, kind="RETRIEVER", start=10, attributes={"input.value": question, **documents}, **place
        ),
        make_span(3, 1, kind="LLM", start=30, end=90, **place),
        *(make_span(4 + extra, 1, kind="CHAIN", start=12 + extra, **place) for extra in range(5)),
    ]


def cut_into_messages(seed):
    """Bodies that hold all spans in disorder, one in twenty of them twice."""
    shuffle = random.Random(seed)
    spans = [span for number in range(TRACES) for span in make_rag_spans(number)]
    spans += shuffle.sample(spans, len(spans) // 20)
    shuffle.shuffle(spans)
    return [
        write_export(*spans[begin : begin + SPANS_A_MESSAGE])
        for begin in range(0, len(spans), SPANS_A_MESSAGE)
    ]


def publish(deployment, bodies):
    with deployment.publisher() as publisher:
        for body in bodies:
            publisher.publish_trace(body, content_type=None)


def test_a_thousand_shuffled_traces_are_a_thousand_traces(rabbitmq_deployment):
    deployment = rabbitmq_deployment
    workers = [deployment.start_ready_worker() for _ in range(2)]
    deployment.start("monitor")
    publish(deployment, cut_into_messages(seed=20261130))
    last_scored = "SELECT count(DISTINCT trace_id) FROM evaluation WHERE state = 'scored'"
    wait_for(
        lambda: (
            deployment.count(last_scored) == TRACES
            and deployment.count("SELECT count(*) FROM open_record WHERE next_close_at IS NOT NULL") == 0
        ),
        seconds=150,
        what=f"{TRACES} scored traces",
    )
    per_trace = deployment.query(
        "SELECT trace_id, app, count(*) FILTER (WHERE state = 'scored'),"
        " count(*) FILTER (WHERE state = 'superseded'), count(*) FROM evaluation GROUP BY trace_id, app"
    )
    assert sorted((trace_id, app) for trace_id, app, *_ in per_trace) == [
        (f"{number + 1:032x}", f"app-{number % 3}") for number in range(TRACES)
    ]
    assert all(scored == 1 and superseded == total - 1 for *_, scored, superseded, total in per_trace)
    assert deployment.count("SELECT count(*) FROM trace") == sum(total for *_, total in per_trace)
    newest = (
        "SELECT DISTINCT ON (trace_id) jsonb_array_length(contexts) FROM trace_text"
        " ORDER BY trace_id, revision DESC"
    )
    assert deployment.query(newest) == [(3,)] * TRACES
    assert deployment.count("SELECT count(*) FROM span_buffer") == TRACES * 8
    assert deployment.count("SELECT count(*) FROM parked_message") == 0
    assert [worker.terminate() for worker in workers] == [0, 0]


def test_a_late_retriever_is_a_revision_in_a_running_deployment(rabbitmq_deployment):
    deployment = rabbitmq_deployment
    deployment.settings = {
        "RAGSONDE_ASSEMBLY__QUIET_SECONDS": "0.5",
        "RAGSONDE_ASSEMBLY__NO_ROOT_SECONDS": "1",
    }
    parts = [(SAMPLES / f"langchain_openinference.{name}.otlp.json").read_bytes() for name in NAMES]
    worker = deployment.start_ready_worker()
    monitor = deployment.start("monitor")
    publish(deployment, parts[:2])
    states = "SELECT revision, state FROM evaluation ORDER BY revision"
    wait_for(lambda: deployment.query(states), seconds=30, what="a first revision")
    publish(deployment, parts[2:])
    wait_for(
        lambda: deployment.query(states) == [(1, "superseded"), (2, "scored")],
        seconds=30,
        what="a second revision in place of the first",
    )
    wait_for(
        lambda: 'ragsonde_late_spans_total{effect="revision"} 1' in worker.read("/metrics"),
        what="the series of late spans",
    )
    wait_for(lambda: "ragsonde_open_traces" in monitor.read("/metrics"), what="the gauge of open traces")
    contexts = "SELECT contexts FROM trace_text ORDER BY revision DESC LIMIT 1"
    assert len(deployment.query(contexts)[0][0]) == len(
        json.loads((SAMPLES / "langchain_openinference.split-all.otlp.json.expected.json").read_text())[
            "contexts"
        ]
    )
