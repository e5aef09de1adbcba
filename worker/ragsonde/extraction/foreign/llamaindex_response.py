"""LlamaIndex's response: `response`, and `source_nodes` in the order in which the model saw them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ragsonde.extraction.conventions.recorded_texts import read_answer, read_question
from ragsonde.extraction.documents import Document, read_first_score, read_name
from ragsonde.extraction.foreign.moments import find_moment
from ragsonde.extraction.foreign.places import list_objects, look_up
from ragsonde.extraction.foreign.stated_fields import add_stated, find_names, read_found
from ragsonde.extraction.foreign.trace_names import find_trace_name
from ragsonde.extraction.step_findings import find_in_steps
from ragsonde.extraction.steps import NOTHING, Step, StepKind

if TYPE_CHECKING:
    from ragsonde.extraction.findings import Findings, Found
    from ragsonde.extraction.options import RetrievalOptions
    from ragsonde_schemas.decoded import ForeignDocument

FORMAT = "llamaindex_response"
_ANSWERS = ("response", "response_txt", "answer")
_TIMES = ("occurred_at", "timestamp", "created_at")


def find(document: ForeignDocument, *, options: RetrievalOptions) -> tuple[Findings, ...]:
    """The fields of one response; the question and whose it is are there where the producer added them."""
    fields = document.document
    name = find_trace_name(fields, [fields.get("trace_id")])
    steps = [
        Step(
            convention=FORMAT,
            id="response",
            parent_id=None,
            kind=StepKind.OTHER,
            question=read_found(read_question(fields.get("query")), f"{FORMAT}:query"),
            answer=_find_answer(fields),
            facts=find_names(fields, format_name=FORMAT, places={}),
            is_entry=True,
        ),
        Step(
            convention=FORMAT,
            id="source_nodes",
            parent_id="response",
            kind=StepKind.RETRIEVER,
            documents=tuple(_read_node(item) for item in list_objects(fields.get("source_nodes"))),
        ),
    ]
    found = find_in_steps(
        steps,
        format_name=FORMAT,
        trace_id=name.trace_id,
        claimed_at=find_moment(fields.get(key) for key in _TIMES),
        options=options,
        warnings=(*document.warnings, *name.warnings),
    )
    return tuple(add_stated(findings, fields) for findings in found)


def _find_answer(fields: dict[str, Any]) -> Found:
    """The response as it stands, also where it is JSON: a structured answer."""
    for key in _ANSWERS:
        value = fields.get(key)
        text = value if isinstance(value, str) else read_answer(value)
        if text is not None:
            return read_found(text, f"{FORMAT}:{key}")
    return NOTHING


def _read_node(item: dict[str, Any]) -> Document:
    """A node with its score; its fields may stand under `__data__`, its text under `text_resource`."""
    places = (look_up(item, "node", "__data__"), item.get("node"), item)
    fields = next(place for place in places if isinstance(place, dict))
    texts = (fields.get("text"), look_up(fields, "text_resource", "text"), fields.get("content"))
    ids = (fields.get(key) for key in ("id_", "id", "node_id"))
    metadata = fields.get("metadata")
    return Document(
        content=next((text for text in texts if isinstance(text, str)), None),
        id=next((name for value in ids if (name := read_name(value)) is not None), None),
        score=read_first_score([item.get("score")]),
        metadata=metadata if isinstance(metadata, dict) else None,
    )
