"""How a trace of OpenInference spans is read: question, contexts, answer and what belongs to them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ragsonde.extraction.documents import read_name, read_score
from ragsonde.extraction.embedded_json import read_embedded
from ragsonde.extraction.findings import Findings, Found, cite
from ragsonde.extraction.occurrence import read_nanoseconds
from ragsonde.extraction.openinference_contexts import find_contexts
from ragsonde.extraction.openinference_spans import (
    INPUT_MESSAGES,
    KIND,
    OUTPUT_MESSAGES,
    is_kind,
    read_json,
    read_messages,
    read_plain,
    read_text,
)
from ragsonde.extraction.span_tree import SpanTree

if TYPE_CHECKING:
    from ragsonde_schemas.decoded import WholeTrace
    from ragsonde_schemas.span import Span

_QUESTION_KEYS = ("query", "question", "input")
_MODEL_NAMES = ("llm.model_name", "llm.response.model_name", "llm.request.model_name")
_TOKEN_COUNTS = {
    "llm.token_count.prompt": "prompt_tokens",
    "llm.token_count.completion": "completion_tokens",
    "llm.token_count.total": "total_tokens",
}
_COST = "llm.cost.total"
_PATH = re.compile(r"[/~.\\]|[A-Za-z]:[/\\]|.*\\|.*/.*\.\w{1,4}$")


def find_in_spans(record: WholeTrace) -> Findings:
    """The fields of a trace, each from the span that OpenInference's conventions name for it."""
    tree = SpanTree(record.spans)
    entry = _find_entry(tree, root=record.root)
    metadata = read_json(entry, "metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    contexts = find_contexts(tree)
    found = {
        "query": find_query(tree, entry=entry),
        "answer": _find_answer(tree, entry=entry),
        "session_id": _find_name(tree, entry, "session.id", metadata.get("session_id")),
        "user_id": _find_name(tree, entry, "user.id", metadata.get("user_id")),
        "model": _find_model(tree),
        **_find_resource_names(record.root.resource),
    }
    evidence = {name: field.evidence for name, field in found.items() if field.evidence is not None}
    if contexts.evidence is not None:
        evidence["contexts"] = contexts.evidence
    return Findings(
        format=record.format,
        trace_id=record.root.trace_id,
        claimed_at=read_nanoseconds(record.root.start_ns),
        contexts=contexts.contexts,
        usage=_sum_usage(tree),
        latency_ms=_measure_latency(record.root),
        cost_usd=_sum_cost(tree),
        tags=_read_tags(entry),
        metadata=metadata,
        evidence=evidence,
        warnings=(*record.warnings, *contexts.warnings),
        **{name: field.value for name, field in found.items()},
    )


def find_query(tree: SpanTree, *, entry: Span) -> Found:
    """The question: what went into the root, else into retriever or reranker, else the last user message."""
    question = _read_question(entry)
    if question is not None:
        return Found(question, cite("openinference:root_input"))
    for span in tree.spans:
        if is_kind(span, "RETRIEVER") and (question := _read_question(span)) is not None:
            return Found(question, cite("openinference:retriever_input", is_exact=False))
    for span in tree.spans:
        if (question := read_text(span, "reranker.query")) is not None:
            return Found(question, cite("openinference:reranker_query", is_exact=False))
    for span in reversed(tree.spans):
        asked = [text for role, text in read_messages(span, prefix=INPUT_MESSAGES) if role == "user"]
        if asked:
            return Found(asked[-1], cite("openinference:last_user_message", is_exact=False))
    return Found()


def _find_entry(tree: SpanTree, *, root: Span) -> Span:
    """The outermost span of the RAG application: a web framework's root has no OpenInference attributes."""
    if KIND in root.attributes:
        return root
    for span in tree.spans:
        if KIND in span.attributes and not any(KIND in above.attributes for above in tree.ancestors(span)):
            return span
    return root


def _read_question(span: Span) -> str | None:
    text = read_text(span, "input.value")
    if text is None:
        return None
    embedded = read_embedded(text)
    if embedded is None:
        return text
    values = [embedded.get(key) for key in _QUESTION_KEYS] if isinstance(embedded, dict) else []
    return next((value for value in values if isinstance(value, str) and value.strip()), None)


def _find_answer(tree: SpanTree, *, entry: Span) -> Found:
    """The answer: the root's output where it is plain text, else the first message of the last model call."""
    plain = read_plain(entry, "output")
    if plain is not None:
        return Found(plain, cite("openinference:root_output"))
    calls = sorted((span for span in tree.spans if is_kind(span, "LLM")), key=lambda span: span.end_ns)
    for span in reversed(calls):
        messages = read_messages(span, prefix=OUTPUT_MESSAGES)
        if messages:
            return Found(messages[0][1], cite("openinference:last_output_message", is_exact=False))
    return Found()


def _find_name(tree: SpanTree, entry: Span, attribute: str, otherwise: object) -> Found:
    """A name from the root, else from any span, else `otherwise`, a value of the root's metadata."""
    for span in (entry, *tree.spans):
        name = read_name(span.attributes.get(attribute))
        if name is not None:
            return Found(name, cite(f"openinference:{attribute}"))
    name = read_name(otherwise)
    return Found(name, cite("openinference:metadata", is_exact=False)) if name is not None else Found()


def _find_model(tree: SpanTree) -> Found:
    for span in reversed(tree.spans):
        for attribute in _MODEL_NAMES:
            name = read_text(span, attribute)
            if name is not None:
                return Found(name, cite(f"openinference:{attribute}"))
    return Found()


def _find_resource_names(resource: dict[str, Any]) -> dict[str, Found]:
    places = {
        "app": ("service.name", "openinference.project.name"),
        "environment": ("deployment.environment.name", "deployment.environment"),
        "release": ("service.version",),
    }
    found: dict[str, Found] = {}
    for field, attributes in places.items():
        found[field] = Found()
        for attribute in attributes:
            name = read_name(resource.get(attribute))
            if name is not None and (field != "app" or is_app_name(name)):
                found[field] = Found(name, cite(f"resource:{attribute}"))
                break
    return found


def is_app_name(name: str) -> bool:
    """True unless it is what an SDK puts in where nobody named the service: `unknown_service*`, a path."""
    name = name.strip()
    return bool(name) and not name.startswith("unknown_service") and _PATH.match(name) is None


def _outermost_with(tree: SpanTree, attribute: str) -> list[Span]:
    """Spans that carry `attribute` while none above does: a wrapper's count holds those below it already."""
    return [
        span
        for span in tree.spans
        if attribute in span.attributes
        and not any(attribute in above.attributes for above in tree.ancestors(span))
    ]


def _sum_usage(tree: SpanTree) -> dict[str, Any]:
    usage: dict[str, Any] = {}
    for attribute, name in _TOKEN_COUNTS.items():
        counts = [read_score(span.attributes[attribute]) for span in _outermost_with(tree, attribute)]
        total = read_score(sum(count for count in counts if count is not None))
        if total is not None and any(count is not None for count in counts):
            usage[name] = int(total)
    return usage


def _sum_cost(tree: SpanTree) -> float | None:
    costs = [read_score(span.attributes[_COST]) for span in _outermost_with(tree, _COST)]
    known = [cost for cost in costs if cost is not None and cost >= 0]
    return read_score(sum(known)) if known else None


def _measure_latency(root: Span) -> float | None:
    if not 0 < root.start_ns <= root.end_ns:
        return None
    return (root.end_ns - root.start_ns) / 1e6


def _read_tags(entry: Span) -> tuple[str, ...]:
    tags = entry.attributes.get("tag.tags")
    if isinstance(tags, str):
        tags = read_embedded(tags) or [tags]
    return tuple(tag for tag in tags if isinstance(tag, str)) if isinstance(tags, list) else ()
