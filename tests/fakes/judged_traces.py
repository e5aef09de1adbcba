"""Traces for tests of judges: given as plain texts, numbered as extraction numbers them."""

from __future__ import annotations

from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

from ragsonde.extraction.sentences import number_sentences
from ragsonde_schemas.assessment import Aspect
from ragsonde_schemas.trace import Context, Extraction, Reference, Trace, Turn

WIDER_ASPECTS = frozenset(
    {Aspect.CLAIMS, Aspect.ANSWER_STATEMENTS, Aspect.REFERENCE_STATEMENTS, Aspect.RUBRICS}
)
"""Of scorers that are off by default; only an LLM or a person assesses them."""

ALL_ASPECTS = frozenset(Aspect) - WIDER_ASPECTS - {Aspect.STATEMENTS}
"""Of the five scorers with their defaults."""


def make_trace(
    *contexts: str,
    query: str | None = "Which battery does the torch need?",
    answer: str | None = "The torch needs an alkaline battery.",
    reference: str | None = None,
    turns: tuple[tuple[str, str], ...] = (),
    **fields: Any,  # noqa: ANN401 - any field of a trace
) -> Trace:
    """A trace with these contexts, in this order; without any, three of which the first answers."""
    contents = contexts or (
        "The torch needs one alkaline battery of size AA. It lasts for nine hours.",
        "A battery should not be thrown into fire.",
        "Opening times of our shop vary.",
    )
    return Trace(
        trace_id=fields.pop("trace_id", "t-1"),
        occurred_at=datetime(2026, 3, 1, 12, tzinfo=UTC),
        query=query,
        answer=answer,
        reference=None if reference is None else Reference(answer=reference),
        turns=tuple(Turn(role=role, content=content) for role, content in turns),
        contexts=tuple(
            Context(
                rank=rank, content=content, sentences=number_sentences(content, context_number=str(rank + 1))
            )
            for rank, content in enumerate(contents)
        ),
        content_hash=sha256(repr((query, answer, contents)).encode()).hexdigest(),
        extraction=Extraction(format="native"),
        **fields,
    )
