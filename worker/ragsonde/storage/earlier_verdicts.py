"""Verdicts that were given already for the same content: an index on what is stored, no table of its own.

They are looked for in the transaction that claims an evaluation, with the statements it sends anyway.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ragsonde.storage.result_rows import rebuild_assessment

if TYPE_CHECKING:
    from collections.abc import Mapping

    from psycopg import Connection, Cursor
    from psycopg.rows import TupleRow

    from ragsonde_schemas.assessment import Assessment

_FIND = """
SELECT verdicts FROM assessment
WHERE fingerprint = %(fingerprint)s AND content_hash = (
    SELECT t.content_hash FROM trace t
    WHERE t.trace_id = %(trace_id)s AND t.app = %(app)s AND t.record_key = %(record_key)s
      AND t.revision = %(revision)s AND t.day = %(day)s)
  AND answered_fingerprint IS NULL AND NOT is_truncated
  AND (verdicts -> 'faults' IS NULL OR verdicts -> 'faults' = '{}'::jsonb)
ORDER BY created_at DESC LIMIT 1
"""
"""Of content that was cut they are of no use where the judge's budget of tokens was raised since."""


def send_search(connection: Connection[TupleRow], columns: Mapping[str, Any]) -> Cursor[TupleRow]:
    """Asks for the newest assessment of a stored revision's content by one judge, whole and without faults.

    Args:
        connection: in a transaction.
        columns: those that name the evaluation.
    """
    return connection.execute(_FIND, columns)


def read_found(search: Cursor[TupleRow]) -> Assessment | None:
    """What a search has found; None where there is none."""
    row = search.fetchone()
    return None if row is None else rebuild_assessment({"verdicts": row[0]}, ())
