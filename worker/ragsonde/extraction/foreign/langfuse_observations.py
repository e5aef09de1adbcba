"""Langfuse's observations as steps, and the messages of a graph's state where no observation tells."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ragsonde.extraction.conventions.recorded_documents import read_returned
from ragsonde.extraction.conventions.recorded_facts import read_cost, read_usage
from ragsonde.extraction.conventions.recorded_texts import read_answer, read_question
from ragsonde.extraction.conventions.recorded_values import read_object, read_value
from ragsonde.extraction.documents import read_name, read_score, unite_delivered
from ragsonde.extraction.foreign.moments import count_nanoseconds, read_moment
from ragsonde.extraction.foreign.stated_fields import read_found
from ragsonde.extraction.messages import is_of_tool, read_messages, read_tool_message, read_turns
from ragsonde.extraction.steps import NOTHING, Step, StepKind

if TYPE_CHECKING:
    from ragsonde.extraction.documents import Document
    from ragsonde.extraction.findings import Found

_KINDS = {
    "RETRIEVER": StepKind.RETRIEVER,
    "TOOL": StepKind.TOOL,
    "GENERATION": StepKind.GENERATION,
    "GUARDRAIL": StepKind.GUARD,
    "EVALUATOR": StepKind.CHECK,
}
_COSTS = ("calculatedTotalCost", "totalCost")
_COUNTS = {
    "prompt_tokens": ("promptTokens", "inputUsage"),
    "completion_tokens": ("completionTokens", "outputUsage"),
    "total_tokens": ("totalTokens", "totalUsage"),
}


def read_observation(item: dict[str, Any], *, convention: str, own_id: str, parent: str) -> Step:
    """The step that an observation is.

    Args:
        item: the observation.
        convention: names the rules.
        own_id: of the step.
        parent: the step of the trace, above those without a parent.
    """
    kind = _find_kind(item)
    is_error = item.get("level") == "ERROR"
    return Step(
        convention=convention,
        id=own_id,
        parent_id=read_name(item.get("parentObservationId")) or parent,
        kind=kind,
        start_ns=count_nanoseconds(read_moment(item.get("startTime"))),
        end_ns=count_nanoseconds(read_moment(item.get("endTime"))),
        name=str(item.get("name") or ""),
        documents=None if is_error else _read_documents(item.get("output"), kind=kind),
        question=_read_question(item, kind=kind),
        answer=read_found(read_answer(item.get("output")), f"{convention}:observation.output")
        if kind in {StepKind.GENERATION, StepKind.OTHER}
        else NOTHING,
        turns=read_turns(read_value(item.get("input"))) if kind is StepKind.GENERATION else (),
        facts=_find_facts(item, convention=convention) if kind is StepKind.GENERATION else {},
        is_error=is_error,
    )


def read_state(output: object, *, convention: str, parent: str) -> tuple[Step, ...]:
    """What tools returned since the last question, by the messages that the trace's output is made of.

    A tool's step is followed by one of a generation where the assistant spoke after it.
    """
    steps: list[Step] = []
    for place, message in enumerate(read_messages(read_value(output))):
        if message.role == "user" and not is_of_tool(message):
            steps = []
        documents = unite_delivered(map(read_returned, message.results))
        kind = StepKind.GENERATION if documents is None else StepKind.TOOL
        if documents is not None or message.role == "assistant":
            steps.append(
                Step(
                    convention=convention,
                    id=f"message:{place}",
                    parent_id=parent,
                    kind=kind,
                    start_ns=place + 1,
                    end_ns=place + 1,
                    documents=documents,
                )
            )
    return tuple(steps) if any(step.kind is StepKind.TOOL for step in steps) else ()


def _find_kind(item: dict[str, Any]) -> StepKind:
    """The observation's type. Rerankers are known by their name, tools also by returning a tool's message."""
    stated = item.get("type")
    kind = _KINDS.get(stated.upper(), StepKind.OTHER) if isinstance(stated, str) else StepKind.OTHER
    name = item.get("name")
    if kind is StepKind.RETRIEVER and isinstance(name, str) and "rerank" in name.lower():
        return StepKind.RERANKER
    if kind is StepKind.OTHER and read_tool_message(read_value(item.get("output"))) is not None:
        return StepKind.TOOL
    return kind


def _read_documents(output: object, *, kind: StepKind) -> tuple[Document, ...] | None:
    is_silent = kind in {StepKind.GENERATION, StepKind.CHECK, StepKind.GUARD, StepKind.OTHER}
    return None if is_silent else read_returned(output)


def _read_question(item: dict[str, Any], *, kind: StepKind) -> Found:
    return NOTHING if kind is StepKind.TOOL else read_found(read_question(item.get("input")), _rule(kind))


def _rule(kind: StepKind) -> str:
    return f"langfuse_export:{kind.value}.input"


def _find_facts(item: dict[str, Any], *, convention: str) -> dict[str, Found]:
    usage = read_object(item.get("usageDetails")) or read_object(item.get("usage"))
    counts = {name: item[key] for name, keys in _COUNTS.items() for key in reversed(keys) if key in item}
    cost = read_cost(read_object(item.get("costDetails")))
    if cost is None:
        totals = (read_score(item.get(key)) for key in _COSTS)
        cost = next((total for total in totals if total is not None and total > 0), None)
    values = {
        "model": (read_name(item.get("model")), "model"),
        "usage": (read_usage(usage or counts) or None, "usageDetails"),
        "cost_usd": (cost, "costDetails"),
    }
    return {
        field: read_found(value, f"{convention}:observation.{place}")
        for field, (value, place) in values.items()
        if value is not None
    }
