"""From what was found to what is judged: contexts ranked and numbered, their sentences numbered."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragsonde.extraction.paths import format_path
from ragsonde.extraction.sentences import number_sentences
from ragsonde_schemas.errors import DecodeError, ParkReason
from ragsonde_schemas.trace import Context

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragsonde.extraction.findings import FoundContext


SENTENCES_AT_MOST = 50_000
"""In one trace: what a whole message of one-word lines holds is no text that anybody retrieved."""


def number_contexts(found: Sequence[FoundContext]) -> tuple[Context, ...]:
    """The contexts in retrieval order: rank from 0, number from "1", sentences "1.1", "1.2", ...

    A context of which only the id is known is blank: it keeps its rank and has no sentences.

    Raises:
        DecodeError: OVER_LIMIT where they hold more than 50,000 sentences.
    """
    contexts: list[Context] = []
    count = 0
    for rank, context in enumerate(found):
        content = context.content or ""
        sentences = number_sentences(content, context_number=str(rank + 1))
        count += len(sentences)
        if count > SENTENCES_AT_MOST:
            raise DecodeError(
                ParkReason.OVER_LIMIT,
                f"found {count} sentences so far, expected at most {SENTENCES_AT_MOST} in all contexts",
                where=format_path("contexts", rank, "content"),
            )
        contexts.append(
            Context(
                rank=rank,
                content=content,
                id=context.id,
                score=context.score,
                source_uri=context.source_uri,
                metadata=context.metadata or {},
                origin=context.origin,
                retrieval_step=context.retrieval_step,
                sentences=sentences,
            )
        )
    return tuple(contexts)
