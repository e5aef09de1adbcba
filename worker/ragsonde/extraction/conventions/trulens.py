"""TruLens' attributes: `ai.observability.*`, by OTLP and in the rows of its event table."""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from ragsonde.extraction.conventions.recorded_documents import read_returned
from ragsonde.extraction.conventions.recorded_facts import (
    collect_facts,
    read_cost,
    read_reference,
    read_usage,
)
from ragsonde.extraction.conventions.recorded_texts import read_answer, read_question
from ragsonde.extraction.conventions.recorded_values import find_first, find_names, read_value
from ragsonde.extraction.documents import read_score
from ragsonde.extraction.steps import Step, StepKind

if TYPE_CHECKING:
    from ragsonde.extraction.documents import Document
    from ragsonde.extraction.findings import Found
    from ragsonde_schemas.span import Span

NAME = "trulens"
_SCOPE = "ai.observability."
_KINDS = {
    "retrieval": StepKind.RETRIEVER,
    "reranking": StepKind.RERANKER,
    "tool": StepKind.TOOL,
    "mcp": StepKind.TOOL,
    "generation": StepKind.GENERATION,
}
_QUESTIONS = tuple(
    f"{_SCOPE}{name}" for name in ("record_root.input", "retrieval.query_text", "reranking.query_text")
)
_EXPECTED = f"{_SCOPE}record_root.ground_truth_output"
_NAMES = {
    "app": (f"{_SCOPE}app_name",),
    "release": (f"{_SCOPE}app_version",),
    "session_id": (f"{_SCOPE}conversation_id",),
}
_METADATA = ("run.name", "record_id", "input_id", "app_id")


def read_step(span: Span) -> Step | None:
    """The step of a span with attributes `ai.observability.*`, else None."""
    attributes = span.attributes
    if not any(name.startswith(_SCOPE) for name in attributes):
        return None
    stated = attributes.get(f"{_SCOPE}span_type")
    stated = stated.lower() if isinstance(stated, str) else ""
    kind = _KINDS.get(stated, StepKind.OTHER)
    return Step(
        convention=NAME,
        id=span.span_id,
        parent_id=span.parent_span_id,
        kind=kind,
        start_ns=span.start_ns,
        end_ns=span.end_ns,
        name=span.name,
        documents=_read_documents(attributes, kind=kind),
        question=find_first(attributes, _QUESTIONS, read=read_question, convention=NAME),
        answer=find_first(attributes, (f"{_SCOPE}record_root.output",), read=read_answer, convention=NAME),
        facts=_find_facts(span, kind=kind),
        is_entry=stated == "record_root",
    )


def _read_documents(attributes: dict[str, Any], *, kind: StepKind) -> tuple[Document, ...] | None:
    match kind:
        case StepKind.RETRIEVER:
            return read_returned(attributes.get(f"{_SCOPE}retrieval.retrieved_contexts"))
        case StepKind.RERANKER:
            return _read_reranked(attributes)
        case StepKind.TOOL:
            content = read_returned(attributes.get(f"{_SCOPE}mcp.output_content"))
            return content if content is not None else read_returned(attributes.get(f"{_SCOPE}call.return"))
    return None


def _read_reranked(attributes: dict[str, Any]) -> tuple[Document, ...] | None:
    documents = read_returned(attributes.get(f"{_SCOPE}reranking.output_context_texts"))
    scores = read_value(attributes.get(f"{_SCOPE}reranking.output_context_scores"))
    if documents is None or not isinstance(scores, list) or len(scores) != len(documents):
        return documents
    scored = zip_longest(documents, map(read_score, scores))
    return tuple(document if score is None else document._replace(score=score) for document, score in scored)


def _find_facts(span: Span, *, kind: StepKind) -> dict[str, Found]:
    """Whose trace it is, by the span, else by its resource; tokens of generations only.

    `cost.model` is left out: of a retrieval it is the embedding's.
    """
    attributes = {**span.resource, **span.attributes}
    costs = {key: attributes.get(f"{_SCOPE}cost.{key}") for key in ("cost", "cost_currency")}
    counts = {
        key: attributes.get(f"{_SCOPE}cost.num_{key}")
        for key in ("prompt_tokens", "completion_tokens", "tokens")
    }
    usage = read_usage({**counts, "total_tokens": counts["tokens"]}) if kind is StepKind.GENERATION else {}
    metadata = {key: value for key in _METADATA if (value := attributes.get(f"{_SCOPE}{key}")) is not None}
    return {
        **find_names(attributes, _NAMES, convention=NAME),
        **collect_facts(
            {
                "reference": (_EXPECTED, read_reference(attributes.get(_EXPECTED))),
                "usage": (f"{_SCOPE}cost", usage),
                "cost_usd": (f"{_SCOPE}cost", read_cost(costs) if costs["cost_currency"] == "USD" else None),
                "metadata": (f"{_SCOPE}run", metadata),
            },
            convention=NAME,
        ),
    }
