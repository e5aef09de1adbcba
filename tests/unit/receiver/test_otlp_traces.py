import gzip
import json
import zlib

import pytest
import zstandard
from google.protobuf.json_format import MessageToDict
from google.rpc.status_pb2 import Status
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)

from builders.spans import make_span, write_export
from fakes.receiver import CountingTally, ListPublisher
from ragsonde.decoding.limits import DecodingLimits
from ragsonde.receiver.otlp_traces import OtlpTraces
from ragsonde.receiver.requests import Request, RequestHead

PROTOBUF, JSON = "application/x-protobuf", "application/json"
EXPORT = write_export(make_span(1, kind="CHAIN", attributes={"input.value": "Wo?", "output.value": "Da."}))


class Receiver:
    """The receiver's answer to one request after another, with what it published."""

    def __init__(self, *, room=None, limits=None):
        self.publisher, self.tally = ListPublisher(room=room), CountingTally()
        self._traces = OtlpTraces(
            publisher=self.publisher, tally=self.tally, limits=limits or DecodingLimits()
        )

    def post(self, body, *, content_type=PROTOBUF, encoding=""):
        headers = {"content-type": content_type, "content-encoding": encoding}
        head = RequestHead(method="POST", path="/v1/traces", headers=headers, body_bytes=len(body))
        return self._traces.receive(Request(head=head, body=body))


@pytest.fixture
def receiver():
    return Receiver()


def write_json(export=EXPORT):
    """An export as OTLP/JSON: hex ids."""
    told = MessageToDict(ExportTraceServiceRequest.FromString(export))
    for span in told["resourceSpans"][0]["scopeSpans"][0]["spans"]:
        span["traceId"], span["spanId"] = "6ff2cb8a7635c0ce43f51f8457f147df", f"{1:016x}"
    return json.dumps(told).encode()


def test_protobuf_is_published_as_it_came_and_answered_in_protobuf(receiver):
    answer = receiver.post(EXPORT)
    assert (answer.status, answer.content_type) == (200, PROTOBUF)
    assert ExportTraceServiceResponse.FromString(answer.body) == ExportTraceServiceResponse()
    assert receiver.publisher.published == [(EXPORT, PROTOBUF)]
    assert receiver.tally.messages == {"accepted": 1}


def test_json_is_published_as_it_came_and_answered_in_json(receiver):
    body = write_json()
    answer = receiver.post(body, content_type="application/json; charset=utf-8")
    assert (answer.status, answer.content_type, answer.body) == (200, JSON, b"{}")
    assert receiver.publisher.published == [(body, JSON)]


@pytest.mark.parametrize(
    ("encoding", "body"),
    [
        ("gzip", gzip.compress(EXPORT, mtime=0)),
        ("zstd", zstandard.compress(EXPORT)),
        ("", gzip.compress(EXPORT, mtime=0)),
    ],
)
def test_what_is_compressed_stays_so_on_the_queue(receiver, encoding, body):
    assert receiver.post(body, encoding=encoding).status == 200
    assert receiver.publisher.bodies == [body]


def test_deflate_becomes_gzip_as_its_first_bytes_would_not_tell_a_worker_what_it_is(receiver):
    assert receiver.post(zlib.compress(EXPORT), encoding="deflate").status == 200
    assert [gzip.decompress(body) for body in receiver.publisher.bodies] == [EXPORT]


@pytest.mark.parametrize(
    ("body", "content_type", "encoding"),
    [
        (b"", PROTOBUF, ""),
        (gzip.compress(b"", mtime=0), PROTOBUF, "gzip"),
        (b"{}", JSON, ""),
        (b'{"resourceSpans": []}', JSON, ""),
    ],
)
def test_an_export_without_spans_is_accepted_and_nothing_is_published(receiver, body, content_type, encoding):
    assert receiver.post(body, content_type=content_type, encoding=encoding).status == 200
    assert receiver.publisher.published == []


def test_spans_that_cannot_be_read_beside_others_are_told_as_rejected(receiver):
    export = ExportTraceServiceRequest.FromString(EXPORT)
    spans = export.resource_spans[0].scope_spans[0].spans
    spans.add(trace_id=b"short", span_id=b"12345678", name="bad")
    answer = receiver.post(export.SerializeToString())
    assert answer.status == 200
    told = ExportTraceServiceResponse.FromString(answer.body).partial_success
    assert told.rejected_spans == 1
    assert "trace" in told.error_message
    assert len(receiver.publisher.published) == 1


