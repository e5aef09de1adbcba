import json

import pytest

from builders.spans import make_span
from ragsonde.extraction.findings import cite
from ragsonde.extraction.options import RetrievalOptions
from ragsonde.extraction.retrievals import choose_contexts
from ragsonde.extraction.span_findings import read_steps
from ragsonde.extraction.step_tree import StepTree

ROOT = make_span(1, kind="CHAIN")


def documents(*items, prefix="retrieval.documents"):
    """Attributes of flattened documents; an item is a text or a dict of attributes."""
    flattened = {}
    for index, item in enumerate(items):
        fields = {"content": item} if isinstance(item, str) else item
        for name, value in fields.items():
            flattened[f"{prefix}.{index}.document.{name}"] = value
    return flattened


def retriever(span_id, *items, parent=1, output=None, **options):
    attributes = documents(*items)
    if output is not None:
        attributes["output.value"] = output if isinstance(output, str) else json.dumps(output)
    return make_span(span_id, parent, kind="RETRIEVER", attributes=attributes, **options)


def reranker(span_id, *items, parent=1, **options):
    return make_span(
        span_id,
        parent,
        kind="RERANKER",
        attributes=documents(*items, prefix="reranker.output_documents"),
        **options,
    )


def find(*spans):
    (found,) = choose_contexts(StepTree(read_steps([ROOT, *spans])), options=RetrievalOptions())
    return found


def texts(found):
    return None if found.contexts is None else [context.content for context in found.contexts]


def test_a_retriever_gives_its_documents_in_their_order():
    found = find(retriever(2, *(f"text {number}" for number in range(12))))
    assert texts(found) == [f"text {number}" for number in range(12)]
    assert {context.origin for context in found.contexts} == {"retriever"}
    assert found.evidence == cite("openinference:retriever")


def test_id_score_and_metadata_are_read():
    found = find(
        retriever(2, {"content": "a", "id": "d", "score": 0.5, "metadata": '{"page": 1, "score": 0.9}'})
    )
    (context,) = found.contexts
    assert (context.id, context.score, context.metadata) == ("d", 0.5, {"page": 1, "score": 0.9})


def test_what_the_attributes_lack_comes_from_the_same_documents_in_the_output():
    listed = [
        {"page_content": "a", "id": "d1", "metadata": {"score": 0.9}},
        {"page_content": "b", "id": "d2", "metadata": {"score": 0.8}},
    ]
    for output in (listed, {"documents": listed}):
        found = find(retriever(2, "a", {"content": "b", "id": "own"}, output=output))
        assert [(context.id, context.score) for context in found.contexts] == [("d1", 0.9), ("own", 0.8)]


@pytest.mark.parametrize(
    "listed",
    [
        [{"text": "b", "id": "2"}, {"text": "a", "id": "1"}],
        [{"text": "a", "id": "1"}],
        [{"text": "a", "id": "1"}, {"text": "b", "id": "2"}, {"text": "c", "id": "3"}],
        "not JSON",
        {"other": 1},
    ],
)
def test_an_output_of_other_documents_fills_nothing(listed):
    found = find(retriever(2, "a", "b", output=listed))
    assert [(context.content, context.id) for context in found.contexts] == [("a", None), ("b", None)]


def test_without_flattened_documents_the_output_is_read():
    assert texts(find(retriever(2, output=["a", {"text": "b"}]))) == ["a", "b"]


@pytest.mark.parametrize("output", [[], {"documents": []}])
def test_an_output_without_documents_is_an_empty_retrieval(output):
    found = find(retriever(2, output=output))
    assert found.contexts == ()
    assert found.evidence == cite("openinference:retriever")


@pytest.mark.parametrize(
    "output",
    [None, "plain", ["<NodeWithScore(node=TextNode(id_=faq-12), score=0.91)>"], ["<a.B object at 0x7f>"]],
)
def test_a_retriever_that_recorded_no_documents_says_nothing(output):
    assert find(retriever(2, output=output)).contexts is None


def test_a_retriever_below_one_that_carries_documents_is_left_out():
    found = find(retriever(2, "a", "b"), retriever(3, "x", "y", parent=2), retriever(4, "z", parent=3))
    assert texts(found) == ["a", "b"]


def test_a_retriever_below_one_without_documents_holds():
    assert texts(find(retriever(2), retriever(3, "x", parent=2))) == ["x"]
    assert texts(find(retriever(2, output=[]), retriever(3, "x", parent=2))) == ["x"]


def test_several_retrievers_are_united_in_order_of_time_and_equal_documents_kept_once():
    later = retriever(2, {"content": "a", "id": "1"}, {"content": "a", "id": "2"}, start=9)
    earlier = retriever(3, {"content": "b", "id": "3"}, {"content": "a", "id": "1"}, start=5)
    found = find(later, earlier)
    assert [(context.content, context.id) for context in found.contexts] == [
        ("b", "3"),
        ("a", "1"),
        ("a", "2"),
    ]


def test_blank_documents_keep_their_rank():
    assert texts(find(retriever(2, "a", " ", " ", "b"))) == ["a", " ", " ", "b"]


