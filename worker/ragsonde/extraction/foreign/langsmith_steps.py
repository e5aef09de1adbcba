"""LangSmith's runs as steps."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from ragsonde.extraction.conventions.recorded_documents import read_returned
from ragsonde.extraction.conventions.recorded_facts import read_cost, read_usage
from ragsonde.extraction.conventions.recorded_texts import read_answer, read_question
from ragsonde.extraction.documents import read_document, read_documents, read_name, read_score
from ragsonde.extraction.foreign.moments import count_nanoseconds, read_moment
from ragsonde.extraction.foreign.places import list_objects, look_up, look_up_path
from ragsonde.extraction.foreign.stated_fields import read_found
from ragsonde.extraction.messages import read_tool_message, read_turns
from ragsonde.extraction.steps import NOTHING, Step, StepKind

if TYPE_CHECKING:
    from ragsonde.extraction.documents import Document
    from ragsonde.extraction.findings import Found

_KINDS = {"retriever": StepKind.RETRIEVER, "tool": StepKind.TOOL, "llm": StepKind.GENERATION}
_ORDER = re.compile(r"(\d{8}T\d{6})(\d{1,6})?Z")
_MODELS = (
    "outputs.llm_output.model_name",
    "outputs.generations.message.response_metadata.model_name",
    "outputs.model",
    "extra.metadata.ls_model_name",
    "extra.invocation_params.model",
    "extra.invocation_params.model_name",
    "extra.invocation_params.model_id",
)
_USAGES = (
    "outputs.usage_metadata",
    "outputs.generations.message.usage_metadata",
    "outputs.llm_output.token_usage",
    "outputs.llm_output.usage",
    "outputs.usage",
    "extra.metadata.usage_metadata",
)
_PROMPTED = ("context", "context_str", "documents", "docs")


class Run(NamedTuple):
    """A run of a tree.

    Attributes:
        id, parent_id: as the run says, else by its place in the tree.
        order: in time, among all runs of the tree.
    """

    fields: dict[str, Any]
    id: str
    parent_id: str | None
    order: tuple[int, str]


def list_runs(root: dict[str, Any]) -> list[Run]:
    """All runs of a tree, the root first; one inside another is below it even where it names no parent."""
    runs: list[Run] = []
    waiting: list[tuple[dict[str, Any], str | None]] = [(root, None)]
    for fields, above in waiting:
        own = read_name(fields.get("id")) or f"#{len(runs)}"
        order = fields.get("dotted_order")
        started = count_nanoseconds(read_moment(read_start(fields)))
        parent = read_name(fields.get("parent_run_id")) if above is not None else None
        runs.append(Run(fields, own, parent or above, (started, order if isinstance(order, str) else "")))
        waiting.extend((child, own) for child in list_objects(fields.get("child_runs")))
    known = {run.id for run in runs}
    top = runs[0].id
    return [run if run.parent_id in known or run is runs[0] else run._replace(parent_id=top) for run in runs]


def read_start(fields: dict[str, Any]) -> object:
    """When a run started, as it was written; else the time that its dotted order ends in."""
    if fields.get("start_time"):
        return fields["start_time"]
    order = fields.get("dotted_order")
    match = _ORDER.match(order.rpartition(".")[2]) if isinstance(order, str) else None
    if match is None:
        return None
    try:
        whole = datetime.strptime(match[1], "%Y%m%dT%H%M%S").replace(tzinfo=UTC)
    except ValueError:
        return None
    return whole.replace(microsecond=int((match[2] or "0").ljust(6, "0"))).isoformat()


def read_run(run: Run, *, convention: str) -> Step:
    """The step that a run is; `convention` names the rules."""
    fields, outputs = run.fields, run.fields.get("outputs")
    kind = _find_kind(fields)
    generates = kind is StepKind.GENERATION
    return Step(
        convention=convention,
        id=run.id,
        parent_id=run.parent_id,
        kind=kind,
        start_ns=run.order[0],
        end_ns=count_nanoseconds(read_moment(fields.get("end_time"))),
        name=str(fields.get("name") or ""),
        documents=None if fields.get("error") else _read_documents(outputs, kind=kind),
        question=read_found(read_question(fields.get("inputs")), f"{convention}:{kind.value}.inputs")
        if kind in {StepKind.RETRIEVER, StepKind.RERANKER}
        else NOTHING,
        answer=read_found(read_answer(outputs), f"{convention}:llm.outputs") if generates else NOTHING,
        turns=read_turns(fields.get("inputs")) if generates else (),
        prompted=_read_prompted(fields) if fields.get("run_type") == "prompt" else (),
        facts=_find_facts(fields, convention=convention) if generates else {},
        is_error=bool(fields.get("error")),
    )


def _find_kind(fields: dict[str, Any]) -> StepKind:
    """The run's type. Rerankers are known by name and documents, tools also by returning their messages."""
    stated = fields.get("run_type")
    kind = _KINDS.get(stated.lower(), StepKind.OTHER) if isinstance(stated, str) else StepKind.OTHER
    name, outputs = fields.get("name"), fields.get("outputs")
    if kind is StepKind.GENERATION:
        return kind
    if isinstance(name, str) and "rerank" in name.lower() and _find_listed(outputs) is not None:
        return StepKind.RERANKER
    if kind is StepKind.OTHER and read_tool_message(outputs) is not None:
        return StepKind.TOOL
    return kind


