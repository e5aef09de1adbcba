import gzip
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders.spans import make_span, write_export
from fakes.receiver import CountingTally, ListPublisher
from ragsonde.decoding.limits import DecodingLimits
from ragsonde.receiver.any_traces import AnyTraces
from ragsonde.receiver.requests import Request, RequestHead

EXPORT = write_export(make_span(1, kind="CHAIN", attributes={"input.value": "Wo?", "output.value": "Da."}))


def write_native(number, **more):
    return json.dumps(
        {"trace_id": f"t{number}", "query": "Wo?", "contexts": ["Da."], "answer": "Da.", **more}
    ).encode()


BAD = write_native(9, contexts=[{"content": 7}])


class Receiver:
    """The receiver's answer to one request after another, with what it published."""

    def __init__(self, *, room=None, limits=None):
        self.publisher, self.tally = ListPublisher(room=room), CountingTally()
        self._traces = AnyTraces(
            publisher=self.publisher, tally=self.tally, limits=limits or DecodingLimits()
        )

    def post(self, body, *, content_type="application/json", encoding=""):
        headers = {"content-type": content_type, "content-encoding": encoding}
        head = RequestHead(method="POST", path="/traces", headers=headers, body_bytes=len(body))
        answer = self._traces.receive(Request(head=head, body=body))
        return answer, json.loads(answer.body)


@pytest.fixture
def receiver():
    return Receiver()


@pytest.mark.parametrize(
    "content_type",
    ["", "application/json", "application/x-www-form-urlencoded", "text/plain", "application/x-ndjson"],
)
def test_one_native_message_whatever_its_type_is_called(receiver, content_type):
    answer, told = receiver.post(write_native(1), content_type=content_type)
    assert (answer.status, told) == (202, {"accepted": 1, "refused": []})
    assert receiver.publisher.bodies == [write_native(1)]


@pytest.mark.parametrize("content_type", ["application/x-protobuf", "application/octet-stream", ""])
def test_an_export_in_protobuf(receiver, content_type):
    answer, told = receiver.post(EXPORT, content_type=content_type)
    assert (answer.status, told) == (202, {"accepted": 1, "refused": []})
    assert receiver.publisher.bodies == [EXPORT]


def test_what_is_compressed_and_one_message_stays_compressed(receiver):
    body = gzip.compress(write_native(1))
    assert receiver.post(body, encoding="gzip")[0].status == 202
    assert receiver.publisher.bodies == [body]


def test_each_item_of_an_array_is_a_message(receiver):
    answer, told = receiver.post(b"[" + write_native(1) + b", " + write_native(2) + b"]")
    assert (answer.status, told) == (202, {"accepted": 2, "refused": []})
    assert receiver.publisher.bodies == [write_native(1), write_native(2)]
    assert receiver.tally.messages == {"accepted": 2}


def test_each_compressed_line_is_a_message(receiver):
    body = gzip.compress(write_native(1) + b"\n" + write_native(2) + b"\n")
    assert receiver.post(body, encoding="gzip")[1]["accepted"] == 2
    assert receiver.publisher.bodies == [write_native(1), write_native(2)]


def test_a_bad_item_holds_up_no_other_and_is_named(receiver):
    answer, told = receiver.post(b"[" + b",".join([write_native(1), BAD, write_native(2)]) + b"]")
    assert answer.status == 202
    assert told["accepted"] == 2
    (refused,) = told["refused"]
    assert refused["place"] == "item 2"
    assert refused["problem"].startswith("contexts[0].content: found number 7")
    assert receiver.publisher.bodies == [write_native(1), write_native(2)]
    assert receiver.tally.messages == {"accepted": 2, "refused": 1}


def test_a_bad_line_is_named_by_its_number(receiver):
    _, told = receiver.post(write_native(1) + b"\n\n" + BAD + b"\n" + write_native(2))
    assert [one["place"] for one in told["refused"]] == ["line 3"]


@pytest.mark.parametrize("body", [BAD, b"[" + BAD + b"," + BAD + b"]", BAD + b"\n" + BAD])
def test_where_all_are_bad_it_is_a_400(receiver, body):
    answer, told = receiver.post(body)
    assert answer.status == 400
    assert told["accepted"] == 0
    assert told["refused"]
    assert receiver.publisher.published == []


@pytest.mark.parametrize("body", [b"", b"  \n", gzip.compress(b"", mtime=0)])
def test_nothing_is_a_400(receiver, body):
    answer, told = receiver.post(body)
    assert answer.status == 400
    assert "expected a trace" in told["problem"]


def test_an_empty_array_is_no_trace_and_no_fault(receiver):
    answer, told = receiver.post(b"[]")
    assert (answer.status, told) == (202, {"accepted": 0, "refused": []})


def test_a_form_nobody_knows_is_a_400_that_says_what_was_found(receiver):
    answer, told = receiver.post(b'{"colour": "blue"}')
    assert answer.status == 400
    assert "colour" in told["refused"][0]["problem"]


def test_one_message_over_the_limit_is_a_413():
    receiver = Receiver(limits=DecodingLimits(body_bytes=1000))
    body = write_native(1, answer="x" * 2000)
    assert receiver.post(body)[0].status == 413


def test_an_item_over_the_limit_is_refused_beside_the_others():
    receiver = Receiver(limits=DecodingLimits(body_bytes=1000))
    body = gzip.compress(write_native(1) + b"\n" + write_native(2, answer="x" * 2000) + b"\n")
    answer, told = receiver.post(body, encoding="gzip")
    assert (answer.status, told["accepted"]) == (202, 1)
    assert [one["place"] for one in told["refused"]] == ["line 2"]


def test_a_bomb_is_a_413():
    receiver = Receiver(limits=DecodingLimits(decompressed_bytes=10_000))
    assert receiver.post(gzip.compress(b" " * 1_000_000))[0].status == 413


