"""Traceloop's attributes (OpenLLMetry): entities with their input and output, vector databases' results.

Attribute and event names are those of its semantic conventions 0.5 (instrumentations 0.62); what model calls
say stands in `gen_ai.*`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ragsonde.extraction.conventions.recorded_documents import read_returned
from ragsonde.extraction.conventions.recorded_facts import collect_facts
from ragsonde.extraction.conventions.recorded_texts import read_answer, read_question
from ragsonde.extraction.conventions.recorded_values import find_names, read_object, read_prefixed, read_value
from ragsonde.extraction.conventions.traceloop_events import has_results, read_results
from ragsonde.extraction.documents import Document, read_document
from ragsonde.extraction.findings import Found, cite
from ragsonde.extraction.steps import NOTHING, Step, StepKind

if TYPE_CHECKING:
    from collections.abc import Callable

    from ragsonde_schemas.span import Span

NAME = "traceloop"
_INPUT = "traceloop.entity.input"
_OUTPUT = "traceloop.entity.output"
_ASSOCIATED = "traceloop.association.properties."
_VARIABLES = "traceloop.prompt.template_variables."
_OPERATIONS = {
    "vector_db_retrieve": StepKind.RETRIEVER,
    "rerank": StepKind.RERANKER,
    "execute_tool": StepKind.TOOL,
    "chat": StepKind.GENERATION,
    "text_completion": StepKind.GENERATION,
    "generate_content": StepKind.GENERATION,
}
_REQUESTS = {"chat": StepKind.GENERATION, "completion": StepKind.GENERATION, "rerank": StepKind.RERANKER}
_NAMES = {
    "session_id": ("session_id",),
    "user_id": ("user_id",),
}
_LIKELY_NAMES = {
    "session_id": ("sessionId", "thread_id", "conversation_id", "chat_id"),
    "user_id": ("userId",),
}
_PROMPT_VARIABLES = ("context", "context_str")
_QUERY_KEYS = ("str_or_query_bundle", "query_bundle", "query_str")


def read_step(span: Span) -> Step | None:
    """The step of a span with attributes `traceloop.*` or a vector database's results, else None."""
    if not _is_traceloop(span):
        return None
    taken, returned = (read_value(span.attributes.get(name)) for name in (_INPUT, _OUTPUT))
    kind = _find_kind(span, taken=taken, returned=returned)
    return Step(
        convention=NAME,
        id=span.span_id,
        parent_id=span.parent_span_id,
        kind=kind,
        start_ns=span.start_ns,
        end_ns=span.end_ns,
        name=span.name,
        documents=_read_documents(span, kind=kind, returned=returned),
        question=_find_text(taken, wrapper="inputs", read=read_question, rule="entity.input"),
        answer=_find_text(returned, wrapper="outputs", read=read_answer, rule="entity.output"),
        prompted=_read_prompted(span.attributes),
        facts=_find_facts(span.attributes),
    )


def _is_traceloop(span: Span) -> bool:
    return (
        has_results(span)
        or span.attributes.get("gen_ai.operation.name") == "vector_db_retrieve"
        or any(name.startswith("traceloop.") for name in span.attributes)
    )


def _find_kind(span: Span, *, taken: object, returned: object) -> StepKind:
    """What the span says it is; a task is known by what it took and returned."""
    attributes = span.attributes
    for name, kinds in (("gen_ai.operation.name", _OPERATIONS), ("llm.request.type", _REQUESTS)):
        stated = attributes.get(name)
        if isinstance(stated, str) and stated in kinds:
            return kinds[stated]
    if attributes.get("traceloop.span.kind") == "tool":
        return StepKind.TOOL
    if has_results(span):
        return StepKind.RETRIEVER
    if _is_documents(returned):
        return StepKind.RERANKER if isinstance(taken, dict) and "nodes" in taken else StepKind.RETRIEVER
    is_empty = returned in ([], {"documents": []}) and _has_query(taken)
    return StepKind.RETRIEVER if is_empty else StepKind.OTHER


def _is_documents(returned: object) -> bool:
    """True for LlamaIndex's list of nodes with scores, and for an object that lists LangChain's documents."""
    if isinstance(returned, dict):
        listed, key = returned.get("documents"), "page_content"
    else:
        listed, key = returned, "node"
    items = [read_object(item) for item in listed] if isinstance(listed, list) else []
    return bool(items) and all(key in item for item in items)


def _has_query(taken: object) -> bool:
    if not isinstance(taken, dict):
        return False
    objects = [taken, *(value for value in taken.values() if isinstance(value, dict))]
    return "query" in taken or any(key in inner for inner in objects for key in _QUERY_KEYS)


def _read_documents(span: Span, *, kind: StepKind, returned: object) -> tuple[Document, ...] | None:
    if kind in {StepKind.GENERATION, StepKind.OTHER}:
        return None
    if kind is StepKind.RETRIEVER and has_results(span) and not _is_documents(returned):
        return read_results(span)
    if kind is StepKind.TOOL and isinstance(returned, dict) and "output" in returned:
        return read_returned(returned["output"])
    if (
        kind is StepKind.RETRIEVER
        and isinstance(returned, dict)
        and isinstance(returned.get("documents"), list)
    ):
        return tuple(read_document(item) for item in returned["documents"])
    return read_returned(returned)


def _find_text(recorded: object, *, wrapper: str, read: Callable[[object], str | None], rule: str) -> Found:
    """A text in what an entity took or returned; LangChain's callbacks put it beside tags and settings."""
    is_wrapped = isinstance(recorded, dict) and recorded.get(wrapper) is not None
    text = read(recorded[wrapper] if isinstance(recorded, dict) and is_wrapped else recorded)
    return NOTHING if text is None else Found(text, cite(f"{NAME}:{rule}"))


def _read_prompted(attributes: dict[str, Any]) -> tuple[str, ...]:
    variables = read_prefixed(attributes, _VARIABLES)
    for value in map(variables.get, _PROMPT_VARIABLES):
        documents = read_returned(value) or ()
        texts = tuple(document.content for document in documents if document.content)
        if texts:
            return texts
    return ()


def _find_facts(attributes: dict[str, Any]) -> dict[str, Found]:
    associated = read_prefixed(attributes, _ASSOCIATED)
    workflow = read_value(attributes.get("traceloop.workflow.name"))
    metadata = {**associated, **({"workflow": workflow} if isinstance(workflow, str) else {})}
    return {
        **find_names(associated, _LIKELY_NAMES, convention=f"{NAME}:association.properties", is_exact=False),
        **find_names(associated, _NAMES, convention=f"{NAME}:association.properties"),
        **collect_facts({"metadata": ("association.properties", metadata)}, convention=NAME),
    }
