"""MLflow's attributes, of trace documents and of spans by OTLP: every value is JSON in a string."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ragsonde.extraction.conventions.mlflow_trace_facts import find_trace_facts
from ragsonde.extraction.conventions.recorded_documents import read_returned
from ragsonde.extraction.conventions.recorded_facts import collect_facts, read_cost, read_usage
from ragsonde.extraction.conventions.recorded_texts import read_answer, read_question
from ragsonde.extraction.conventions.recorded_values import find_first, find_names, read_object, read_value
from ragsonde.extraction.messages import read_turns
from ragsonde.extraction.steps import Step, StepKind

if TYPE_CHECKING:
    from ragsonde.extraction.documents import Document
    from ragsonde.extraction.findings import Found
    from ragsonde_schemas.span import Span

NAME = "mlflow"
_INPUTS = "mlflow.spanInputs"
_OUTPUTS = "mlflow.spanOutputs"
_USAGE = "mlflow.chat.tokenUsage"
_COST = "mlflow.llm.cost"
_KINDS = {
    "RETRIEVER": StepKind.RETRIEVER,
    "RERANKER": StepKind.RERANKER,
    "TOOL": StepKind.TOOL,
    "LLM": StepKind.GENERATION,
    "CHAT_MODEL": StepKind.GENERATION,
    "GUARDRAIL": StepKind.GUARD,
    "EVALUATOR": StepKind.CHECK,
}


def read_step(span: Span) -> Step | None:
    """The step of a span with attributes `mlflow.*`, else None."""
    attributes = span.attributes
    if not any(name.startswith("mlflow.") for name in attributes):
        return None
    stated = read_value(attributes.get("mlflow.spanType"))
    kind = _KINDS.get(stated.upper(), StepKind.OTHER) if isinstance(stated, str) else StepKind.OTHER
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
            (_INPUTS, "mlflow.data.request", "mlflow.info.request_preview"),
            read=read_question,
            convention=NAME,
        ),
        answer=find_first(attributes, (_OUTPUTS, "mlflow.data.response"), read=read_answer, convention=NAME),
        turns=read_turns(read_value(attributes.get(_INPUTS))) if kind is StepKind.GENERATION else (),
        facts={**_find_call_facts(attributes, kind=kind), **find_trace_facts(attributes)},
    )


def _read_documents(attributes: dict[str, Any], *, kind: StepKind) -> tuple[Document, ...] | None:
    if kind in {StepKind.GENERATION, StepKind.CHECK, StepKind.GUARD, StepKind.OTHER}:
        return None
    return read_returned(attributes.get(_OUTPUTS))


def _find_call_facts(attributes: dict[str, Any], *, kind: StepKind) -> dict[str, Found]:
    """Model and tokens of a model call, which its input and output may say as well; what a span cost."""
    taken, returned = read_object(attributes.get(_INPUTS)), read_object(attributes.get(_OUTPUTS))
    facts = collect_facts(
        {"cost_usd": (_COST, read_cost(read_object(attributes.get(_COST))))}, convention=NAME
    )
    if kind is not StepKind.GENERATION:
        return facts
    counts = read_object(attributes.get(_USAGE)) or read_object(returned.get("usage"))
    return {
        **facts,
        **find_names(taken, {"model": ("model",)}, convention=f"{NAME}:spanInputs"),
        **find_names(returned, {"model": ("model",)}, convention=f"{NAME}:spanOutputs"),
        **find_names(attributes, {"model": ("mlflow.llm.model",)}, convention=NAME),
        **collect_facts({"usage": (_USAGE, read_usage(counts))}, convention=NAME),
    }
