"""The spans of one small RAG trace, whole and cut up, by OpenInference's conventions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from builders.spans import TRACE_ID, make_span

if TYPE_CHECKING:
    from ragsonde_schemas.span import Span

QUESTION = "How long does a refund take?"
ANSWER = "A refund is issued within 14 days after the returned parcel arrives."
CONTEXTS = (
    "A refund is issued within 14 days after the returned parcel arrives at our warehouse.",
    "Shipping inside the EU takes three to five working days.",
)


def make_root(span_id: int = 1, *, answer: str = ANSWER, **fields) -> Span:
    """The chain: question in, answer out."""
    attributes = {"input.value": QUESTION, "output.value": answer}
    resource = {"service.name": "shop", "deployment.environment.name": "production"}
    defaults = {"attributes": attributes, "resource": resource, "start": span_id, "end": span_id + 90}
    return make_span(span_id, kind="CHAIN", **(defaults | fields))


def make_retriever(span_id: int = 2, parent: int | None = 1, *, contexts=CONTEXTS, **fields) -> Span:
    """The retrieval."""
    attributes = {"input.value": QUESTION}
    for index, content in enumerate(contexts):
        attributes[f"retrieval.documents.{index}.document.content"] = content
        attributes[f"retrieval.documents.{index}.document.id"] = f"faq-{index}"
    return make_span(span_id, parent, kind="RETRIEVER", attributes=attributes, **fields)


def make_generation(span_id: int = 3, parent: int | None = 1, *, answer: str = ANSWER, **fields) -> Span:
    """The model call."""
    attributes = {
        "llm.model_name": "mock-small",
        "llm.input_messages.0.message.role": "user",
        "llm.input_messages.0.message.content": QUESTION,
        "llm.output_messages.0.message.role": "assistant",
        "llm.output_messages.0.message.content": answer,
    }
    return make_span(span_id, parent, kind="LLM", attributes=attributes, **fields)


def make_rag_spans(*, trace_id: str = TRACE_ID, **fields) -> tuple[Span, Span, Span]:
    """Root, retriever and model call of one trace."""
    spans = (make_root(**fields), make_retriever(), make_generation())
    return tuple(span._replace(trace_id=trace_id) for span in spans)


RAG_SPANS = make_rag_spans()
ROOT, RETRIEVER, GENERATION = RAG_SPANS
