"""The AI SDK's attributes (`ai.*`, versions 3 to 6, and the legacy telemetry of 7).

A span's operation is `ai.generateText`, `ai.streamText`, `ai.generateObject` or `ai.streamObject` (a whole
run), `.doGenerate` or `.doStream` of these (one model call), `ai.toolCall`, `ai.rerank.doRerank`, `ai.embed`.
Version 7 writes `gen_ai.*` and only adds to it here.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from ragsonde.extraction.conventions.recorded_documents import read_returned
from ragsonde.extraction.conventions.recorded_facts import collect_facts, read_tags, read_usage
from ragsonde.extraction.conventions.recorded_texts import read_question
from ragsonde.extraction.conventions.recorded_values import (
    find_first,
    find_names,
    read_object,
    read_prefixed,
    read_value,
)
from ragsonde.extraction.documents import Document, read_document, read_name, read_score
from ragsonde.extraction.findings import Found, cite
from ragsonde.extraction.messages import read_turns
from ragsonde.extraction.steps import NOTHING, Step, StepKind

if TYPE_CHECKING:
    from ragsonde_schemas.span import Span

NAME = "vercel"
_PREFIXES = (
    "ai.operationId",
    "ai.prompt.messages",
    "ai.response.text",
    "ai.response.object",
    "ai.result.",
    "ai.settings.context.",
    "ai.telemetry.",
    "ai.toolCall.",
)
_RUNS = frozenset({"ai.generateText", "ai.streamText", "ai.generateObject", "ai.streamObject"})
_CALLS = tuple(f"{run}.{call}" for run in sorted(_RUNS) for call in ("doGenerate", "doStream"))
_KINDS = {
    **dict.fromkeys(_CALLS, StepKind.GENERATION),
    "ai.toolCall": StepKind.TOOL,
}
_TEXTS = ("ai.response.text", "ai.response.object", "ai.result.text", "ai.result.object")
_TOOL_CALLS = ("ai.response.toolCalls", "ai.result.toolCalls")
_REASONS = ("ai.response.finishReason", "ai.finishReason")
_METADATA = ("ai.settings.context.", "ai.telemetry.metadata.")
_NAMES = {
    "session_id": ("sessionId", "session_id"),
    "user_id": ("userId", "user_id"),
    "environment": ("environment",),
    "release": ("release",),
}
_LIKELY_NAMES = {
    "session_id": ("chatId", "threadId", "conversationId"),
    "environment": ("env",),
    "release": ("version",),
}


def read_step(span: Span) -> Step | None:
    """The step of a span with the AI SDK's own attributes, else None."""
    attributes = span.attributes
    is_ranking = "ai.ranking" in attributes and "ai.documents" in attributes
    if not is_ranking and "ai.prompt" not in attributes and not any(map(_is_own, attributes)):
        return None
    operation = _find_operation(span)
    kind = StepKind.RERANKER if is_ranking else _KINDS.get(operation, StepKind.OTHER)
    is_model = operation in _RUNS or kind is StepKind.GENERATION
    return Step(
        convention=NAME,
        id=span.span_id,
        parent_id=span.parent_span_id,
        kind=kind,
        start_ns=span.start_ns,
        end_ns=span.end_ns,
        name=span.name,
        documents=_read_documents(attributes, kind=kind),
        question=find_first(
            attributes,
            ("ai.toolCall.args",) if kind is StepKind.TOOL else ("ai.prompt", "ai.prompt.messages"),
            read=read_question,
            convention=NAME,
        ),
        answer=_find_answer(attributes) if is_model else NOTHING,
        turns=read_turns(read_value(attributes.get("ai.prompt.messages"))),
        facts={**(_find_model_facts(attributes, kind=kind) if is_model else {}), **_find_facts(attributes)},
    )


def _is_own(name: str) -> bool:
    return name.startswith(_PREFIXES)


def _find_operation(span: Span) -> str:
    """The operation; `operation.name` has the function's id after it."""
    for stated in (span.attributes.get("ai.operationId"), span.attributes.get("operation.name"), span.name):
        if isinstance(stated, str) and stated.startswith("ai."):
            return stated.split(" ", 1)[0]
    return ""


def _read_documents(attributes: dict[str, Any], *, kind: StepKind) -> tuple[Document, ...] | None:
    if kind is StepKind.TOOL:
        return read_returned(attributes.get("ai.toolCall.result"))
    return _read_ranking(attributes) if kind is StepKind.RERANKER else None


def _read_ranking(attributes: dict[str, Any]) -> tuple[Document, ...] | None:
    """The documents that were given, in the order and with the scores of the ranking."""
    given, ranking = (read_value(attributes.get(name)) for name in ("ai.documents", "ai.ranking"))
    if not isinstance(given, list) or not isinstance(ranking, list):
        return None
    ranked: list[Document] = []
    for place in map(read_object, ranking):
        index = place.get("index")
        if isinstance(index, int) and 0 <= index < len(given):
            document = read_document(read_value(given[index]))
            score = read_score(place.get("relevanceScore"))
            ranked.append(document if score is None else document._replace(score=score))
    return tuple(ranked)


def _find_answer(attributes: dict[str, Any]) -> Found:
    """The text or object that was generated; "" where the run or call ended in calls of tools."""
    reasons = [reason for name in _REASONS if isinstance(reason := attributes.get(name), str)]
    ends_in_call = "tool-calls" in reasons or (
        not reasons and any(read_value(attributes.get(name)) for name in _TOOL_CALLS)
    )
    if ends_in_call:
        return Found("", cite(f"{NAME}:response.finishReason"))
    return find_first(attributes, _TEXTS, read=_read_text, convention=NAME)


def _read_text(recorded: object) -> str | None:
    """A generated text as it stands; of an object its JSON."""
    if isinstance(recorded, dict | list):
        return json.dumps(recorded, ensure_ascii=False)
    return recorded if isinstance(recorded, str) and recorded.strip() else None


def _find_model_facts(attributes: dict[str, Any], *, kind: StepKind) -> dict[str, Found]:
    """The model; the tokens of one call only, since a run repeats those of its last one."""
    counts = {key: value for key, value in read_prefixed(attributes, "ai.usage.").items() if "." not in key}
    usage = read_usage(counts) if kind is StepKind.GENERATION else {}
    return {
        **find_names(attributes, {"model": ("ai.response.model", "ai.model.id")}, convention=NAME),
        **collect_facts({"usage": ("ai.usage", usage)}, convention=NAME),
    }


def _find_facts(attributes: dict[str, Any]) -> dict[str, Found]:
    metadata = {
        key: value for prefix in _METADATA for key, value in read_prefixed(attributes, prefix).items()
    }
    rule = f"{NAME}:telemetry.metadata"
    facts = {
        **find_names(metadata, _LIKELY_NAMES, convention=rule, is_exact=False),
        **find_names(metadata, _NAMES, convention=rule),
        **collect_facts(
            {
                "tags": ("ai.telemetry.metadata", read_tags(metadata.get("tags"))),
                "metadata": ("ai.telemetry.metadata", metadata),
            },
            convention=NAME,
        ),
    }
    function = read_name(attributes.get("ai.telemetry.functionId"))
    if function is not None:
        facts["app"] = Found(function, cite(f"{NAME}:telemetry.functionId", is_exact=False))
    return facts
