"""Gathered traces as rows: locked and changed by who brings spans, claimed and settled by who closes.

All times are the injected clock's, as in `runs`. A clock that is put back by some time delays what it had set
by as much at most, and loses nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter

from ragsonde.storage.tombstones import HOLD_OFF, name_trace_column
from ragsonde.storage.trace_rows import to_utc
from ragsonde_schemas.open_record import AdmittedRecord, ClosingReason

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from psycopg import Connection, Cursor
    from psycopg.rows import TupleRow

_ADMITTED: TypeAdapter[tuple[AdmittedRecord, ...]] = TypeAdapter(tuple[AdmittedRecord, ...])

_COLUMNS = (
    "trace_id, format, app, first_received_at, last_received_at, opened_at, has_root, has_end_marker, is_cut,"
    " span_count, byte_count, version, claimed_version, closed_version, next_close_at, reason, lease_until,"
    " queued_until"
)

_IS_FORGOTTEN, _FORGOTTEN_COLUMNS = name_trace_column("given.trace_id")

_LOCK = f"""
INSERT INTO open_record ({_COLUMNS}, claims, unfinished_claims, admitted)
SELECT trace_id, %(format)s, '', %(now)s, %(now)s, %(now)s, false, false, false, 0, 0, 0, 0, 0, NULL, 'quiet',
    NULL, NULL, 0, 0, '[]'
FROM unnest(%(trace_ids)s::text[]) AS given(trace_id)
WHERE NOT {_IS_FORGOTTEN}
ORDER BY trace_id
ON CONFLICT (trace_id) DO UPDATE SET trace_id = excluded.trace_id
RETURNING {_COLUMNS}
"""  # noqa: S608  # constants of this file
"""The update changes nothing: it takes the lock, in the order of the ids, so that no two callers deadlock."""

_UPDATE = """
UPDATE open_record r
SET app = given.app, last_received_at = given.last_received_at, opened_at = given.opened_at,
    has_root = given.has_root, has_end_marker = given.has_end_marker, is_cut = given.is_cut,
    span_count = given.span_count, byte_count = given.byte_count, version = given.version,
    next_close_at = given.next_close_at, reason = given.reason, queued_until = given.queued_until
FROM unnest(
    %(trace_id)s::text[], %(app)s::text[], %(last_received_at)s::timestamptz[], %(opened_at)s::timestamptz[],
    %(has_root)s::bool[], %(has_end_marker)s::bool[], %(is_cut)s::bool[], %(span_count)s::int[],
    %(byte_count)s::bigint[], %(version)s::int[], %(next_close_at)s::timestamptz[], %(reason)s::text[],
    %(queued_until)s::timestamptz[]
) AS given(trace_id, app, last_received_at, opened_at, has_root, has_end_marker, is_cut, span_count,
    byte_count, version, next_close_at, reason, queued_until)
WHERE r.trace_id = given.trace_id
"""
_UPDATED = (
    "trace_id", "app", "last_received_at", "opened_at", "has_root", "has_end_marker", "is_cut", "span_count",
    "byte_count", "version", "next_close_at", "reason", "queued_until",
)  # fmt: skip

_IS_DUE = "next_close_at <= %(now)s AND (lease_until IS NULL OR lease_until <= %(now)s)"

_CLAIM = f"""
UPDATE open_record
SET claims = claims + 1, unfinished_claims = unfinished_claims + 1, lease_until = %(lease_until)s,
    claimed_version = version
WHERE trace_id = %(trace_id)s AND {_IS_DUE} AND (unfinished_claims = 0 OR NOT %(spares_suspects)s)
RETURNING format, version, claims, unfinished_claims, reason, closed_version > 0, admitted, first_received_at,
    has_root, is_cut
"""  # noqa: S608  # constants of this file

_IS_SUSPECT = f"""
SELECT FROM open_record WHERE trace_id = %(trace_id)s AND {_IS_DUE} AND unfinished_claims > 0
"""

_HAS_STORED = """
SELECT EXISTS (
    SELECT FROM trace WHERE trace_id = %(trace_id)s AND day BETWEEN %(first_day)s AND %(last_day)s
      AND admitted_at < %(admitted_before)s)
"""

_SETTLE = """
UPDATE open_record
SET closed_version = claimed_version, admitted = %(admitted)s, lease_until = NULL, unfinished_claims = 0,
    queued_until = NULL, next_close_at = CASE WHEN version > claimed_version THEN next_close_at END
