"""Steps of a trace, as conventions and foreign formats give them."""

from __future__ import annotations

from ragsonde.extraction.documents import Document
from ragsonde.extraction.findings import Found
from ragsonde.extraction.steps import Step, StepKind
from ragsonde_schemas.trace import Turn


def make_step(step_id, parent=None, *, kind=StepKind.OTHER, start=None, end=None, **fields) -> Step:
    """A step named `step_id`; texts and documents as plain values, turns as pairs of role and text.

    Without times it starts at its number, so steps numbered upwards come one after the other.
    """
    start = int(step_id) * 10 if start is None else start
    for name in ("question", "answer"):
        if name in fields and not isinstance(fields[name], Found):
            fields[name] = Found(fields[name])
    documents = fields.pop("documents", None)
    if documents is not None:
        documents = tuple(item if isinstance(item, Document) else Document(item) for item in documents)
    turns = tuple(Turn(role=role, content=content) for role, content in fields.pop("turns", ()))
    facts = {
        name: fact if isinstance(fact, Found) else Found(fact)
        for name, fact in fields.pop("facts", {}).items()
    }
    return Step(
        convention=fields.pop("convention", "test"),
        id=str(step_id),
        parent_id=None if parent is None else str(parent),
        kind=kind,
        start_ns=start,
        end_ns=start + 5 if end is None else end,
        documents=documents,
        turns=turns,
        facts=facts,
        **fields,
    )
