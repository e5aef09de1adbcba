"""Traces for tests of scorers: contexts cut into sentences by the splitter that production uses."""

from __future__ import annotations

from datetime import UTC, datetime

from ragsonde.extraction.sentences import number_sentences
from ragsonde_schemas.trace import Context, Extraction, Reference, Trace


def make_trace(contexts, *, query="What is asked?", answer="This is the answer.", reference=None):
    """A trace; `contexts` are texts, or None where unknown."""
    return Trace(
        trace_id="t-1",
        occurred_at=datetime(2025, 1, 1, tzinfo=UTC),
        query=query,
        answer=answer,
        reference=None if reference is None else Reference(answer=reference),
        contexts=None if contexts is None else tuple(map(make_context, range(len(contexts)), contexts)),
        content_hash="0" * 64,
        extraction=Extraction(format="test"),
    )


def make_context(rank, content):
    return Context(
        rank=rank,
        content=content,
        sentences=number_sentences(content, context_number=str(rank + 1)),
    )


def make_texts(count):
    return [f"Text number {number} says something." for number in range(1, count + 1)]
