"""Dify's chat message: `answer`, and the `retriever_resources` it cites by position."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ragsonde.extraction.conventions.recorded_facts import read_usage
from ragsonde.extraction.conventions.recorded_texts import read_question
from ragsonde.extraction.documents import Document, read_name, read_score
from ragsonde.extraction.foreign.moments import find_moment, scale_seconds
from ragsonde.extraction.foreign.places import list_objects, look_up
from ragsonde.extraction.foreign.stated_fields import add_stated, find_names, read_found
from ragsonde.extraction.foreign.trace_names import find_trace_name
from ragsonde.extraction.step_findings import find_in_steps
from ragsonde.extraction.steps import NOTHING, Step, StepKind

if TYPE_CHECKING:
    from ragsonde.extraction.findings import Findings, Found
    from ragsonde.extraction.options import RetrievalOptions
    from ragsonde_schemas.decoded import ForeignDocument

FORMAT = "dify_message"
_IDS = ("trace_id", "message_id", "id", "task_id")
_TIMES = ("occurred_at", "created_at")
_NAMES = {"session_id": ("conversation_id",), "user_id": ("user", "from_end_user_id", "from_account_id")}
_DOCUMENT_IDS = ("segment_id", "document_id", "data_source_id", "id")
_READ = frozenset({"content", "score", "segment_id"})
_DOLLARS = frozenset({"USD", None})


def find(document: ForeignDocument, *, options: RetrievalOptions) -> tuple[Findings, ...]:
    """The fields of one message; the question is `query`, or among the `inputs` of the application."""
    fields = document.document
    name = find_trace_name(fields, [fields.get(key) for key in _IDS])
    found = find_in_steps(
        _read_steps(fields),
        format_name=FORMAT,
        trace_id=name.trace_id,
        claimed_at=find_moment(fields.get(key) for key in _TIMES),
        latency_ms=scale_seconds(look_up(fields, "metadata", "usage", "latency")),
        options=options,
        warnings=(*document.warnings, *name.warnings),
    )
    return tuple(add_stated(findings, fields, takes_metadata=False) for findings in found)


def _read_steps(fields: dict[str, Any]) -> list[Step]:
    answer = fields.get("answer")
    entry = Step(
        convention=FORMAT,
        id="message",
        parent_id=None,
        kind=StepKind.OTHER,
        question=_find_question(fields),
        answer=read_found(answer if isinstance(answer, str) else None, f"{FORMAT}:answer"),
        facts=_find_facts(fields),
        is_entry=True,
    )
    resources = look_up(fields, "metadata", "retriever_resources")
    if not isinstance(resources, list):
        resources = fields.get("retriever_resources")
    if not isinstance(resources, list):
        return [entry]
    retrieval = Step(
        convention=FORMAT,
        id="retriever_resources",
        parent_id="message",
        kind=StepKind.RETRIEVER,
        documents=tuple(_read_resource(item) for item in sorted(list_objects(resources), key=_get_position)),
    )
    return [entry, retrieval]


def _find_question(fields: dict[str, Any]) -> Found:
    for place, value in (("query", fields.get("query")), ("inputs", fields.get("inputs"))):
        question = read_question(value)
        if question is not None:
            return read_found(question, f"{FORMAT}:{place}", is_exact=place == "query")
    return NOTHING


def _find_facts(fields: dict[str, Any]) -> dict[str, Found]:
    facts = find_names(fields, format_name=FORMAT, places=_NAMES)
    usage = look_up(fields, "metadata", "usage")
    if isinstance(usage, dict):
        facts["usage"] = read_found(read_usage(usage), f"{FORMAT}:metadata.usage")
        currency = usage.get("currency")
        if not isinstance(currency, dict | list) and currency in _DOLLARS:
            facts["cost_usd"] = read_found(read_score(usage.get("total_price")), f"{FORMAT}:metadata.usage")
    return facts


def _get_position(resource: dict[str, Any]) -> float:
    position = read_score(resource.get("position"))
    return float("inf") if position is None else position


def _read_resource(resource: dict[str, Any]) -> Document:
    content = resource.get("content")
    ids = (read_name(resource.get(key)) for key in _DOCUMENT_IDS)
    return Document(
        content=content if isinstance(content, str) else None,
        id=next((name for name in ids if name is not None), None),
        score=read_score(resource.get("score")),
        metadata={key: value for key, value in resource.items() if key not in _READ and value is not None},
    )
