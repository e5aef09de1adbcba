"""Copies stored traces in Postgres: what is stored of one is stored again, under other names and times.

Nothing of a copy's rows goes over the wire but what is its own, so many alike cost little.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ragsonde.storage.table_names import TRACE_TABLES
from ragsonde.storage.tables import Tables

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from psycopg import Connection
    from psycopg.rows import TupleRow

    from ragsonde_schemas.trace import Trace

OWN = frozenset({"trace_id", "occurred_at", "release", "latency_ms"})
"""Fields in which a copy may differ from its original."""

_TYPES = {
    "original_id": "text",
    "original_day": "date",
    "trace_id": "text",
    "day": "date",
    "occurred_at": "timestamptz",
    "release": "text",
    "latency_ms": "float8",
    "stored_at": "timestamptz",
}
_FROM_COPY = {name: name for name in (*OWN, "day")} | dict.fromkeys(
    ("admitted_at", "created_at", "finished_at"), "stored_at"
)
"""By column, whatever its table: where its value comes from; all others are the original's."""


def _write(table: str) -> str:
    columns = [column.name for column in Tables.metadata.tables[table].columns]
    chosen = (f"c.{_FROM_COPY[name]}" if name in _FROM_COPY else f"o.{name}" for name in columns)
    given = ", ".join(f"%({name})s::{type_}[]" for name, type_ in _TYPES.items())
    return f"""
INSERT INTO {table} ({", ".join(columns)}) SELECT {", ".join(chosen)}
FROM unnest({given}) AS c({", ".join(_TYPES)})
JOIN {table} o ON o.trace_id = c.original_id AND o.day = c.original_day AND o.app = %(app)s
"""  # noqa: S608  # constants


_COPY = tuple(_write(table) for table in TRACE_TABLES)


class TraceCopy(NamedTuple):
    """A trace that is another but for the fields of `OWN`.

    Attributes:
        original: stored, with evaluations that have ended, in one revision; of the same app.
        stored_at: when the copy was admitted and scored.
    """

    original: Trace
    trace: Trace
    stored_at: datetime


def copy_traces(connection: Connection[TupleRow], copies: Sequence[TraceCopy]) -> None:
    """Sends the inserts of copies of one app, with all that is stored of their originals.

    Args:
        connection: in the transaction that stores them.
        copies: at least one; none is stored yet.
    """
    columns: dict[str, Any] = {
        "app": copies[0].trace.app,
        "original_id": [one.original.trace_id for one in copies],
        "original_day": [one.original.key.day for one in copies],
        "day": [one.trace.key.day for one in copies],
        "stored_at": [one.stored_at for one in copies],
        **{name: [getattr(one.trace, name) for one in copies] for name in OWN},
    }
    for statement in _COPY:
        connection.execute(statement, columns)
