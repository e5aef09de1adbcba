"""What a trace looks like to a person or a script: the object that `ragsonde extract` prints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ragsonde_schemas.trace import Context, Trace


def describe_trace(trace: Trace) -> dict[str, Any]:
    """A trace as one JSON object: what is judged, and which rule found each field. Unknown is null."""
    return {
        "trace_id": trace.trace_id,
        "record_key": trace.record_key,
        "query": trace.query,
        "retrieval_query": trace.retrieval_query,
        "turns": [turn.model_dump() for turn in trace.turns],
        "answer": trace.answer,
        "reference": trace.reference.answer if trace.reference else None,
        "app": trace.app or None,
        "environment": trace.environment or None,
        "release": trace.release or None,
        "variant": trace.variant or None,
        "session_id": trace.session_id,
        "user_id": trace.user_id,
        "model": trace.model,
        "usage": trace.usage,
        "latency_ms": trace.latency_ms,
        "cost_usd": trace.cost_usd,
        "occurred_at": trace.occurred_at.isoformat(),
        "tags": list(trace.tags),
        "metadata": trace.metadata,
        "contexts": None if trace.contexts is None else [_describe_context(item) for item in trace.contexts],
        "extraction": trace.extraction.model_dump(mode="json"),
    }


def _describe_context(context: Context) -> dict[str, Any]:
    return {
        "number": context.number,
        "rank": context.rank,
        "id": context.id,
        "score": context.score,
        "content": context.content,
        "source_uri": context.source_uri,
        "metadata": context.metadata,
        "origin": context.origin.value,
        "retrieval_step": context.retrieval_step,
        "sentences": [{"number": item.number, "text": item.text} for item in context.sentences],
    }
