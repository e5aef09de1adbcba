from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders.envelopes import RECEIPT, RECEIVED_AT, find_refusal, wrap, wrap_json
from builders.spans import make_span, make_whole
from ragsonde.assembly.records import gather_records
from ragsonde.decoding.table import decode
from ragsonde.extraction.findings import FoundContext
from ragsonde.extraction.numbering import number_contexts
from ragsonde.extraction.table import build_trace, find_fields
from ragsonde_schemas.errors import Cause, DecodeError, ParkReason
from ragsonde_schemas.trace import ContextOrigin

TEXT = "A refund takes 14 days. It is free.\nAsk us."


def trace_of(**fields):
    return trace_from(wrap_json({"trace_id": "t-1", "query": "q", **fields}).body)


def trace_from(body):
    (record,) = decode(wrap(body)).records
    return trace_in(record)


def trace_in(record):
    (found,) = find_fields(record)
    return build_trace(found, receipt=RECEIPT, retention_days=90)


def read_any(body):
    """Whatever a body holds, through to traces; raises nothing but DecodeError."""
    decoded = decode(wrap(body))
    spans = gather_records(decoded.spans, format_name=decoded.format) if decoded.spans else ()
    for record in (*decoded.records, *spans):
        for found in find_fields(record):
            build_trace(found, receipt=RECEIPT, retention_days=90)


@pytest.mark.parametrize(
    ("contexts", "missing"),
    [
        (None, Cause.NO_CONTEXT),
        ([], Cause.EMPTY_RETRIEVAL),
        ("", Cause.EMPTY_RETRIEVAL),
        ([" ", {"content": "\n\t"}], Cause.EMPTY_RETRIEVAL),
        (["", "x"], None),
        ("x", None),
    ],
)
def test_unknown_empty_and_blank_contexts_are_told_apart(contexts, missing):
    assert trace_of(contexts=contexts).missing_contexts is missing


def test_absent_contexts_are_unknown():
    assert trace_of().missing_contexts is Cause.NO_CONTEXT


def test_contexts_and_sentences_are_numbered_from_one_and_ranked_from_zero():
    trace = trace_of(contexts=[TEXT, " ", {"content": "Gift cards.", "id": "g"}])
    assert [(context.rank, context.number, context.is_blank) for context in trace.contexts] == [
        (0, "1", False),
        (1, "2", True),
        (2, "3", False),
    ]
    assert [(sentence.number, sentence.text) for sentence in trace.sentences] == [
        ("1.1", "A refund takes 14 days."),
        ("1.2", "It is free."),
        ("1.3", "Ask us."),
        ("3.1", "Gift cards."),
    ]


def test_a_time_in_1970_or_2100_is_replaced_and_the_claim_kept():
    for claimed in ("1970-01-01T00:00:00+00:00", "2100-01-01T00:00:00+00:00"):
        trace = trace_of(occurred_at=claimed)
        assert (trace.occurred_at, trace.occurred_at_guessed) == (RECEIVED_AT, True)
        assert claimed == trace.claimed_occurred_at
        assert trace.extraction.fields["occurred_at"].rule == "occurrence:received_at"


def test_the_time_inside_an_id_replaces_a_missing_one():
    for ids in (
        {"trace_id": "01a22499-f800-7000-8000-000000000000"},
        {"event_id": "01a22499-f800-7000-8000-000000000000"},
    ):
        trace = trace_of(**ids)
        assert (trace.occurred_at, trace.occurred_at_guessed) == (datetime(2026, 11, 29, tzinfo=UTC), True)
        assert trace.claimed_occurred_at is None


def test_labels_and_names_are_stripped_and_cut_with_a_warning():
    trace = trace_of(app=f" {'a' * 300}", release=" 1 ", environment=" ", session_id="s" * 600, user_id=" ")
    assert (trace.app, trace.release, trace.environment) == ("a" * 91 + "~9835fa6b", "1", "")
    assert (trace.session_id, trace.user_id) == ("s" * 512, None)
    assert trace.extraction.warnings == (
        "app: found 300 characters, cut to 100 with a digest",
        "session_id: found 600 characters, cut to 512",
    )


def test_everything_of_the_message_reaches_the_trace():
    trace = trace_of(
        event_id="e",
        variant="b",
        retrieval_query="r",
        messages=[{"role": "user", "content": "before"}],
        contexts=[{"content": "c", "source_uri": "u", "metadata": {"a": 1}, "page": 2}],
        answer="a",
        reference="x",
        model="m",
        usage={"total_tokens": 3},
        latency_ms=5,
        cost_usd=0.5,
        tags=["t"],
        metadata={"k": 1},
        evaluation={"sample_rate": 0.5},
        sampling_probability=0.5,
        colour="red",
    )
    assert (trace.event_id, trace.variant, trace.retrieval_query) == ("e", "b", "r")
    assert [turn.content for turn in trace.turns] == ["before"]
    assert (trace.contexts[0].source_uri, trace.contexts[0].metadata) == ("u", {"a": 1})
    assert (trace.reference.answer, trace.model, trace.usage) == ("x", "m", {"total_tokens": 3})
    assert (trace.latency_ms, trace.cost_usd, trace.tags, trace.metadata) == (5.0, 0.5, ("t",), {"k": 1})
    assert (trace.wish.sample_rate, trace.sampling_probability) == (0.5, 0.5)
    assert trace.extra == {"colour": "red", "contexts[0].page": 2}


