"""Datadog's LLM Observability spans: what decoding puts under `datadog.*`, by the names of its intake."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ragsonde.extraction.conventions.recorded_documents import read_returned
from ragsonde.extraction.conventions.recorded_facts import (
    collect_facts,
    read_cost,
    read_reference,
    read_usage,
)
from ragsonde.extraction.conventions.recorded_texts import read_answer, read_question
from ragsonde.extraction.conventions.recorded_values import find_first, find_names, read_object, read_prefixed
from ragsonde.extraction.messages import read_turns
from ragsonde.extraction.steps import Step, StepKind

if TYPE_CHECKING:
    from ragsonde.extraction.documents import Document
    from ragsonde.extraction.findings import Found
    from ragsonde_schemas.span import Span

NAME = "datadog"
_PREFIX = "datadog."
_KINDS = {
    "retrieval": StepKind.RETRIEVER,
    "tool": StepKind.TOOL,
    "llm": StepKind.GENERATION,
}
_NAMES = {
    "app": ("datadog.ml_app", "datadog.tags.ml_app"),
    "session_id": ("datadog.session_id", "datadog.tags.session_id"),
    "user_id": ("datadog.tags.user_id",),
    "environment": ("datadog.tags.env",),
    "release": ("datadog.tags.version",),
}
_NO_APP = "unnamed-ml-app"
"""What the SDK writes where nobody named the application."""


def read_step(span: Span) -> Step | None:
    """The step of a span with attributes `datadog.*`, else None."""
    attributes = span.attributes
    if not any(name.startswith(_PREFIX) for name in attributes):
        return None
    stated = attributes.get("datadog.kind")
    kind = _KINDS.get(stated.lower(), StepKind.OTHER) if isinstance(stated, str) else StepKind.OTHER
    if kind is StepKind.RETRIEVER and "rerank" in span.name.lower():
        kind = StepKind.RERANKER
    taken, returned = _read_side(attributes, "input"), _read_side(attributes, "output")
    return Step(
        convention=NAME,
        id=span.span_id,
        parent_id=span.parent_span_id,
        kind=kind,
        start_ns=span.start_ns,
        end_ns=span.end_ns,
        name=span.name,
        documents=_read_documents(returned, kind=kind),
        question=find_first(taken, ("messages", "value"), read=read_question, convention=f"{NAME}:input"),
        answer=find_first(returned, ("messages", "value"), read=read_answer, convention=f"{NAME}:output"),
        turns=read_turns(taken.get("messages")) if kind is StepKind.GENERATION else (),
        facts=_find_facts(span, kind=kind),
    )


def _read_side(attributes: dict[str, Any], side: str) -> dict[str, Any]:
    """{value}, {messages} or {documents}; anything else is a value."""
    recorded = attributes.get(f"datadog.{side}")
    return recorded if isinstance(recorded, dict) else {"value": recorded}


def _read_documents(returned: dict[str, Any], *, kind: StepKind) -> tuple[Document, ...] | None:
    if kind in {StepKind.GENERATION, StepKind.OTHER}:
        return None
    documents = read_returned(returned.get("documents"))
    return documents if documents is not None else read_returned(returned.get("value"))


def _find_facts(span: Span, *, kind: StepKind) -> dict[str, Found]:
    attributes = {**span.resource, **span.attributes}
    is_call = kind is StepKind.GENERATION
    metrics = read_prefixed(attributes, "datadog.metrics.") if is_call else {}
    names = {**_NAMES, "model": ("datadog.model_name",)} if is_call else _NAMES
    facts = find_names(attributes, names, convention=NAME)
    if "app" in facts and facts["app"].value == _NO_APP:
        del facts["app"]
    costs = {key: metrics.get(key) for key in ("total_cost", "input_cost", "output_cost")}
    expected = attributes.get("datadog.expected_output")
    return {
        **facts,
        **collect_facts(
            {
                "reference": ("expected_output", read_reference(expected)),
                "usage": ("metrics", read_usage(metrics)),
                "cost_usd": ("metrics", read_cost(costs)),
                "metadata": ("metadata", read_object(attributes.get("datadog.metadata"))),
            },
            convention=NAME,
        ),
    }