WHERE trace_id = %(trace_id)s AND claims = %(claims)s AND lease_until IS NOT NULL
RETURNING trace_id
"""

_DELETE_CLOSED = """
WITH gone AS (
    DELETE FROM open_record WHERE trace_id IN (
        SELECT trace_id FROM open_record WHERE next_close_at IS NULL AND last_received_at < %(oldest)s
        ORDER BY last_received_at LIMIT %(limit)s FOR UPDATE SKIP LOCKED)
    RETURNING trace_id
), spans AS (
    DELETE FROM span_buffer USING gone WHERE span_buffer.trace_id = gone.trace_id
)
SELECT count(*) FROM gone
"""


@dataclass(frozen=True, slots=True)
class OpenRecord:
    """A gathered trace as its row has it; `span_tables` says what the columns mean."""

    trace_id: str
    format: str
    app: str
    first_received_at: datetime
    last_received_at: datetime
    opened_at: datetime
    has_root: bool
    has_end_marker: bool
    is_cut: bool
    span_count: int
    byte_count: int
    version: int
    claimed_version: int
    closed_version: int
    next_close_at: datetime | None
    reason: str
    lease_until: datetime | None
    queued_until: datetime | None

    def is_leased(self, now: datetime) -> bool:
        """True while a worker has it."""
        return self.lease_until is not None and self.lease_until > now

    def is_due(self, now: datetime) -> bool:
        """True when it can be claimed."""
        return self.next_close_at is not None and self.next_close_at <= now and not self.is_leased(now)

    def is_read(self, now: datetime) -> bool:
        """True when all its spans are in closed records, or in the hands of who is closing them now."""
        read = self.claimed_version if self.is_leased(now) else self.closed_version
        return self.version == read


@dataclass(frozen=True, slots=True)
class Claim:
    """What a granted claim tells of the trace."""

    format: str
    version: int
    claims: int
    unfinished_claims: int
    reason: ClosingReason
    closed_before: bool
    admitted: tuple[AdmittedRecord, ...]
    first_received_at: datetime
    has_root: bool
    is_cut: bool


def lock_records(
    connection: Connection[TupleRow], trace_ids: Sequence[str], *, format_name: str, now: datetime
) -> Cursor[TupleRow]:
    """Asks for the records of the ids, new where there was none; locked until the transaction ends.

    Of a trace that was erased there is none.
    """
    connection.execute(HOLD_OFF)
    columns = {"trace_ids": list(trace_ids), "format": format_name, "now": now, **_FORGOTTEN_COLUMNS}
    return connection.execute(_LOCK, columns)


def read_records(cursor: Cursor[TupleRow]) -> list[OpenRecord]:
    """The locked records."""
    return [OpenRecord(*row) for row in cursor.fetchall()]


def update_records(connection: Connection[TupleRow], records: Sequence[OpenRecord]) -> None:
    """Writes what may have changed of locked records."""
    connection.execute(_UPDATE, {name: [getattr(record, name) for record in records] for name in _UPDATED})


def claim_record(connection: Connection[TupleRow], columns: dict[str, Any]) -> Cursor[TupleRow]:
    """Claims a record that is due; `read_claim` tells whether that was granted."""
    return connection.execute(_CLAIM, columns)


def is_suspect(connection: Connection[TupleRow], columns: dict[str, Any]) -> bool:
    """True when a record is due, and an earlier claim of it never ended."""
    return connection.execute(_IS_SUSPECT, columns).fetchone() is not None


def read_claim(cursor: Cursor[TupleRow]) -> Claim | None:
    """The claim, None when the record is not due or in somebody's hands."""
    row = cursor.fetchone()
    if row is None:
        return None
    claim = Claim(*row)
    return replace(
        claim,
        reason=ClosingReason(claim.reason),
        admitted=_ADMITTED.validate_python(claim.admitted),
        first_received_at=to_utc(claim.first_received_at),
    )


def has_stored_trace(connection: Connection[TupleRow], columns: dict[str, Any]) -> bool:
    """True when a trace of this id was admitted before `admitted_before`, on one of the days."""
    row = connection.execute(_HAS_STORED, columns).fetchone()
    return row is not None and bool(row[0])


def settle_record(
    connection: Connection[TupleRow],
    *,
    trace_id: str,
    claims: int,
    admitted: Sequence[AdmittedRecord],
) -> bool:
    """True when the claim could close its record."""
    columns = {
        "trace_id": trace_id,
        "claims": claims,
        "admitted": _ADMITTED.dump_json(tuple(admitted)).decode(),
    }
    return connection.execute(_SETTLE, columns).fetchone() is not None


def delete_closed(connection: Connection[TupleRow], *, oldest: datetime, limit: int) -> int:
    """How many closed records that got no span since `oldest` were deleted, each with its spans."""
    row = connection.execute(_DELETE_CLOSED, {"oldest": oldest, "limit": limit}).fetchone()
    return 0 if row is None else int(row[0])