def test_equal_content_has_an_equal_hash_whatever_else_differs():
    one = trace_of(contexts=[{"content": "a", "id": "1"}], app="shop", metadata={"k": 1})
    other = trace_of(contexts=["a"], app="other", occurred_at="2026-11-29T00:00:00Z")
    assert one.content_hash == other.content_hash
    assert one.content_hash != trace_of(contexts=["b"]).content_hash
    assert one.content_hash != trace_of(contexts=["a"], answer="x").content_hash


def test_spans_become_a_trace():
    whole = make_whole(
        make_span(1, kind="CHAIN", attributes={"input.value": "How long?", "output.value": "14 days."}),
        make_span(2, 1, kind="RETRIEVER", attributes={"retrieval.documents.0.document.content": TEXT}),
    )
    trace = trace_in(whole)
    assert (trace.query, trace.answer, trace.contexts[0].origin) == ("How long?", "14 days.", "retriever")
    assert (trace.extraction.format, trace.occurred_at_guessed) == ("otlp_protobuf", False)


def test_a_text_of_too_many_sentences_is_refused():
    context = FoundContext("a\n" * 50_001, ContextOrigin.PRODUCER)
    with pytest.raises(DecodeError, match=r"contexts\[1\].content: found 50002 sentences") as caught:
        number_contexts([FoundContext("One.", ContextOrigin.PRODUCER), context])
    assert caught.value.reason is ParkReason.OVER_LIMIT


MESSAGES = st.fixed_dictionaries(
    {"trace_id": st.text(min_size=1, max_size=10)},
    optional={
        "query": st.text(max_size=20),
        "answer": st.text(max_size=20),
        "retrieval_query": st.none() | st.text(max_size=20),
        "event_id": st.uuids().map(str),
        "app": st.text(max_size=300),
        "occurred_at": st.datetimes(timezones=st.none() | st.timezones()).map(datetime.isoformat),
        "messages": st.lists(
            st.fixed_dictionaries(
                {"role": st.sampled_from(["user", "assistant", "x"]), "content": st.text()}
            ),
            max_size=4,
        ),
        "contexts": st.none()
        | st.text()
        | st.lists(
            st.text()
            | st.fixed_dictionaries(
                {"content": st.text()},
                optional={"score": st.floats() | st.integers(), "rank": st.integers(), "x": st.text()},
            ),
            max_size=4,
        ),
        "reference": st.none() | st.text() | st.fixed_dictionaries({}, optional={"answer": st.text()}),
        "metadata": st.dictionaries(st.text(max_size=3), st.integers() | st.text(max_size=3), max_size=2),
        "latency_ms": st.floats() | st.integers(),
    },
)


@given(MESSAGES)
def test_any_native_message_becomes_a_trace_or_is_refused(fields):
    if find_refusal(trace_of, **fields) is None:
        trace = trace_of(**fields)
        assert trace.key.day == trace.occurred_at.date()
        stored = trace.model_dump_json()
        stored.encode()
        assert "\\u0000" not in stored.replace("\\\\", "")


ATTRIBUTE_NAMES = st.sampled_from(
    [
        "input.value",
        "output.value",
        "openinference.span.kind",
        "metadata",
        "tag.tags",
        "session.id",
        "retrieval.documents.0.document.content",
        "retrieval.documents.1.document.score",
        "llm.cost.total",
        "reranker.output_documents.0.document.metadata",
        "llm.input_messages.0.message.role",
        "llm.input_messages.0.message.content",
        "llm.prompt_template.variables",
        "llm.token_count.prompt",
    ]
)
VALUES = (
    st.sampled_from(
        ["RETRIEVER", "LLM", "system", "[]", '{"documents": [{"id": 1}]}', '{"query": "q"}', "[5, null]"]
    )
    | st.text(max_size=5)
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.lists(st.text(max_size=3), max_size=2)
    | st.dictionaries(st.text(max_size=3), st.text(max_size=3), max_size=2)
    | st.none()
)


@given(
    st.lists(
        st.tuples(st.integers(1, 4), st.dictionaries(ATTRIBUTE_NAMES, VALUES, max_size=6)),
        min_size=1,
        max_size=4,
    )
)
def test_any_spans_become_a_trace(given_spans):
    spans = [make_span(1), *(make_span(number + 2, parent) for number, (parent, _) in enumerate(given_spans))]
    attributes = [{}, *(attributes for _, attributes in given_spans)]
    whole = make_whole(
        *(span._replace(attributes=item) for span, item in zip(spans, attributes, strict=True))
    )
    found = find_fields(whole)
    assert {build_trace(one, receipt=RECEIPT, retention_days=90).trace_id for one in found} <= {
        whole.root.trace_id
    }


@given(st.binary(max_size=200))
def test_any_bytes_become_traces_or_are_refused(body):
    refusal = find_refusal(read_any, body)
    assert refusal is None or str(refusal)


@pytest.mark.parametrize("named", ["default", " default ", "", None])
def test_an_app_that_calls_itself_as_unknown_ones_are_shown_is_an_unknown_one(named):
    assert trace_of(app=named).app == ""
