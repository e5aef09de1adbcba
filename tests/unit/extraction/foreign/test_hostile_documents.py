"""Any JSON in any place of a real message gives findings or a DecodeError, nothing else."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders.foreign_documents import DECODERS
from ragsonde.decoding.json_text import JsonDocument
from ragsonde.decoding.limits import DecodingLimits
from ragsonde.extraction.foreign.table import FOREIGN
from ragsonde.extraction.options import RetrievalChoice, RetrievalOptions
from ragsonde.extraction.table import build_trace
from ragsonde_schemas.decoded import Receipt
from ragsonde_schemas.errors import DecodeError

DATA = Path(__file__).parents[3] / "data"
SAMPLES = [
    json.loads((DATA / "samples" / name).read_bytes())
    for name in (
        "haystack_pipeline_output.json",
        "langfuse_export_langgraph.json",
        "langfuse_export_rag.json",
        "langfuse_export_vercel_aisdk.json",
        "langsmith_run_tree.json",
        "llamaindex_response.json",
        "mastra_scorer_run.json",
    )
]
PAYLOAD = {
    "id": "c1",
    "trace_id": "t",
    "call_type": "acompletion",
    "model": "gpt-4o-mini",
    "startTime": 1796013960.5,
    "response_cost": 0.1,
    "messages": [{"role": "system", "content": "Context:\nA fact."}, {"role": "user", "content": "Why?"}],
    "response": {"choices": [{"message": {"role": "assistant", "content": "So."}}]},
    "metadata": {
        "requester_metadata": {"app": "shop"},
        "vector_store_request_metadata": [
            {
                "query": "why",
                "vector_store_search_response": {"data": [{"score": 0.1, "content": [{"text": "T"}]}]},
            }
        ],
    },
}
MESSAGE = {
    "message_id": "m",
    "conversation_id": "c",
    "mode": "chat",
    "answer": "So.",
    "created_at": 1796013960,
    "metadata": {
        "usage": {"prompt_tokens": 1, "total_price": "0.1", "currency": "USD"},
        "retriever_resources": [{"position": 1, "content": "T", "score": 0.5, "segment_id": "s"}],
    },
}
DOCUMENTS = [*SAMPLES, PAYLOAD, MESSAGE]
RECEIPT = Receipt(received_at=datetime(2026, 11, 30, tzinfo=UTC))
NAMES = """
content data documents id input kwargs message messages metadata name output outputs page_content parts query
repr result role score state text toolName type user assistant tool system tool-invocation
"""
WORDS = st.sampled_from(
    [
        *NAMES.split(),
        '{"role": "tool", "content": "x"}',
        '"x"',
        "[[]]",
        "2026-11-30T04:46:00Z",
        "0001-01-01T00:00:00+23:59",
        "9999-12-31T23:59:59-23:59",
    ]
)
TEXTS = st.text(max_size=8) | WORDS
ATOMS = (
    st.none()
    | st.booleans()
    | st.integers(min_value=-(10**300), max_value=10**300)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS
)
VALUES = st.recursive(
    ATOMS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=8,
)


def list_places(value, place=()):
    yield place
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from list_places(item, (*place, key))


PLACES = [(document, place) for document in DOCUMENTS for place in list_places(document) if place]


def substitute(value, place, other):
    if not place:
        return other
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[place[0]] = substitute(value[place[0]], place[1:], other)
    return copy


def read_whole(value):
    """Every trace that any format makes of a value, as what is stored."""
    for name, (recognises, decode) in DECODERS.items():
        if recognises(value):
            for record in decode(JsonDocument(value), DecodingLimits()).records:
                for choice in RetrievalChoice:
                    for findings in FOREIGN[name](record, options=RetrievalOptions(retrievals=choice)):
                        trace = build_trace(findings, receipt=RECEIPT, retention_days=90)
                        yield json.dumps(trace.model_dump(mode="json"), allow_nan=False)


@given(st.sampled_from(PLACES), VALUES)
def test_any_value_in_any_place_gives_findings_or_a_decode_error(target, value):
    document, place = target
    hostile = substitute(document, place, value)
    try:
        for candidate in (hostile, [hostile], {"data": [hostile]}, {"post": [hostile]}):
            list(read_whole(candidate))
    except DecodeError:
        pass


@given(VALUES)
def test_any_value_is_recognised_or_not(value):
    for recognises, _ in DECODERS.values():
        assert recognises(value) in {True, False}


@pytest.mark.parametrize("document", DOCUMENTS)
def test_each_document_gives_a_trace_untouched(document):
    assert len(list(read_whole(document))) >= 1
