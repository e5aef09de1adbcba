"""Verdicts that were given already: an index on what is stored, no table of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from psycopg.rows import dict_row

from ragsonde.storage.engine import pipelined_transaction
from ragsonde.storage.result_rows import rebuild_assessment
from ragsonde.storage.retries import Retries

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from ragsonde_schemas.assessment import Assessment

_FIND = """
SELECT verdicts FROM assessment
WHERE fingerprint = %(fingerprint)s AND content_hash = %(content_hash)s AND answered_fingerprint IS NULL
  AND NOT is_truncated
  AND (verdicts -> 'faults' IS NULL OR verdicts -> 'faults' = '{}'::jsonb)
ORDER BY created_at DESC LIMIT 1
"""


class PostgresAssessmentCache:
    """The `ports.AssessmentCache` over the table `assessment`.

    Args:
        engine: of this process.
        retries: for what Postgres gives up on.
    """

    def __init__(self, engine: Engine, *, retries: Retries | None = None) -> None:
        self._engine = engine
        self._retries = retries or Retries()

    def find(self, fingerprint: str, content_hash: str) -> Assessment | None:
        """The newest assessment of the same content by the same judge, whole and without faults; else None.

        One of content that was cut is of no use where the judge's budget of tokens was raised since.

        Raises:
            DatabaseLostError: Postgres is away.
        """
        columns = {"fingerprint": fingerprint, "content_hash": content_hash}

        def attempt() -> Assessment | None:
            with pipelined_transaction(self._engine) as connection:
                row = connection.cursor(row_factory=dict_row).execute(_FIND, columns).fetchone()
            return None if row is None else rebuild_assessment(row, ())

        return self._retries.run(attempt)
