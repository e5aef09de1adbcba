"""What a list holds is the same on the queue, posted and in files; in an array and on lines."""

import json
from pathlib import Path

import pytest

from fakes.receiver import CountingTally, ListPublisher
from ragsonde.api.messages import Message
from ragsonde.api.traces import decode_messages, read_items
from ragsonde.decoding.limits import DecodingLimits
from ragsonde.receiver.any_traces import AnyTraces
from ragsonde.receiver.requests import Request, RequestHead

SAMPLES = Path(__file__).parents[1] / "data" / "samples"
QUESTION = "How long does a refund take?"


def flatten(run):
    children = run.get("child_runs") or []
    return [{**run, "child_runs": None}, *(below for child in children for below in flatten(child))]


def load(name):
    return json.loads((SAMPLES / name).read_text())


TREE = load("langsmith_run_tree.json")
RUNS = flatten(TREE)
OBSERVATIONS = load("langfuse_export_rag.json")["observations"]
SPANS = load("datadog_llmobs_spans.json")["data"]["attributes"]["spans"]
LISTS = {
    "flat runs": RUNS,
    "runs, the root last": RUNS[::-1],
    "observations": OBSERVATIONS,
    "Datadog's spans": SPANS,
}
BAD = {
    "null": None,
    "a number": 5,
    "a run without type": {"id": "x", "name": "n", "trace_id": TREE["trace_id"], "inputs": {}},
    "a run alone": {**RUNS[1], "id": "x", "trace_id": "y", "parent_run_id": "y"},
    "a patch alone": {"id": "x", "trace_id": "x", "dotted_order": "1x", "outputs": {"output": "no"}},
    "an observation alone": {**OBSERVATIONS[0], "id": "x", "traceId": "y", "parentObservationId": "z"},
    "an observation without start": {"id": "o9", "traceId": OBSERVATIONS[0]["traceId"], "type": "SPAN"},
    "a span without ids": {"span_id": "1"},
}


def write_array(values):
    return json.dumps(values).encode()


def write_lines(values):
    return b"\n".join(json.dumps(value).encode() for value in values)


def read_messages(bodies):
    """The traces that deliveries hold, and how many faults."""
    items, bad = decode_messages([Message(f"delivery {number}", body) for number, body in enumerate(bodies)])
    return [item.trace for item in items], len(bad)


def go_by_queue(body, _):
    return read_messages([body])


def go_by_post(body, _):
    """The traces that the published messages hold, and how many faults the client is told."""
    publisher = ListPublisher()
    receiver = AnyTraces(publisher=publisher, tally=CountingTally(), limits=DecodingLimits())
    headers = {"content-type": "application/json"}
    head = RequestHead(method="POST", path="/traces", headers=headers, body_bytes=len(body))
    told = json.loads(receiver.receive(Request(head=head, body=body)).body)
    traces, _ = read_messages(publisher.bodies)
    return traces, len(told["refused"])


def go_by_file(body, folder):
    path = folder / "traces.json"
    path.write_bytes(body)
    items, bad = read_items(path)
    return [item.trace for item in items], len(bad)


ROADS = {"queue": go_by_queue, "receiver": go_by_post, "file": go_by_file}


@pytest.fixture(params=ROADS)
def road(request, tmp_path):
    return lambda body: ROADS[request.param](body, tmp_path)


@pytest.mark.parametrize("write", [write_array, write_lines])
@pytest.mark.parametrize("name", LISTS)
def test_the_parts_of_a_trace_are_one_trace(road, name, write):
    (trace,), faults = road(write(LISTS[name]))
    assert (trace.query, len(trace.contexts), faults) == (QUESTION, 3, 0)
    assert trace.answer.startswith("A refund is issued within 14 days")
    assert trace.record_key == ""


@pytest.mark.parametrize("write", [write_array, write_lines])
@pytest.mark.parametrize("place", [0, 1])
@pytest.mark.parametrize("bad", BAD)
@pytest.mark.parametrize("name", LISTS)
def test_a_bad_member_is_the_fault_and_the_trace_is_read_all_the_same(road, name, bad, place, write):
    members = [*LISTS[name]]
    members.insert(place, BAD[bad])
    (trace,), faults = road(write(members))
    assert (trace.query, len(trace.contexts), faults) == (QUESTION, 3, 1)


@pytest.mark.parametrize("write", [write_array, write_lines])
def test_two_traces_and_a_native_message_are_three(road, write):
    other = json.loads(json.dumps(RUNS).replace(TREE["trace_id"], "01a22960-0000-7000-8000-000000000002"))
    native = {"trace_id": "t", "query": "q"}
    traces, faults = road(write([*RUNS, native, *other]))
    assert sorted(trace.query for trace in traces) == [QUESTION, QUESTION, "q"]
    assert len({trace.trace_id for trace in traces}) == 3
    assert faults == 0
