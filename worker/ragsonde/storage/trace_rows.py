"""A trace as two rows, and back: sentences are not stored but numbered again when it is read."""

from __future__ import annotations

from datetime import UTC, datetime, time
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter

from ragsonde.extraction.sentences import number_sentences
from ragsonde.storage.jsonb import encode_json, encode_value
from ragsonde_schemas.trace import Context, Extraction, Trace

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ragsonde_schemas.trace import TraceKey

INSERT_TRACE = """
INSERT INTO trace (
    trace_id, app, record_key, revision, day, content_hash, admitted_at, occurred_at, occurred_at_guessed,
    claimed_occurred_at, event_id, environment, release, variant, session_id, user_id, model, latency_ms,
    cost_usd, sampling_probability, tags, usage, metadata, extra, wish, extraction, evaluations_born)
VALUES (
    %(trace_id)s, %(app)s, %(record_key)s, %(revision)s, %(day)s, %(content_hash)s, %(now)s, %(occurred_at)s,
    %(occurred_at_guessed)s, %(claimed_occurred_at)s, %(event_id)s, %(environment)s, %(release)s, %(variant)s,
    %(session_id)s, %(user_id)s, %(model)s, %(latency_ms)s, %(cost_usd)s, %(sampling_probability)s, %(tags)s,
    %(usage)s, %(metadata)s, %(extra)s, %(wish)s, %(extraction)s, %(evaluations_born)s)
"""

INSERT_TRACE_TEXT = """
INSERT INTO trace_text (
    trace_id, app, record_key, revision, day, query, retrieval_query, turns, contexts, answer, reference)
VALUES (
    %(trace_id)s, %(app)s, %(record_key)s, %(revision)s, %(day)s, %(query)s, %(retrieval_query)s, %(turns)s,
    %(contexts)s, %(answer)s, %(reference)s)
"""

SELECT_TRACE = """
SELECT t.*, x.query, x.retrieval_query, x.turns, x.contexts, x.answer, x.reference,
    x.turns IS NOT NULL AS has_texts
FROM trace t LEFT JOIN trace_text x USING (trace_id, app, record_key, revision, day)
WHERE t.trace_id = %(trace_id)s AND t.app = %(app)s AND t.record_key = %(record_key)s
  AND t.revision = %(revision)s AND t.day = %(day)s
"""
"""`has_texts` is false where they have been dropped already."""

_AS_IT_IS = (
    "app", "trace_id", "record_key", "event_id", "environment", "release", "variant", "session_id", "user_id",
    "occurred_at_guessed", "claimed_occurred_at", "query", "retrieval_query", "turns", "answer", "reference",
    "model", "usage", "latency_ms", "cost_usd", "tags", "metadata", "extra", "wish", "sampling_probability",
    "content_hash", "extraction",
)  # fmt: skip
_CONTEXTS: TypeAdapter[tuple[Context, ...]] = TypeAdapter(tuple[Context, ...])


def list_trace_columns(trace: Trace) -> dict[str, Any]:
    """The bound parameters of both inserts, all but revision, day, now and evaluations_born."""
    return {
        "trace_id": trace.trace_id,
        "app": trace.app,
        "record_key": trace.record_key,
        "content_hash": trace.content_hash,
        "occurred_at": trace.occurred_at,
        "occurred_at_guessed": trace.occurred_at_guessed,
        "claimed_occurred_at": trace.claimed_occurred_at,
        "event_id": trace.event_id,
        "environment": trace.environment,
        "release": trace.release,
        "variant": trace.variant,
        "session_id": trace.session_id,
        "user_id": trace.user_id,
        "model": trace.model,
        "latency_ms": trace.latency_ms,
        "cost_usd": trace.cost_usd,
        "sampling_probability": trace.sampling_probability,
        "tags": list(trace.tags),
        "usage": encode_json(trace.usage),
        "metadata": encode_json(trace.metadata),
        "extra": encode_json(trace.extra),
        "wish": encode_value(trace.wish),
        "extraction": encode_value(trace.extraction),
        "query": trace.query,
        "retrieval_query": trace.retrieval_query,
        "turns": encode_json(trace.turns),
        "contexts": None if trace.contexts is None else encode_contexts(trace.contexts),
        "answer": trace.answer,
        "reference": None if trace.reference is None else encode_value(trace.reference),
    }


def list_key_columns(key: TraceKey, *, revision: int) -> dict[str, Any]:
    """The bound parameters that name one revision."""
    return {
        "trace_id": key.trace_id,
        "app": key.app,
        "record_key": key.record_key,
        "day": key.day,
        "revision": revision,
    }


def encode_contexts(contexts: tuple[Context, ...]) -> str:
    """Contexts as JSON text, without sentences and without fields that hold their defaults."""
    return _CONTEXTS.dump_json(contexts, exclude={"__all__": {"sentences"}}, exclude_defaults=True).decode()


def rebuild_trace(row: Mapping[str, Any]) -> Trace:
    """The trace as it was admitted, from a row of `SELECT_TRACE`."""
    contexts = row["contexts"]
    return Trace(
        **{name: row[name] for name in _AS_IT_IS},
        occurred_at=to_utc(row["occurred_at"]),
        contexts=None if contexts is None else tuple(rebuild_context(context) for context in contexts),
    )


def rebuild_remains(key: TraceKey, row: Mapping[str, Any] | None) -> Trace:
    """What is still known of a trace whose texts have been dropped: its columns, or no more than its key."""
    if row is not None:
        return rebuild_trace({**row, "turns": ()})
    return Trace(
        app=key.app,
        trace_id=key.trace_id,
        record_key=key.record_key,
        occurred_at=datetime.combine(key.day, time.min, tzinfo=UTC),
        content_hash="",
        extraction=Extraction(format=""),
    )


def to_utc(moment: datetime) -> datetime:
    """The same moment in UTC, whatever zone the connection speaks."""
    return moment.astimezone(UTC)


def rebuild_context(stored: Mapping[str, Any]) -> Context:
    """A context from its JSON, its sentences numbered again."""
    context = Context.model_validate(stored)
    return context.model_copy(
        update={"sentences": number_sentences(context.content, context_number=context.number)}
    )
