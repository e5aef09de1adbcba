"""Results as `gen_ai.evaluation.result` events, as a collector reads them."""

from __future__ import annotations

import pytest
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import (
    ExportLogsPartialSuccess,
    ExportLogsServiceRequest,
    ExportLogsServiceResponse,
)

from fakes.http_taker import Answer, serving
from fakes.score_events import make_event
from ragsonde.sinks.options import ScoreSinkOptions
from ragsonde.sinks.otlp import OtlpSink

TRACE_ID = "0af7651916cd43dd8448eb211c80319c"
SPAN_ID = "b7ad6b7169203331"


def send(*events, path=""):
    """What a receiver of OTLP/HTTP got."""
    with serving() as taker:
        sink = OtlpSink(ScoreSinkOptions(kind="otlp", url=f"{taker.url}{path}", timeout_seconds=5))
        assert sink.deliver(events) == 0
    (posted,) = taker.posted
    assert posted.headers["content-type"] == "application/x-protobuf"
    return posted.path, ExportLogsServiceRequest.FromString(posted.body)


def read(record):
    values = {}
    for attribute in record.attributes:
        values[attribute.key] = getattr(attribute.value, attribute.value.WhichOneof("value"))
    return values


def read_one(event):
    _, request = send(event)
    ((record,),) = [scope.log_records for one in request.resource_logs for scope in one.scope_logs]
    return record


def test_a_score_is_an_event_of_the_semantic_conventions():
    record = read_one(make_event(trace_id=TRACE_ID, record_key=SPAN_ID, span_id=SPAN_ID, response_id="r-7"))
    assert record.event_name == "gen_ai.evaluation.result"
    assert (record.trace_id.hex(), record.span_id.hex()) == (TRACE_ID, SPAN_ID)
    # 2026-06-15T12:00:00Z
    assert record.time_unix_nano == 1_781_524_800_000_000_000
    attributes = read(record)
    expected = {
        "gen_ai.evaluation.name": "context_precision",
        "gen_ai.evaluation.score.value": 0.8,
        "gen_ai.evaluation.score.label": "good",
        "gen_ai.evaluation.explanation": "1 of 2 contexts is relevant",
        "gen_ai.response.id": "r-7",
        "ragsonde.judge.epoch": 2,
        "ragsonde.judge.model": "m-2",
        "ragsonde.passed": True,
    }
    assert {name: attributes[name] for name in expected} == expected
    assert "error.type" not in attributes


def test_an_error_has_its_type_and_no_value():
    record = read_one(
        make_event(status="error", cause="refused", raw=None, value=None, band=None, passed=None)
    )
    attributes = read(record)
    assert attributes["error.type"] == "refused"
    assert not {"gen_ai.evaluation.score.value", "gen_ai.evaluation.score.label"} & set(attributes)


def test_what_is_skipped_is_no_error():
    record = read_one(
        make_event(status="skipped", cause="no_answer", raw=None, value=None, band=None, passed=None)
    )
    attributes = read(record)
    assert ("error.type" in attributes, attributes["ragsonde.cause"]) == (False, "no_answer")


@pytest.mark.parametrize("trace_id", ["order-17", "0" * 32, "g" * 32, TRACE_ID[:-1]])
def test_an_id_that_is_none_of_opentelemetry_stands_in_an_attribute_alone(trace_id):
    record = read_one(make_event(trace_id=trace_id, span_id=SPAN_ID))
    assert (record.trace_id, record.span_id) == (b"", b"")
    assert read(record)["ragsonde.trace.id"] == trace_id


def test_a_uuid_is_a_trace_id():
    record = read_one(make_event(trace_id="0AF76519-16cd-43dd-8448-eb211c80319c"))
    assert record.trace_id.hex() == TRACE_ID


def test_apps_are_resources():
    _, request = send(make_event(1), make_event(2), make_event(3, app="", environment="", release=""))
    found = [
        (read(one.resource), sum(len(scope.log_records) for scope in one.scope_logs))
        for one in request.resource_logs
    ]
    assert found == [
        (
            {
                "service.name": "shop",
                "deployment.environment.name": "production",
                "service.version": "2026.6",
            },
            2,
        ),
        ({"service.name": "default"}, 1),
    ]


@pytest.mark.parametrize(
    ("path", "posted_to"), [("", "/v1/logs"), ("/", "/v1/logs"), ("/otlp/logs", "/otlp/logs")]
)
def test_a_url_without_a_path_gets_that_of_logs(path, posted_to):
    assert send(make_event(), path=path)[0] == posted_to


def test_records_that_a_collector_rejects_are_told():
    partial = ExportLogsPartialSuccess(rejected_log_records=2, error_message="too old")
    body = ExportLogsServiceResponse(partial_success=partial).SerializeToString()
    with serving(Answer(200, body)) as taker:
        sink = OtlpSink(ScoreSinkOptions(kind="otlp", url=taker.url))
        assert sink.deliver([make_event(1), make_event(2), make_event(3)]) == 2


def test_an_answer_that_is_no_otlp_is_no_failure():
    with serving(Answer(200, b"<html>ok</html>")) as taker:
        assert OtlpSink(ScoreSinkOptions(kind="otlp", url=taker.url)).deliver([make_event()]) == 0
