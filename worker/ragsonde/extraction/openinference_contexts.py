"""Which contexts reached the model, by OpenInference spans."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ragsonde.extraction.documents import Document, read_document
from ragsonde.extraction.findings import FoundContext, cite
from ragsonde.extraction.openinference_spans import (
    INPUT_MESSAGES,
    RERANKED,
    RETRIEVED,
    is_kind,
    read_json,
    read_messages,
    read_span_documents,
)
from ragsonde_schemas.trace import ContextOrigin, FieldEvidence

if TYPE_CHECKING:
    from ragsonde.extraction.span_tree import SpanTree
    from ragsonde_schemas.span import Span

_PROMPT_VARIABLES = ("context", "context_str")


class FoundContexts(NamedTuple):
    """The contexts and the rule that found them; None = unknown, () = retrieval returned nothing."""

    contexts: tuple[FoundContext, ...] | None = None
    evidence: FieldEvidence | None = None
    warnings: tuple[str, ...] = ()


def has_retrieval(tree: SpanTree) -> bool:
    """True when the spans of a retrieval, by OpenInference's kinds, are there."""
    return any(is_kind(span, "RETRIEVER", "RERANKER") for span in tree.spans)


def find_contexts(tree: SpanTree) -> FoundContexts:
    """The contexts that reached the model.

    The last reranker's output, else the union of the retrievers in order of time, without those below another
    retriever that carries documents, equal ones (id and text) once; else what stands in the prompt.
    """
    return _find_reranked(tree) or _find_retrieved(tree) or _find_prompted(tree) or FoundContexts()


def _find_reranked(tree: SpanTree) -> FoundContexts | None:
    for span in reversed(tree.spans):
        if is_kind(span, "RERANKER"):
            documents = read_span_documents(span, prefix=RERANKED)
            if documents is not None:
                return _keep(documents, origin=ContextOrigin.RERANKER)
    return None


def _find_retrieved(tree: SpanTree) -> FoundContexts | None:
    delivered = {
        span.span_id: documents
        for span in tree.spans
        if is_kind(span, "RETRIEVER")
        and (documents := read_span_documents(span, prefix=RETRIEVED)) is not None
    }
    outermost = [
        span
        for span in tree.spans
        if span.span_id in delivered
        and not any(delivered.get(above.span_id) for above in tree.ancestors(span))
    ]
    if not outermost:
        return None
    documents = [document for span in outermost for document in delivered[span.span_id]]
    return _keep(documents, origin=ContextOrigin.RETRIEVER)


def _keep(documents: list[Document], *, origin: ContextOrigin) -> FoundContexts | None:
    """Equal documents once; None where there are only ids, whose texts nobody knows."""
    if documents and all(document.content is None for document in documents):
        return None
    contexts: list[FoundContext] = []
    seen: set[tuple[str | None, str]] = set()
    lacking = 0
    for document in documents:
        content = document.content or ""
        lacking += document.content is None
        if content.strip() and (document.id, content) in seen:
            continue
        seen.add((document.id, content))
        contexts.append(
            FoundContext(content, origin, id=document.id, score=document.score, metadata=document.metadata)
        )
    warnings = (f"contexts: {lacking} of {len(documents)} documents have no text",) if lacking else ()
    return FoundContexts(tuple(contexts), cite(f"openinference:{origin.value}"), warnings)


def _find_prompted(tree: SpanTree) -> FoundContexts | None:
    """What the prompt's template was filled with, else the system message of the last model call."""
    warning = "contexts: no span recorded documents; read from the prompt as one text"
    for span in reversed(tree.spans):
        texts = _read_prompt_variables(span)
        if texts:
            contexts = tuple(FoundContext(text, ContextOrigin.PROMPT) for text in texts)
            return FoundContexts(contexts, cite("openinference:prompt_variables", is_exact=False), (warning,))
    for span in reversed(tree.spans):
        system = [text for role, text in read_messages(span, prefix=INPUT_MESSAGES) if role == "system"]
        if system:
            contexts = (FoundContext(system[0], ContextOrigin.PROMPT),)
            return FoundContexts(contexts, cite("openinference:system_message", is_exact=False), (warning,))
    return None


def _read_prompt_variables(span: Span) -> list[str]:
    variables = read_json(span, "llm.prompt_template.variables")
    if not isinstance(variables, dict):
        return []
    for value in map(variables.get, _PROMPT_VARIABLES):
        items = value if isinstance(value, list) else [value]
        texts = [text for item in items if item is not None and (text := read_document(item).content)]
        if any(text.strip() for text in texts):
            return texts
    return []
