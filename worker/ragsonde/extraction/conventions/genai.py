"""Spans that follow OpenTelemetry's GenAI conventions: the current ones, and what older emitters write.

Attribute names are those of the semantic conventions v1.27 to v1.41 and of their own repository since.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ragsonde.extraction.conventions.genai_facts import read_facts
from ragsonde.extraction.conventions.genai_messages import read_asked, read_replied
from ragsonde.extraction.conventions.recorded_documents import read_returned
from ragsonde.extraction.conventions.recorded_values import read_value
from ragsonde.extraction.documents import read_documents, unite_delivered
from ragsonde.extraction.findings import Found, cite
from ragsonde.extraction.steps import NOTHING, Step, StepKind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ragsonde.extraction.documents import Document
    from ragsonde_schemas.span import Span
    from ragsonde_schemas.trace import Turn

NAME = "genai"
_PREFIX = "gen_ai."
_DETAILS = "gen_ai.client.inference.operation.details"
_OPERATIONS = {
    "chat": StepKind.GENERATION,
    "completion": StepKind.GENERATION,
    "generate_content": StepKind.GENERATION,
    "text_completion": StepKind.GENERATION,
    "retrieval": StepKind.RETRIEVER,
    "search_memory": StepKind.RETRIEVER,
    "vector_db_retrieve": StepKind.RETRIEVER,
    "rerank": StepKind.RERANKER,
    "execute_tool": StepKind.TOOL,
}
_ASKING = frozenset({"invoke_agent", "invoke_workflow"})
_DOCUMENTS = ("gen_ai.retrieval.documents", "gen_ai.memory.records")
_QUERIES = ("gen_ai.retrieval.query.text", "gen_ai.memory.query.text")
_RETRIEVAL = (*_DOCUMENTS, *_QUERIES)
_TOOL_RESULT = "gen_ai.tool.call.result"
_TOOL = (_TOOL_RESULT, "gen_ai.tool.call.id", "gen_ai.tool.name")
_MODELS = ("gen_ai.response.model", "gen_ai.request.model")


def read_step(span: Span) -> Step | None:
    """The step of a span with attributes or events `gen_ai.*`, else None."""
    events = [event for event in span.events if event.name.startswith(_PREFIX)]
    if not events and not any(key.startswith(_PREFIX) for key in span.attributes):
        return None
    attributes = span.attributes
    for event in events:
        if event.name == _DETAILS:
            attributes = {**event.attributes, **attributes}
    turns = read_asked(attributes, events)
    replied = read_replied(attributes, events)
    kind = _find_kind(attributes, has_messages=bool(turns) or replied is not None)
    return Step(
        convention=NAME,
        id=span.span_id,
        parent_id=span.parent_span_id,
        kind=kind,
        start_ns=span.start_ns,
        end_ns=span.end_ns,
        name=span.name,
        documents=_read_documents(attributes, turns, kind=kind),
        question=_read_question(attributes, turns, kind=kind),
        answer=NOTHING if replied is None else Found(replied),
        turns=turns,
        facts=read_facts(attributes, names_model=kind is StepKind.GENERATION or _is_asking(attributes)),
        is_error=bool(attributes.get("error.type")),
    )


def _find_kind(attributes: Mapping[str, Any], *, has_messages: bool) -> StepKind:
    """By the operation's name; without one by what was recorded."""
    operation = attributes.get("gen_ai.operation.name")
    if isinstance(operation, str) and operation:
        known = _OPERATIONS.get(operation.lower())
        if known is not None:
            return known
        return StepKind.RETRIEVER if any(name in attributes for name in _DOCUMENTS) else StepKind.OTHER
    if any(name in attributes for name in _RETRIEVAL):
        return StepKind.RETRIEVER
    if any(name in attributes for name in _TOOL):
        return StepKind.TOOL
    if has_messages or any(name in attributes for name in _MODELS):
        return StepKind.GENERATION
    return StepKind.OTHER


def _is_asking(attributes: Mapping[str, Any]) -> bool:
    operation = attributes.get("gen_ai.operation.name")
    return isinstance(operation, str) and operation in _ASKING


def _read_documents(
    attributes: Mapping[str, Any], turns: tuple[Turn, ...], *, kind: StepKind
) -> tuple[Document, ...] | None:
    match kind:
        case StepKind.RETRIEVER | StepKind.RERANKER:
            for name in _DOCUMENTS:
                documents = read_documents(read_value(attributes.get(name)))
                if documents is not None:
                    return tuple(documents)
        case StepKind.TOOL:
            returned = read_returned(attributes.get(_TOOL_RESULT))
            if returned is not None:
                return returned
            return unite_delivered(read_returned(turn.content) for turn in turns if turn.role == "tool")
    return None


def _read_question(attributes: Mapping[str, Any], turns: tuple[Turn, ...], *, kind: StepKind) -> Found:
    """What a retrieval or a whole run was asked; a generation's question is one of its turns."""
    if kind in {StepKind.RETRIEVER, StepKind.RERANKER}:
        for name in _QUERIES:
            query = attributes.get(name)
            if isinstance(query, str) and query.strip():
                return Found(query, cite(f"{NAME}:{name.removeprefix(_PREFIX)}"))
        return NOTHING
    if kind is not StepKind.OTHER:
        return NOTHING
    asked = [turn.content for turn in turns if turn.role == "user"]
    return Found(asked[-1], cite(f"{NAME}:input.messages")) if asked else NOTHING
