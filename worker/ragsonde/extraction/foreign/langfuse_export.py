"""Langfuse's trace: its own input and output, and its observations as the steps below it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ragsonde.extraction.conventions.recorded_facts import read_reference, read_tags
from ragsonde.extraction.conventions.recorded_texts import read_answer, read_question
from ragsonde.extraction.conventions.recorded_values import read_object
from ragsonde.extraction.documents import read_name, read_score
from ragsonde.extraction.foreign.langfuse_observations import read_observation, read_state
from ragsonde.extraction.foreign.moments import (
    count_nanoseconds,
    find_moment,
    measure_milliseconds,
    read_moment,
    scale_seconds,
)
from ragsonde.extraction.foreign.places import list_objects
from ragsonde.extraction.foreign.stated_fields import add_stated, find_names, read_found
from ragsonde.extraction.foreign.trace_names import find_trace_name
from ragsonde.extraction.resource_names import find_resource_names
from ragsonde.extraction.step_findings import find_in_steps
from ragsonde.extraction.steps import Step, StepKind

if TYPE_CHECKING:
    from collections.abc import Collection

    from ragsonde.extraction.findings import Findings, Found
    from ragsonde.extraction.options import RetrievalOptions
    from ragsonde_schemas.decoded import ForeignDocument

FORMAT = "langfuse_export"
_NAMES = {"session_id": ("sessionId",), "user_id": ("userId",)}
_TIMES = ("occurred_at", "timestamp", "createdAt")
_ABOUT = ("version", "name")
_CARRYING = frozenset({StepKind.RETRIEVER, StepKind.RERANKER, StepKind.TOOL})


def find(document: ForeignDocument, *, options: RetrievalOptions) -> tuple[Findings, ...]:
    """The fields of one trace, in the API's shape or with the observations beside the trace."""
    fields = document.document
    trace = fields["trace"] if isinstance(fields.get("trace"), dict) else fields
    observations = _gather_observations(fields, trace)
    name = find_trace_name(fields, [fields.get("trace_id"), trace.get("id"), trace.get("traceId")])
    latency = scale_seconds(trace.get("latency"))
    found = find_in_steps(
        _read_steps(fields, trace, observations),
        format_name=FORMAT,
        trace_id=name.trace_id,
        claimed_at=find_moment(
            [
                *(trace.get(key) for key in _TIMES),
                *sorted((item.get("startTime") for item in observations), key=_count_start),
            ]
        ),
        latency_ms=_measure(observations) if latency is None else latency,
        options=options,
        warnings=(*document.warnings, *name.warnings),
    )
    return tuple(add_stated(findings, fields) for findings in found)


def _gather_observations(fields: dict[str, Any], trace: dict[str, Any]) -> list[dict[str, Any]]:
    """Each observation once: those beside the trace have the inputs and outputs that those inside it lack."""
    beside = [] if trace is fields else list_objects(fields.get("observations"))
    listed = [*list_objects(trace.get("observations")), *beside]
    by_id: dict[object, dict[str, Any]] = {}
    for place, item in enumerate(listed):
        key = read_name(item.get("id")) or place
        given = {field: value for field, value in item.items() if value is not None}
        by_id[key] = {**by_id.get(key, {}), **given}
    return list(by_id.values())


def _read_steps(
    fields: dict[str, Any], trace: dict[str, Any], observations: list[dict[str, Any]]
) -> list[Step]:
    taken = {read_name(item.get(key)) for item in observations for key in ("id", "parentObservationId")}
    top = _pick_unused("trace", taken)
    steps = [
        read_observation(
            item,
            convention=FORMAT,
            own_id=read_name(item.get("id")) or _pick_unused(f"#{place}", taken),
            parent=top,
        )
        for place, item in enumerate(observations)
    ]
    question, answer = read_question(trace.get("input")), read_answer(trace.get("output"))
    entry = Step(
        convention=FORMAT,
        id=top,
        parent_id=None,
        kind=StepKind.OTHER,
        question=read_found(question, f"{FORMAT}:trace.input"),
        answer=read_found(answer, f"{FORMAT}:trace.output"),
        facts=_find_facts(fields, trace, has_costs=any("cost_usd" in step.facts for step in steps)),
        is_entry=question is not None or answer is not None,
    )
    delivering = any(step.kind in _CARRYING and step.documents is not None for step in steps)
    state = () if delivering else read_state(trace.get("output"), convention=FORMAT, parent=top)
    state = tuple(replace(step, id=_pick_unused(step.id, taken)) for step in state)
    return [entry, *state, *steps]


def _pick_unused(name: str, taken: Collection[str | None]) -> str:
    """`name`, with marks before it for as long as an observation is called so."""
    while name in taken:
        name = f"#{name}"
    return name


def _find_facts(fields: dict[str, Any], trace: dict[str, Any], *, has_costs: bool) -> dict[str, Found]:
    metadata = read_object(trace.get("metadata"))
    resource = metadata.get("resourceAttributes")
    facts = find_resource_names([resource]) if isinstance(resource, dict) else {}
    facts |= find_names(trace, format_name=FORMAT, places=_NAMES)
    facts |= find_names(fields, format_name=FORMAT, places=_NAMES)
    about = {key: trace[key] for key in _ABOUT if isinstance(trace.get(key), str)}
    cost = read_score(trace.get("totalCost"))
    others = {
        "metadata": {**metadata, **about} or None,
        "tags": read_tags(trace.get("tags")) or None,
        "reference": read_reference(trace.get("expectedOutput")),
        "cost_usd": cost if cost and cost > 0 and not has_costs else None,
    }
    for field, value in others.items():
        if value is not None:
            facts[field] = read_found(value, f"{FORMAT}:trace.{field}")
    return facts


def _measure(observations: list[dict[str, Any]]) -> float | None:
    """From the first start to the last end, in milliseconds."""
    started = min((item.get("startTime") for item in observations), key=_count_start, default=None)
    ended = max((item.get("endTime") for item in observations), key=_count, default=None)
    return measure_milliseconds(started, ended)


def _count(moment: object) -> int:
    return count_nanoseconds(read_moment(moment))


def _count_start(moment: object) -> tuple[bool, int]:
    """For an order of time in which what is no time comes last."""
    count = _count(moment)
    return not count, count
