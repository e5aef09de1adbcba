"""Mastra's scorer run: what an agent was asked, which tools it called, what it answered."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ragsonde.extraction.conventions.recorded_documents import read_returned
from ragsonde.extraction.conventions.recorded_facts import read_reference
from ragsonde.extraction.conventions.recorded_texts import read_answer, read_question
from ragsonde.extraction.findings import cite
from ragsonde.extraction.foreign.mastra_messages import Part, iterate_parts, read_mastra_turns
from ragsonde.extraction.foreign.moments import find_moment
from ragsonde.extraction.foreign.places import list_objects, look_up
from ragsonde.extraction.foreign.stated_fields import add_stated, find_names, read_found
from ragsonde.extraction.foreign.trace_names import find_trace_name
from ragsonde.extraction.prompt_sections import find_prompt_section
from ragsonde.extraction.step_findings import find_in_steps
from ragsonde.extraction.steps import NOTHING, Step, StepKind

if TYPE_CHECKING:
    from ragsonde.extraction.documents import Document
    from ragsonde.extraction.findings import Findings, Found
    from ragsonde.extraction.options import RetrievalOptions
    from ragsonde_schemas.decoded import ForeignDocument
    from ragsonde_schemas.trace import Turn

FORMAT = "mastra_run"
_IDS = ("traceId", "trace_id", "runId", "id")
_NAMES = {
    "app": ("entity.id", "entityId", "entity.name", "entityName"),
    "session_id": ("threadId",),
    "user_id": ("resourceId",),
}
_ABOUT = ("runId", "spanId", "source", "entityType", "scorerId")
_REFERENCES = ("groundTruth", "expectedOutput")
_TIMES = ("occurred_at", "createdAt")
_ASKED = 1
_STATED = f"{FORMAT}:additionalContext.context"


def find(document: ForeignDocument, *, options: RetrievalOptions) -> tuple[Findings, ...]:
    """The fields of one run.

    Contexts are those that the run states itself (`additionalContext.context`), else what tools returned
    before the agent's last words, else the section of a system message that announces them.
    """
    fields = document.document
    name = find_trace_name(fields, [fields.get(key) for key in _IDS])
    found = find_in_steps(
        _read_steps(fields),
        format_name=FORMAT,
        trace_id=name.trace_id,
        claimed_at=_find_time(fields),
        options=options,
        warnings=(*document.warnings, *name.warnings),
    )
    return tuple(_name_places(add_stated(findings, fields)) for findings in found)


def _read_steps(fields: dict[str, Any]) -> list[Step]:
    """The run itself, and in order the model's calls and the tools between them."""
    given = fields.get("input")
    system = look_up(given, "systemMessages")
    tagged = look_up(given, "taggedSystemMessages")
    groups = tagged.values() if isinstance(tagged, dict) else ()
    asked = look_up(given, "inputMessages")
    turns = read_mastra_turns(
        system, *groups, look_up(given, "rememberedMessages"), asked if isinstance(asked, list) else given
    )
    parts = list(iterate_parts(fields.get("output")))
    entry = Step(
        convention=FORMAT,
        id="run",
        parent_id=None,
        kind=StepKind.OTHER,
        question=_find_question(given, turns),
        answer=_find_answer(fields.get("output"), parts),
        prompted=_find_sections(turns),
        facts=_find_facts(fields),
        is_entry=True,
    )
    stated = look_up(fields, "additionalContext", "context")
    documents = read_returned(stated)
    retrievals = [] if documents is None else [_make_step(StepKind.RETRIEVER, _ASKED, documents=documents)]
    return [entry, *retrievals, *_read_calls(parts, turns=turns)]


def _read_calls(parts: list[Part], *, turns: tuple[Turn, ...]) -> list[Step]:
    """A run tells no times: the places of its parts stand for them."""
    steps = [_make_step(StepKind.GENERATION, _ASKED + 1, turns=turns)]
    for place, part in enumerate(parts, start=_ASKED + 2):
        if part.kind == "tool":
            question = read_found(part.question, f"{FORMAT}:tool_args", is_exact=False)
            steps.append(
                _make_step(StepKind.TOOL, place, documents=part.documents, name=part.name, question=question)
            )
        elif steps[-1].kind is StepKind.TOOL:
            steps.append(_make_step(StepKind.GENERATION, place, turns=turns))
    return steps


def _make_step(
    kind: StepKind,
    place: int,
    *,
    documents: tuple[Document, ...] | None = None,
    turns: tuple[Turn, ...] = (),
    name: str = "",
    question: Found = NOTHING,
) -> Step:
    return Step(
        convention=FORMAT,
        id=f"{place}",
        parent_id="run",
        kind=kind,
        start_ns=place,
        end_ns=place,
        name=name,
        documents=documents,
        turns=turns,
        question=question,
    )


def _find_question(given: object, turns: tuple[Turn, ...]) -> Found:
    asked = next((turn.content for turn in reversed(turns) if turn.role == "user"), None)
    if asked is not None:
        return read_found(asked, f"{FORMAT}:input.inputMessages")
    if look_up(given, "inputMessages") is not None:
        return NOTHING
    return read_found(read_question(given), f"{FORMAT}:input", is_exact=isinstance(given, str))


def _find_answer(output: object, parts: list[Part]) -> Found:
    """The texts after the last tool; "" where the run ended in one, for then there is no answer."""
    if not parts:
        text = output if isinstance(output, str) else read_answer(output)
        return read_found(text, f"{FORMAT}:output", is_exact=isinstance(output, str))
    last_tool = max((place for place, part in enumerate(parts) if part.kind == "tool"), default=-1)
    text = "\n".join(part.text for part in parts[last_tool + 1 :] if part.kind == "text")
    return read_found(text, f"{FORMAT}:output")


def _find_sections(turns: tuple[Turn, ...]) -> tuple[str, ...]:
    sections = (find_prompt_section(turn.content) for turn in turns if turn.role == "system")
    return tuple(section for section in sections if section is not None)


def _find_facts(fields: dict[str, Any]) -> dict[str, Found]:
    facts = find_names(fields, format_name=FORMAT, places=_NAMES)
    for key in _REFERENCES:
        reference = read_reference(fields.get(key))
        if reference is not None:
            facts["reference"] = read_found(reference, f"{FORMAT}:{key}")
            break
    own = fields.get("metadata")
    about = {key: fields[key] for key in _ABOUT if isinstance(fields.get(key), str)}
    metadata = {**(own if isinstance(own, dict) else {}), **about}
    if metadata:
        facts["metadata"] = read_found(metadata, f"{FORMAT}:run")
    return facts


def _find_time(fields: dict[str, Any]) -> Any:  # noqa: ANN401 - a time or a text, as `find_moment` says
    """When the run was, else when its last question or first answer was written."""
    asked = [
        message.get("createdAt")
        for message in reversed(list_objects(look_up(fields, "input", "inputMessages")))
    ]
    answered = [message.get("createdAt") for message in list_objects(fields.get("output"))]
    return find_moment([fields.get("occurred_at"), *asked, *answered, *(fields.get(key) for key in _TIMES)])


def _name_places(findings: Findings) -> Findings:
    """The findings with the rule for contexts named by where Mastra has them."""
    evidence = findings.evidence.get("contexts")
    rules = {
        f"{FORMAT}:retriever": cite(_STATED),
        f"{FORMAT}:prompt_variables": cite(f"{FORMAT}:system_message", is_exact=False),
    }
    named = rules.get(evidence.rule) if evidence is not None else None
    return findings if named is None else replace(findings, evidence={**findings.evidence, "contexts": named})
