"""Spans as rows, and which of two versions of a span is the fuller one."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any, NamedTuple

from pydantic_core import PydanticSerializationError, from_json, to_json

from ragsonde.extraction.texts import mend_value
from ragsonde_schemas.span import Span, SpanEvent

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from psycopg import Connection, Cursor
    from psycopg.rows import TupleRow

_INT64 = 1 << 63

_SELECT_RANKS = """
SELECT s.trace_id, s.span_id, s.end_ns, s.attribute_count, s.digest, length(s.payload)
FROM unnest(%(trace_ids)s::text[], %(span_ids)s::text[]) AS given(trace_id, span_id)
JOIN span_buffer s USING (trace_id, span_id)
"""

_UPSERT = """
INSERT INTO span_buffer (trace_id, span_id, end_ns, attribute_count, digest, payload)
SELECT * FROM unnest(
    %(trace_ids)s::text[], %(span_ids)s::text[], %(ends_ns)s::bigint[], %(attribute_counts)s::int[],
    %(digests)b::bytea[], %(payloads)b::bytea[])
ON CONFLICT (trace_id, span_id) DO UPDATE
SET end_ns = excluded.end_ns, attribute_count = excluded.attribute_count, digest = excluded.digest,
    payload = excluded.payload
"""

_SELECT_PAYLOADS = """
SELECT payload FROM span_buffer
WHERE trace_id = %(trace_id)s
  AND EXISTS (SELECT FROM open_record r WHERE r.trace_id = %(trace_id)s AND r.lease_until = %(lease_until)s)
"""
"""Nothing where the claim just made in this transaction was not granted."""


class Rank(NamedTuple):
    """Orders the versions of a span: the greatest is the fullest one, and equal ones are the same."""

    end_ns: int
    attribute_count: int
    digest: bytes


class WrittenSpan(NamedTuple):
    """A span as it is stored."""

    span: Span
    rank: Rank
    payload: bytes


class KnownSpan(NamedTuple):
    """What is told of a stored span, without it."""

    rank: Rank
    byte_count: int


def write_span(span: Span) -> WrittenSpan:
    """The span as JSON, keys in the order they came, with what orders it among its versions."""
    payload = _write(span)
    rank = Rank(
        max(-_INT64, min(span.end_ns, _INT64 - 1)),
        len(span.attributes),
        hashlib.blake2b(payload, digest_size=16).digest(),
    )
    return WrittenSpan(span, rank, payload)


def read_span(payload: bytes) -> Span:
    """The span that was written."""
    fields: list[Any] = from_json(payload)
    span = Span(*fields)
    return span._replace(events=tuple(SpanEvent(*event) for event in span.events))


def select_ranks(connection: Connection[TupleRow], spans: Iterable[Span]) -> Cursor[TupleRow]:
    """Asks for those of the spans that are stored; `read_ranks` takes the answer."""
    ids = [(span.trace_id, span.span_id) for span in spans]
    return connection.execute(
        _SELECT_RANKS,
        {"trace_ids": [trace_id for trace_id, _ in ids], "span_ids": [span_id for _, span_id in ids]},
    )


def read_ranks(cursor: Cursor[TupleRow]) -> dict[tuple[str, str], KnownSpan]:
    """The stored spans by trace id and span id."""
    return {
        (trace_id, span_id): KnownSpan(Rank(end_ns, attribute_count, bytes(digest)), byte_count)
        for trace_id, span_id, end_ns, attribute_count, digest, byte_count in cursor.fetchall()
    }


def upsert_spans(connection: Connection[TupleRow], spans: Sequence[WrittenSpan]) -> None:
    """Stores spans in place of what is there of them; the caller holds the locks of their traces."""
    connection.execute(
        _UPSERT,
        {
            "trace_ids": [one.span.trace_id for one in spans],
            "span_ids": [one.span.span_id for one in spans],
            "ends_ns": [one.rank.end_ns for one in spans],
            "attribute_counts": [one.rank.attribute_count for one in spans],
            "digests": [one.rank.digest for one in spans],
            "payloads": [one.payload for one in spans],
        },
    )


def select_payloads(connection: Connection[TupleRow], columns: dict[str, Any]) -> Cursor[TupleRow]:
    """Asks for the spans of the trace that was just claimed; `read_payloads` takes what it fetches."""
    return connection.execute(_SELECT_PAYLOADS, columns, binary=True)


def read_payloads(payloads: Iterable[bytes]) -> tuple[Span, ...]:
    """The spans by start, then end, then id."""
    spans = (read_span(payload) for payload in payloads)
    return tuple(sorted(spans, key=lambda span: (span.start_ns, span.end_ns, span.span_id)))


def _write(span: Span) -> bytes:
    try:
        return to_json(span, inf_nan_mode="constants")
    except PydanticSerializationError:  # a lone surrogate that a decoder let through
        return to_json(mend_value(_as_lists(span))[0], inf_nan_mode="constants")


def _as_lists(span: Span) -> list[Any]:
    fields = span._asdict()
    return list({**fields, "events": [list(event) for event in span.events]}.values())
