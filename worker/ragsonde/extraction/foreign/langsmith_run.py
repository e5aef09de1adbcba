"""LangSmith's and LangChain's run tree: the root's inputs and outputs, and the runs below it as steps."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ragsonde.extraction.conventions.recorded_facts import read_reference, read_tags
from ragsonde.extraction.conventions.recorded_texts import read_answer, read_question
from ragsonde.extraction.documents import read_name
from ragsonde.extraction.foreign.langsmith_steps import list_runs, read_run, read_start
from ragsonde.extraction.foreign.moments import find_moment, measure_milliseconds
from ragsonde.extraction.foreign.places import look_up
from ragsonde.extraction.foreign.stated_fields import add_stated, find_names, read_found
from ragsonde.extraction.foreign.trace_names import find_trace_name
from ragsonde.extraction.messages import read_turns
from ragsonde.extraction.step_findings import find_in_steps
from ragsonde_schemas.trace import Turn

if TYPE_CHECKING:
    from ragsonde.extraction.findings import Findings, Found
    from ragsonde.extraction.options import RetrievalOptions
    from ragsonde.extraction.steps import Step
    from ragsonde_schemas.decoded import ForeignDocument

FORMAT = "langsmith_run"
_METADATA = "extra.metadata"
_NAMES = {
    "app": (f"{_METADATA}.app",),
    "environment": (f"{_METADATA}.environment", f"{_METADATA}.env"),
    "release": (f"{_METADATA}.revision_id", f"{_METADATA}.release"),
    "variant": (f"{_METADATA}.variant",),
    "session_id": ("", *(f"{_METADATA}.{key}" for key in ("session_id", "thread_id", "conversation_id"))),
    "user_id": (f"{_METADATA}.user_id",),
}
"""A run's own `session_id` is the project it was sent to, no user's session."""

_PROJECT = "session_name"
_NO_PROJECT = "default"
_HISTORIES = ("chat_history", "history")
_REFERENCES = ("reference_outputs", "reference_output")


def find(document: ForeignDocument, *, options: RetrievalOptions) -> tuple[Findings, ...]:
    """The fields of one tree."""
    root = document.document
    name = find_trace_name(root, [root.get("trace_id"), root.get("id")])
    found = find_in_steps(
        _read_steps(root),
        format_name=FORMAT,
        trace_id=name.trace_id,
        claimed_at=find_moment([root.get("occurred_at"), read_start(root)]),
        latency_ms=measure_milliseconds(read_start(root), root.get("end_time")),
        options=options,
        warnings=(*document.warnings, *name.warnings),
    )
    return tuple(add_stated(findings, root) for findings in found)


def _read_steps(root: dict[str, Any]) -> list[Step]:
    runs = list_runs(root)
    runs.sort(key=lambda run: run.order)
    steps = [read_run(run, convention=FORMAT) for run in runs]
    return [
        _complete_root(step, root) if run.fields is root else step
        for run, step in zip(runs, steps, strict=True)
    ]


def _complete_root(step: Step, root: dict[str, Any]) -> Step:
    """The root's step with question and answer, the conversation before it, and whose trace it is."""
    question, answer = read_question(root.get("inputs")), read_answer(root.get("outputs"))
    return replace(
        step,
        parent_id=None,
        question=read_found(question, f"{FORMAT}:inputs"),
        answer=read_found(answer, f"{FORMAT}:outputs"),
        turns=step.turns or _read_history(root, question=question),
        facts={**step.facts, **_find_facts(root)},
        is_entry=True,
    )


def _read_history(root: dict[str, Any], *, question: str | None) -> tuple[Turn, ...]:
    histories = (read_turns(look_up(root, "inputs", key)) for key in _HISTORIES)
    history = next((turns for turns in histories if turns), ())
    return (*history, Turn(role="user", content=question)) if history and question is not None else ()


def _find_facts(root: dict[str, Any]) -> dict[str, Found]:
    facts = find_names(root, format_name=FORMAT, places=_NAMES)
    project = read_name(root.get(_PROJECT))
    if "app" not in facts and project is not None and project != _NO_PROJECT:
        facts["app"] = read_found(project, f"{FORMAT}:{_PROJECT}", is_exact=False)
    metadata = look_up(root, "extra", "metadata")
    example = read_name(root.get("reference_example_id"))
    about = {**(metadata if isinstance(metadata, dict) else {})}
    if example is not None:
        about["reference_example_id"] = example
    references = (read_reference(root.get(key)) for key in _REFERENCES)
    others = {
        "metadata": (about or None, _METADATA),
        "tags": (read_tags(root.get("tags")) or None, "tags"),
        "reference": (next((item for item in references if item is not None), None), _REFERENCES[0]),
    }
    for field, (value, place) in others.items():
        if value is not None:
            facts[field] = read_found(value, f"{FORMAT}:{place}")
    return facts
