import pytest

from builders.envelopes import wrap, wrap_json
from builders.spans import make_span, write_export
from ragsonde.assembly.records import gather_records
from ragsonde.decoding.table import decode
from ragsonde_schemas.errors import DecodeError, ParkReason

ROOT = make_span(1, kind="CHAIN")
RETRIEVER = make_span(2, 1, kind="RETRIEVER")
MODEL = make_span(3, 1, kind="LLM")


def gather(*spans):
    return gather_records(decode(wrap(write_export(*spans))))


def miss(*spans):
    with pytest.raises(DecodeError) as caught:
        gather(*spans)
    assert caught.value.reason is ParkReason.INCOMPLETE_TRACE
    return str(caught.value)


def test_a_native_message_is_a_record():
    decoded = decode(wrap_json({"trace_id": "a", "query": "q"}))
    assert decoded.messages == gather_records(decoded)


def test_root_and_retrieval_make_one_whole_trace_in_any_order():
    (whole,) = gather(MODEL, RETRIEVER, ROOT)
    assert whole.root == ROOT
    assert whole.spans == (ROOT, RETRIEVER, MODEL)
    assert whole.format == "otlp_protobuf"


def test_a_reranker_is_a_retrieval_too():
    gather(ROOT, make_span(2, 1, kind="reranker"))


def test_a_span_given_twice_is_one():
    (whole,) = gather(ROOT, RETRIEVER, RETRIEVER)
    assert whole.spans == (ROOT, RETRIEVER)


def test_spans_of_several_traces_are_not_one():
    other = RETRIEVER._replace(trace_id="b" * 32)
    assert f"spans of 2 traces ({ROOT.trace_id}, {other.trace_id})" in miss(ROOT, other)


def test_a_missing_root_is_named():
    message = miss(RETRIEVER, MODEL)
    assert "the root, and a parent is missing: 2 spans" in message
    assert "0000000000000001" in message


def test_a_remote_parent_is_named():
    remote = make_span(1, 9)
    assert "the root, and a parent is missing: 1 spans name parents that are not here" in miss(
        remote, RETRIEVER
    )


def test_a_missing_parent_below_the_root_is_named():
    message = miss(ROOT, RETRIEVER, *(make_span(number, 90 + number) for number in range(4, 8)))
    assert "a parent is missing: 4 spans name parents that are not here" in message
    assert "and 1 more" in message


def test_spans_in_a_circle_have_no_root():
    assert "the root is missing: each of the 2 spans" in miss(
        make_span(1, 2), make_span(2, 1, kind="RETRIEVER")
    )


def test_two_roots_are_not_one_trace():
    assert "found 2 root spans" in miss(ROOT, make_span(5), RETRIEVER)


def test_a_missing_retrieval_is_named():
    assert "RETRIEVER or RERANKER among 2 spans: the retrieval is missing" in miss(ROOT, MODEL)


def test_what_was_mended_is_told_on():
    decoded = decode(
        wrap(write_export(ROOT, make_span(2, 1, kind="RETRIEVER", attributes={"input.value": "a\0"})))
    )
    (whole,) = gather_records(decoded)
    assert whole.warnings == ("spans[1]: NUL replaced by U+FFFD",)
