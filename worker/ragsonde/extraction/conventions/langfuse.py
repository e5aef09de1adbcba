"""Langfuse's attributes: traces and observations of its SDKs and of its exporters.

Attribute names are those of Langfuse's OpenTelemetry integration (SDKs 3 to 5).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ragsonde.extraction.conventions.recorded_documents import read_returned
from ragsonde.extraction.conventions.recorded_facts import (
    collect_facts,
    read_cost,
    read_reference,
    read_tags,
    read_usage,
)
from ragsonde.extraction.conventions.recorded_texts import read_answer, read_question
from ragsonde.extraction.conventions.recorded_values import (
    find_first,
    find_names,
    read_object,
    read_prefixed,
    read_value,
)
from ragsonde.extraction.messages import read_tool_message, read_turns
from ragsonde.extraction.steps import Step, StepKind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ragsonde.extraction.documents import Document
    from ragsonde.extraction.findings import Found
    from ragsonde_schemas.span import Span

NAME = "langfuse"
_PREFIX = "langfuse."
_INPUT = "langfuse.observation.input"
_OUTPUT = "langfuse.observation.output"
_TRACE_INPUT = "langfuse.trace.input"
_TRACE_OUTPUT = "langfuse.trace.output"
_ENTRY_MARKS = ("langfuse.internal.is_app_root", "langfuse.internal.as_root")
_EXPECTED = "langfuse.experiment.item.expected_output"
_LEVEL = "langfuse.observation.level"
_TAGS = "langfuse.trace.tags"
_USAGE = "langfuse.observation.usage_details"
_COST = "langfuse.observation.cost_details"
_KINDS = {
    "retriever": StepKind.RETRIEVER,
    "tool": StepKind.TOOL,
    "generation": StepKind.GENERATION,
    "guardrail": StepKind.GUARD,
    "evaluator": StepKind.CHECK,
}
_NAMES = {
    "session_id": ("session.id", "langfuse.session.id"),
    "user_id": ("user.id", "langfuse.user.id"),
    "environment": ("langfuse.environment",),
    "release": ("langfuse.release",),
    "model": ("langfuse.observation.model.name",),
}


def read_step(span: Span) -> Step | None:
    """The step of a span with attributes `langfuse.*`, else None."""
    attributes = span.attributes
    if not any(name.startswith(_PREFIX) for name in attributes):
        return None
    kind = _find_kind(span)
    return Step(
        convention=NAME,
        id=span.span_id,
        parent_id=span.parent_span_id,
        kind=kind,
        start_ns=span.start_ns,
        end_ns=span.end_ns,
        name=span.name,
        documents=_read_documents(attributes, kind=kind),
        question=find_first(attributes, (_TRACE_INPUT, _INPUT), read=read_question, convention=NAME),
        answer=find_first(attributes, (_TRACE_OUTPUT, _OUTPUT), read=read_answer, convention=NAME),
        turns=read_turns(attributes.get(_INPUT)) if kind is StepKind.GENERATION else (),
        facts={**_find_release(span), **find_names(attributes, _NAMES, convention=NAME), **_find_facts(span)},
        is_entry=_is_marked(span),
        is_error=attributes.get(_LEVEL) == "ERROR",
    )


def _is_marked(span: Span) -> bool:
    """True for a span that says so, or that states what went into the whole trace and what came out."""
    attributes = span.attributes
    if all(attributes.get(name) is not None for name in (_TRACE_INPUT, _TRACE_OUTPUT)):
        return True
    return any(attributes.get(mark) in (True, "true") for mark in _ENTRY_MARKS)


def _is_root(span: Span) -> bool:
    """True for the application's root, which a web framework's span may stand above."""
    return span.parent_span_id is None or _is_marked(span)


def _find_kind(span: Span) -> StepKind:
    """What the observation's type says.

    Langfuse has no type for rerankers: a retriever called one is one. A plain span is a tool where it returns
    a tool's message.
    """
    stated = span.attributes.get("langfuse.observation.type")
    kind = _KINDS.get(stated.lower(), StepKind.OTHER) if isinstance(stated, str) else StepKind.OTHER
    if kind is StepKind.RETRIEVER and "rerank" in span.name.lower():
        return StepKind.RERANKER
    if kind is StepKind.OTHER and read_tool_message(read_value(span.attributes.get(_OUTPUT))) is not None:
        return StepKind.TOOL
    return kind


def _read_documents(attributes: dict[str, Any], *, kind: StepKind) -> tuple[Document, ...] | None:
    if kind in {StepKind.GENERATION, StepKind.CHECK, StepKind.GUARD, StepKind.OTHER}:
        return None
    return read_returned(attributes.get(_OUTPUT))


def _find_release(span: Span) -> dict[str, Found]:
    """The application's version, where a root states one: of any other span it may be that of a part."""
    if not _is_root(span):
        return {}
    return find_names(span.attributes, {"release": ("langfuse.version",)}, convention=NAME, is_exact=False)


def _find_facts(span: Span) -> dict[str, Found]:
    attributes = span.attributes
    return collect_facts(
        {
            "reference": (_EXPECTED, read_reference(attributes.get(_EXPECTED))),
            "tags": (_TAGS, read_tags(attributes.get(_TAGS))),
            "usage": (_USAGE, read_usage(read_object(attributes.get(_USAGE)))),
            "cost_usd": (_COST, read_cost(read_object(attributes.get(_COST)))),
            "metadata": ("langfuse.trace.metadata", dict(_list_metadata(span))),
        },
        convention=NAME,
    )


def _list_metadata(span: Span) -> Iterator[tuple[str, Any]]:
    """The prompt's name and version, a root's own metadata, the trace's; the later ones hold."""
    prompt = read_prefixed(span.attributes, "langfuse.observation.prompt.")
    if prompt:
        yield "prompt", prompt
    scopes = ("langfuse.observation", "langfuse.trace")
    for scope in scopes if _is_root(span) else scopes[1:]:
        yield from read_object(span.attributes.get(f"{scope}.metadata")).items()
        yield from read_prefixed(span.attributes, f"{scope}.metadata.").items()