def test_the_last_reranker_supersedes_the_retrievers():
    found = find(retriever(2, "a", "b", "c"), reranker(3, "b", start=5), reranker(4, "c", "a", start=7))
    assert texts(found) == ["c", "a"]
    assert {context.origin for context in found.contexts} == {"reranker"}
    assert found.evidence == cite("openinference:reranker")


def test_a_reranker_that_recorded_nothing_leaves_the_retrievers():
    assert texts(find(retriever(2, "a"), reranker(3))) == ["a"]


def test_a_document_without_text_is_told_with_a_warning():
    found = find(retriever(2, {"id": "1", "score": 0.5}, "b"))
    assert texts(found) == [None, "b"]
    assert found.warnings == ("contexts: 1 of 2 documents have no text",)


def test_documents_that_are_ids_only_are_contexts_whose_texts_are_to_be_resolved():
    found = find(retriever(2, {"id": "1"}, {"id": "2", "score": 0.5}))
    assert [(context.content, context.id, context.score) for context in found.contexts] == [
        (None, "1", None),
        (None, "2", 0.5),
    ]


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({"context": "one text"}, ["one text"]),
        ({"context_str": "one text", "query_str": "q"}, ["one text"]),
        ({"context": ["a", {"page_content": "b"}]}, ["a", "b"]),
        ({"context": " "}, None),
        ({"question": "q"}, None),
        ([], None),
    ],
)
def test_without_documents_the_prompts_context_is_read_with_a_warning(variables, expected):
    prompt = make_span(
        3, 1, kind="PROMPT", attributes={"llm.prompt_template.variables": json.dumps(variables)}
    )
    found = find(retriever(2), prompt)
    assert expected == texts(found)
    if expected:
        assert {context.origin for context in found.contexts} == {"prompt"}
        assert found.evidence == cite("openinference:prompt_variables", is_exact=False)
        assert found.warnings == ("contexts: no span recorded documents; read from the prompt as one text",)


def test_last_comes_the_section_that_the_messages_mark():
    model = make_span(
        3,
        1,
        kind="LLM",
        attributes={
            "llm.input_messages.0.message.role": "system",
            "llm.input_messages.0.message.content": "Context:\na",
            "llm.input_messages.1.message.role": "user",
            "llm.input_messages.1.message.content": "q",
        },
    )
    found = find(retriever(2), model)
    assert texts(found) == ["a"]
    assert found.evidence == cite("openinference:system_message", is_exact=False)


def test_what_a_retriever_that_failed_recorded_is_unknown_and_no_empty_retrieval():
    assert find(retriever(2, output=[], is_error=True)).contexts is None
    assert find(retriever(2, output=["Error: away"], is_error=True)).contexts is None
    assert texts(find(retriever(2, output=[], is_error=True), retriever(3, "b"))) == ["b"]


def test_an_empty_retrieval_is_final():
    prompt = make_span(3, 1, kind="PROMPT", attributes={"llm.prompt_template.variables": '{"context": "x"}'})
    assert find(retriever(2, output=[]), prompt).contexts == ()


def tool(span_id, output, parent=1, kind="TOOL", **options):
    output = output if isinstance(output, str) else json.dumps(output)
    return make_span(span_id, parent, kind=kind, attributes={"output.value": output}, **options)


def test_a_tools_output_is_a_context_when_a_model_call_follows():
    listed = '[{"text": "a", "id": "1"}]'
    for output in (
        listed,
        {"type": "tool", "content": listed},
        {"output": {"type": "tool", "content": listed}},
    ):
        found = find(tool(2, output), make_span(3, 1, kind="LLM"))
        assert [(context.content, context.id) for context in found.contexts] == [("a", "1")]
        assert {context.origin for context in found.contexts} == {"tool"}
        assert found.evidence == cite("openinference:tool")
    assert find(make_span(2, 1, kind="LLM"), tool(3, listed, start=9)).contexts is None


def test_a_plain_span_is_a_tool_only_if_its_output_is_a_message_of_one():
    message = {"messages": [{"type": "tool", "content": "a"}]}
    assert texts(find(tool(2, message, kind="CHAIN"), make_span(3, 1, kind="LLM"))) == ["a"]
    for output in ({"messages": [{"type": "ai", "content": "a"}]}, '["a"]', "a"):
        assert find(tool(2, output, kind="CHAIN"), make_span(3, 1, kind="LLM")).contexts is None


def test_the_node_that_wraps_a_tool_and_the_tool_count_once():
    node = tool(2, {"messages": [{"type": "tool", "content": "a"}]}, kind="CHAIN", end=9)
    assert texts(find(node, tool(3, "a", parent=2, end=9), make_span(10, 1, kind="LLM"))) == ["a"]


def test_spans_without_a_kind_are_known_by_what_they_carry():
    retrieved = make_span(2, 1, attributes=documents("a"))
    reranked = make_span(3, 1, attributes=documents("b", prefix="reranker.output_documents"))
    asked = {"llm.input_messages.0.message.role": "user", "llm.input_messages.0.message.content": "q"}
    steps = read_steps([retrieved, reranked, make_span(4, 1, attributes=asked), make_span(5, 1)])
    assert [step.kind.value for step in steps] == ["retriever", "reranker", "generation", "other"]
    assert [step.convention for step in steps] == ["openinference"] * 3 + [""]