def test_of_many_bad_ones_the_first_hundred_are_listed(receiver):
    body = b"\n".join([b'{"colour": 1}'] * 150)
    _, told = receiver.post(body)
    assert len(told["refused"]) == 100
    assert told["refused_not_listed"] == 50


@pytest.mark.parametrize("room", [0, 1, 2])
def test_when_the_queue_fills_up_in_the_middle_only_what_was_confirmed_is_told_as_accepted(room):
    receiver = Receiver(room=room)
    body = b"\n".join([write_native(1), BAD, write_native(2), write_native(3)])
    answer, told = receiver.post(body)
    assert answer.status == 503
    assert ("Retry-After", "5") in answer.headers
    assert told["accepted"] == room == len(receiver.publisher.published)
    assert [one["place"] for one in told["refused"]] == ["line 2"]
    assert "its queue is full" in told["problem"]
    expected = {"accepted": room, "unconfirmed": 3 - room, "refused": 1}
    assert receiver.tally.messages == {name: count for name, count in expected.items() if count}


def test_nothing_is_published_before_all_was_read(receiver):
    order = []
    receiver.publisher.on_publish = lambda: order.append(dict(receiver.tally.messages))
    receiver.post(write_native(1) + b"\n" + BAD)
    assert order == [{"refused": 1}]


def test_a_misspelt_key_is_told_with_what_was_meant_and_the_message_taken(receiver):
    answer, told = receiver.post(b'{"trace_id": "t1", "qery": "Wo?", "contexts": ["Da."], "answer": "Da."}')
    assert (answer.status, told["accepted"], told["refused"]) == (202, 1, [])
    (warning,) = told["warnings"]
    assert warning["place"] == "body"
    assert "qery" in warning["problem"]
    assert "query" in warning["problem"].partition("did you mean ")[2]


def test_of_many_items_the_place_of_each_warning_is_told_and_a_refused_one_has_none(receiver):
    odd, odd_and_bad = write_native(2, colour="blue"), write_native(3, colour="blue", contexts=7)
    _, told = receiver.post(b"\n".join([write_native(1), odd, odd_and_bad]))
    assert [one["place"] for one in told["warnings"]] == ["line 2"]
    assert [one["place"] for one in told["refused"]] == ["line 3"]


def test_what_was_mended_in_spans_is_a_warning_too(receiver):
    odd = {"key": "odd", "value": {"stringValue": "a\0b"}}
    span = {"traceId": "5" * 32, "spanId": "6" * 16, "name": "answer", "attributes": [odd]}
    export = {"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}
    answer, told = receiver.post(json.dumps(export).encode())
    assert (answer.status, told["accepted"]) == (202, 1)
    (warning,) = told["warnings"]
    assert "spans[0].attributes[0]" in warning["problem"]


def test_of_many_warnings_the_first_hundred_are_listed(receiver):
    _, told = receiver.post(b"\n".join([write_native(1, colour="blue")] * 150))
    assert (len(told["warnings"]), told["warnings_not_listed"]) == (100, 50)


def test_warnings_are_told_beside_a_503():
    _, told = Receiver(room=0).post(write_native(1, colour="blue"))
    assert "colour" in told["warnings"][0]["problem"]
    assert told["problem"]


FORM = "application/x-www-form-urlencoded"


@pytest.mark.parametrize(
    "body", [write_native(1) + write_native(2), EXPORT.replace(b"\n", b""), b"x", b"\x28no gzip"]
)
def test_a_body_whose_ends_of_lines_curl_took_is_answered_with_the_option(receiver, body):
    answer, told = receiver.post(body, content_type=FORM)
    assert answer.status == 400
    assert "--data-binary" in told["refused"][0]["problem"]


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        (write_native(1) + write_native(2), "application/json"),
        (write_native(1) + b"\n{]", FORM),
        (BAD, FORM),
    ],
)
def test_of_curl_is_spoken_only_where_it_may_be_the_reason(receiver, body, content_type):
    _, told = receiver.post(body, content_type=content_type)
    assert "curl" not in told["refused"][0]["problem"]


@pytest.mark.parametrize("body", [b"{", b'{"trace_id": }', b'"x', b"{}{}", b"\xff{", b"{\xff", b"\x0a\xff"])
@pytest.mark.parametrize("content_type", ["", "application/json", "application/x-protobuf"])
def test_of_what_is_no_message_it_is_told_what_was_expected(receiver, body, content_type):
    answer, told = receiver.post(body, content_type=content_type)
    assert answer.status == 400
    assert "expected" in told["refused"][0]["problem"]


@pytest.mark.parametrize("encoding", ["gzip", "zstd", "deflate"])
@pytest.mark.parametrize("body", [write_native(1), EXPORT])
def test_a_plain_body_whose_encoding_says_that_it_is_compressed_is_read_as_what_it_is(
    receiver, body, encoding
):
    answer, told = receiver.post(body, content_type="", encoding=encoding)
    assert (answer.status, told["accepted"]) == (202, 1)
    assert receiver.publisher.bodies == [body]


@pytest.mark.parametrize("encoding", ["gzip", "zstd"])
def test_where_it_is_nothing_that_is_known_the_encoding_is_named(receiver, encoding):
    answer, told = receiver.post(b"nonsense", encoding=encoding)
    assert answer.status == 400
    assert f"content encoding says {encoding}, found bytes that start with 6e 6f 6e 73" in told["problem"]


@given(st.binary(max_size=300), st.sampled_from(["", "application/json", "application/x-protobuf"]))
def test_any_bytes_are_an_answer(body, content_type):
    assert Receiver().post(body, content_type=content_type)[0].status in {202, 400, 413}
