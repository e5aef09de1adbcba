"""Langfuse's trace: its own input and output, and its observations as the steps below it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ragsonde.extraction.conventions.recorded_facts import read_reference, read_tags
from ragsonde.extraction.conventions.recorded_texts import read_answer, read_question
from ragsonde.extraction.conventions.recorded_values import read_object
from ragsonde.extraction.documents import read_name, read_score
from ragsonde.extraction.foreign.langfuse_observations import read_observation, read_state
from ragsonde.extraction.foreign.moments import find_moment, measure_milliseconds, scale_seconds
from ragsonde.extraction.foreign.places import list_objects, look_up
from ragsonde.extraction.foreign.stated_fields import add_stated, find_names, read_found
from ragsonde.extraction.foreign.trace_names import find_trace_name
from ragsonde.extraction.resource_names import find_resource_names
from ragsonde.extraction.step_findings import find_in_steps
from ragsonde.extraction.steps import Step, StepKind

if TYPE_CHECKING:
    from ragsonde.extraction.findings import Findings, Found
    from ragsonde.extraction.options import RetrievalOptions
    from ragsonde_schemas.decoded import ForeignDocument

FORMAT = "langfuse_export"
_TRACE = "trace"
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
                *sorted(item["startTime"] for item in observations if isinstance(item.get("startTime"), str)),
            ]
        ),
        latency_ms=_measure(observations) if latency is None else latency,
        options=options,
        warnings=(*document.warnings, *name.warnings),
    )
    return tuple(add_stated(findings, fields) for findings in found)


def _gather_observations(fields: dict[str, Any], trace: dict[str, Any]) -> list[dict[str, Any]]:
    """Each observation once: those beside the trace have the inputs and outputs that those inside it lack."""
    listed = [*list_objects(trace.get("observations")), *list_objects(fields.get("observations"))]
    by_id: dict[object, dict[str, Any]] = {}
    for place, item in enumerate(listed):
        key = read_name(item.get("id")) or place
        given = {field: value for field, value in item.items() if value is not None}
        by_id[key] = {**by_id.get(key, {}), **given}
    return list(by_id.values())


def _read_steps(
    fields: dict[str, Any], trace: dict[str, Any], observations: list[dict[str, Any]]
) -> list[Step]:
    steps = [
        read_observation(item, convention=FORMAT, place=place, parent=_TRACE)
        for place, item in enumerate(observations)
    ]
    question, answer = read_question(trace.get("input")), read_answer(trace.get("output"))
    entry = Step(
        convention=FORMAT,
        id=_TRACE,
        parent_id=None,
        kind=StepKind.OTHER,
        question=read_found(question, f"{FORMAT}:trace.input"),
        answer=read_found(answer, f"{FORMAT}:trace.output"),
        facts=_find_facts(fields, trace, has_costs=any("cost_usd" in step.facts for step in steps)),
        is_entry=question is not None or answer is not None,
    )
    delivering = any(step.kind in _CARRYING and step.documents is not None for step in steps)
    state = () if delivering else read_state(trace.get("output"), convention=FORMAT, parent=_TRACE)
    return [entry, *state, *steps]


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
    """From the first start to the last end."""
    starts = sorted(text for item in observations if isinstance(text := item.get("startTime"), str))
    ends = sorted(text for item in observations if isinstance(text := look_up(item, "endTime"), str))
    return measure_milliseconds(starts[0], ends[-1]) if starts and ends else None
