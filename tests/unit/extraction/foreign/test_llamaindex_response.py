import json
from hashlib import sha256

import pytest

from builders.foreign_documents import ANSWER, QUESTION, TEXTS, find_one, get_rule, list_contexts


def make_response(*nodes, **fields):
    return {"response": ANSWER, "source_nodes": list(nodes), "metadata": None, **fields}


def make_node(text=TEXTS[0], *, score=0.9, **fields):
    return {"node": {"id_": "a", "text": text, "metadata": {"source": "faq.md"}, **fields}, "score": score}


def test_a_response_is_read_whole():
    found = find_one(make_response(make_node()))
    assert found.answer == ANSWER
    assert list_contexts(found) == [("a", TEXTS[0], 0.9)]
    assert found.contexts[0].metadata == {"source": "faq.md"}
    assert found.query is None
    assert get_rule(found, "contexts") == "llamaindex_response:retriever"


@pytest.mark.parametrize(
    "node",
    [
        {"node": {"id_": "a", "text_resource": {"text": TEXTS[0]}}, "score": 0.9},
        {"node": {"__data__": {"id_": "a", "text": TEXTS[0]}, "__type__": "1"}, "score": "0.9"},
        {"id_": "a", "text": TEXTS[0], "score": 0.9},
    ],
)
def test_nodes_of_other_versions_are_read(node):
    assert list_contexts(find_one(make_response(node))) == [("a", TEXTS[0], 0.9)]


def test_no_source_nodes_are_an_empty_retrieval():
    assert find_one(make_response()).contexts == ()


def test_equal_nodes_count_once():
    assert len(find_one(make_response(make_node(), make_node())).contexts) == 1
    assert len(find_one(make_response(make_node(), make_node()), deduplicate=False).contexts) == 2


def test_the_trace_id_is_the_documents_own_hash():
    document = make_response(make_node())
    canonical = json.dumps(document, sort_keys=True, separators=(",", ":")).encode()
    found = find_one(document)
    assert found.trace_id == sha256(canonical).hexdigest()[:32]
    assert "trace_id_derived" in found.warnings


def test_what_the_producer_adds_is_taken():
    found = find_one(
        make_response(
            make_node(),
            query=QUESTION,
            retrieval_query="refund",
            trace_id="t-1",
            event_id="e-1",
            app="shop",
            environment="production",
            release="2.1",
            variant="b",
            session_id="s-1",
            user_id="u-1",
            model="gpt-4o",
            occurred_at="2026-11-29T10:00:00",
            reference="14 days",
            tags=["prod"],
            latency_ms=12,
            cost_usd=0.5,
            sampling_probability=0.25,
            metadata={"plan": "pro"},
        )
    )
    assert (found.query, found.retrieval_query, found.trace_id) == (QUESTION, "refund", "t-1")
    assert (found.event_id, found.variant, found.model) == ("e-1", "b", "gpt-4o")
    assert (found.app, found.environment, found.release) == ("shop", "production", "2.1")
    assert (found.session_id, found.user_id, found.tags) == ("s-1", "u-1", ("prod",))
    assert (found.reference.answer, found.metadata) == ("14 days", {"plan": "pro"})
    assert (found.latency_ms, found.cost_usd, found.sampling_probability) == (12, 0.5, 0.25)
    assert found.claimed_at.isoformat() == "2026-11-29T10:00:00"
    assert found.warnings == ()


def test_a_structured_response_stays_as_it_is():
    assert find_one(make_response(response='{"days": 14}')).answer == '{"days": 14}'
