"""A trace as steps: what each span did, whichever convention its attributes follow.

Conventions translate spans (or the runs of a run tree, or the observations of an export) into steps; what was
retrieved, asked and answered is then found once for all of them, in `retrievals` and `conversation`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from ragsonde.extraction.findings import Found, cite

if TYPE_CHECKING:
    from ragsonde.extraction.documents import Document
    from ragsonde_schemas.trace import Turn


NOTHING = Found()


class StepKind(StrEnum):
    """What a step did."""

    RETRIEVER = "retriever"
    RERANKER = "reranker"
    TOOL = "tool"
    GENERATION = "generation"
    CHECK = "check"
    """It judges what the application does (an evaluator) and answers nobody."""
    GUARD = "guard"
    """A guardrail: a check that may stand around what it guards. A tree tells which of both it is."""
    OTHER = "other"
    """Part of a RAG application (a chain, an agent, an embedding), but none of these."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """What one span did.

    Attributes:
        convention: whose attributes say so; names the rules.
        id, parent_id: of its span; parent None for a root.
        start_ns, end_ns: by the producer's clock; 0 where unknown.
        documents: what it delivered: None = it recorded none, () = it recorded that there were none.
        question: the text it was asked, where it is one (the root's input, a retriever's query).
        answer: the text it answered, where it is one (the root's output, a generation's text).
        turns: the messages a generation was given, oldest first, roles as recorded
            (system, user, assistant, tool); the last user turn is what it was asked.
        prompted: texts that the prompt's template was filled with as context.
        facts: other fields of `Findings` by name (session_id, user_id, app, environment, release, variant,
            reference, model, tags, metadata, usage, cost_usd), each with its rule.
        is_entry: the convention marks it as the application's own root.
        is_error: it failed, by its span's status or its convention's own mark.
    """

    convention: str
    id: str
    parent_id: str | None
    kind: StepKind
    start_ns: int = 0
    end_ns: int = 0
    name: str = ""
    documents: tuple[Document, ...] | None = None
    question: Found = NOTHING
    answer: Found = NOTHING
    turns: tuple[Turn, ...] = ()
    prompted: tuple[str, ...] = ()
    facts: dict[str, Found] = field(default_factory=dict)
    is_entry: bool = False
    is_error: bool = False


def has_text(found: Found) -> bool:
    """True where a text was found that says anything."""
    return isinstance(found.value, str) and bool(found.value.strip())


def get_ending(step: Step) -> tuple[int, int]:
    """When a step ended, for an order of time; one whose end is unknown as when it started."""
    return step.end_ns or step.start_ns, step.start_ns


def name_finding(found: Found, step: Step, place: str, *, is_exact: bool = True) -> Found:
    """A finding of a step with its convention's own rule, or the one that the place is called by."""
    own = found.evidence
    rule = own.rule if own is not None else f"{step.convention}:{place}"
    is_exact = is_exact and (own is None or own.confidence == "exact")
    return Found(found.value, cite(rule, is_exact=is_exact))