def _read_documents(outputs: object, *, kind: StepKind) -> tuple[Document, ...] | None:
    if kind in {StepKind.GENERATION, StepKind.OTHER} or not isinstance(outputs, dict | list):
        return None
    if kind is StepKind.TOOL:
        message = look_up(outputs, "output")
        artifact = look_up(message, "kwargs", "artifact") or look_up(message, "artifact")
        documents = read_documents(artifact) if isinstance(artifact, list) else None
        return tuple(documents) if documents else read_returned(outputs if message is None else message)
    listed = _find_listed(outputs)
    return None if listed is None else tuple(map(read_document, listed))


def _find_listed(outputs: object) -> list[Any] | None:
    """The list of documents: LangChain's `documents`, a traced function's `output`, or the outputs."""
    places = (look_up(outputs, "documents"), look_up(outputs, "output"), outputs)
    return next((place for place in places if isinstance(place, list)), None)


def _read_prompted(fields: dict[str, Any]) -> tuple[str, ...]:
    for key in _PROMPTED:
        value = look_up(fields, "inputs", key)
        items = value if isinstance(value, list) else [value]
        texts = (read_document(item).content for item in items if item is not None)
        found = tuple(text for text in texts if text is not None and text.strip())
        if found:
            return found
    return ()


def _find_facts(fields: dict[str, Any], *, convention: str) -> dict[str, Found]:
    first = _open_generation(fields)
    models = ((path, read_name(look_up_path(first, path))) for path in _MODELS)
    model = next(((path, name) for path, name in models if name is not None), None)
    usages = (look_up_path(first, path) for path in _USAGES)
    usage = next((read_usage(item) for item in usages if isinstance(item, dict)), None) or read_usage(fields)
    cost = read_cost(fields)
    facts = {"usage": read_found(usage or None, f"{convention}:llm.usage")}
    if model is not None:
        facts["model"] = read_found(model[1], f"{convention}:{model[0]}")
    if cost is not None and read_score(cost):
        facts["cost_usd"] = read_found(cost, f"{convention}:llm.total_cost")
    return {field: fact for field, fact in facts.items() if fact.value is not None}


def _open_generation(fields: dict[str, Any]) -> dict[str, Any]:
    """The run with its first generation, and the fields of its message, in place of the lists around them."""
    generation = look_up(fields, "outputs", "generations")
    while isinstance(generation, list) and generation:
        generation = generation[0]
    message = look_up(generation, "message")
    inner = look_up(message, "kwargs") or look_up(message, "data")
    opened = {"message": inner if isinstance(inner, dict) else message}
    outputs = fields.get("outputs")
    return {**fields, "outputs": {**(outputs if isinstance(outputs, dict) else {}), "generations": opened}}