def test_the_same_in_json(receiver):
    document = json.loads(write_json())
    spans = document["resourceSpans"][0]["scopeSpans"][0]["spans"]
    spans.append({**spans[0], "traceId": "12", "spanId": "2" * 16})
    told = json.loads(receiver.post(json.dumps(document).encode(), content_type=JSON).body)
    assert told["partialSuccess"]["rejectedSpans"] == "1"
    assert "spans[1]" in told["partialSuccess"]["errorMessage"]


def test_where_no_span_can_be_read_the_place_is_named_and_nothing_published(receiver):
    export = ExportTraceServiceRequest()
    export.resource_spans.add().scope_spans.add().spans.add(trace_id=b"short", span_id=b"12345678")
    answer = receiver.post(export.SerializeToString())
    assert (answer.status, answer.content_type) == (400, PROTOBUF)
    status = Status.FromString(answer.body)
    assert status.code == 3
    assert "spans[0].trace_id: found 5 bytes" in status.message
    assert receiver.publisher.published == []
    assert receiver.tally.messages == {"refused": 1}


@pytest.mark.parametrize("body", [b"\xff\xff\xff", b"nonsense", EXPORT[:-3]])
def test_what_is_no_protobuf_is_a_400_in_protobuf(receiver, body):
    answer = receiver.post(body)
    assert answer.status == 400
    assert Status.FromString(answer.body).message


def test_what_is_no_json_is_a_400_in_json_with_the_place(receiver):
    answer = receiver.post(b'{"resourceSpans": [}', content_type=JSON)
    assert (answer.status, answer.content_type) == (400, JSON)
    told = json.loads(answer.body)
    assert told["code"] == 3
    assert "at column " in told["message"]


def test_a_native_message_is_sent_to_where_it_belongs(receiver):
    native = b'{"trace_id": "t1", "query": "Wo?", "contexts": ["Da."], "answer": "Da."}'
    answer = receiver.post(native, content_type=JSON)
    assert answer.status == 400
    assert "/traces" in json.loads(answer.body)["message"]


def test_what_decompresses_to_more_than_the_limit_is_a_413():
    receiver = Receiver(limits=DecodingLimits(decompressed_bytes=10_000))
    answer = receiver.post(gzip.compress(b"\0" * 1_000_000), encoding="gzip")
    assert answer.status == 413
    assert Status.FromString(answer.body).code == 8


def test_a_broken_stream_is_a_400(receiver):
    assert receiver.post(gzip.compress(EXPORT)[:-9], encoding="gzip").status == 400


@pytest.mark.parametrize(("body", "content_type"), [(EXPORT, PROTOBUF), (write_json(), JSON)])
def test_a_plain_export_whose_encoding_says_gzip_is_read_as_what_it_is(receiver, body, content_type):
    assert receiver.post(body, content_type=content_type, encoding="gzip").status == 200
    assert receiver.publisher.published == [(body, content_type)]


@pytest.mark.parametrize("body", [b"{", b"nonsense", b"\xff", b"\x0a\xff", b'{"trace_id": 7}'])
@pytest.mark.parametrize("encoding", ["", "gzip"])
def test_of_what_is_no_export_it_is_told_what_was_expected_or_what_to_do(receiver, body, encoding):
    told = json.loads(receiver.post(body, content_type=JSON, encoding=encoding).body)
    assert "expected" in told["message"] or "publish the body uncompressed" in told["message"]


def test_a_full_queue_is_a_503_that_says_when_to_come_again():
    receiver = Receiver(room=0)
    answer = receiver.post(EXPORT)
    assert answer.status == 503
    assert ("Retry-After", "5") in answer.headers
    assert Status.FromString(answer.body).code == 14
    assert receiver.tally.messages == {"unconfirmed": 1}


@given(st.binary(max_size=300), st.sampled_from([PROTOBUF, JSON]), st.sampled_from(["", "gzip", "deflate"]))
def test_any_bytes_are_an_answer(body, content_type, encoding):
    receiver = Receiver()
    answer = receiver.post(body, content_type=content_type, encoding=encoding)
    assert answer.status in {200, 400, 413}
    assert answer.content_type == content_type


def test_no_answer_holds_what_was_posted(receiver):
    answer = receiver.post(b'{"resourceSpans": [{"hunter2": hunter2}]}', content_type=JSON)
    assert b"hunter2" not in answer.body
