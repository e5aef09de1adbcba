"""Traces chosen for people to look at: those with the lowest scores, and others at random."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from psycopg.rows import dict_row

from ragsonde.storage.engine import pipelined_transaction
from ragsonde.storage.trace_rows import rebuild_trace

if TYPE_CHECKING:
    from datetime import date

    from sqlalchemy import Engine

    from ragsonde_schemas.trace import Trace

_COLUMNS = """
t.*, x.query, x.retrieval_query, x.turns, x.contexts, x.answer, x.reference
FROM trace t JOIN trace_text x USING (trace_id, app, record_key, revision, day)
"""

_WORST = f"""
SELECT {_COLUMNS}
JOIN (
    SELECT trace_id, app, record_key, revision, day, raw FROM current_score
    WHERE app = %(app)s AND scorer = %(scorer)s AND judge = %(judge)s AND day >= %(since)s
      AND status = 'scored'
) s USING (trace_id, app, record_key, revision, day)
ORDER BY s.raw, md5(t.trace_id), t.record_key
LIMIT %(limit)s
"""  # noqa: S608  # constants

_RANDOM = f"""
SELECT {_COLUMNS}
WHERE t.app = %(app)s AND t.day >= %(since)s AND jsonb_array_length(coalesce(x.contexts, '[]')) > 0
  AND NOT EXISTS (
    SELECT FROM trace n
    WHERE n.trace_id = t.trace_id AND n.app = t.app AND n.record_key = t.record_key AND n.day = t.day
      AND n.revision > t.revision)
ORDER BY md5(t.trace_id), t.record_key
LIMIT %(limit)s
"""  # noqa: S608  # constants
"""By hash, so that the same traces come again."""


def read_worst(engine: Engine, *, app: str, since: date, scorer: str, judge: str, limit: int) -> list[Trace]:
    """The app's traces with the lowest raw scores that count, as far as their texts are there.

    Raises:
        DatabaseLostError: Postgres is away.
    """
    columns = {"app": app, "since": since, "scorer": scorer, "judge": judge, "limit": limit}
    return _read(engine, _WORST, columns) if limit else []


def read_random(engine: Engine, *, app: str, since: date, limit: int) -> list[Trace]:
    """The app's traces with contexts that come first by a hash of their ids; newest revisions only.

    Raises:
        DatabaseLostError: Postgres is away.
    """
    return _read(engine, _RANDOM, {"app": app, "since": since, "limit": limit})


def _read(engine: Engine, query: str, columns: dict[str, Any]) -> list[Trace]:
    with pipelined_transaction(engine) as connection:
        rows = connection.cursor(row_factory=dict_row).execute(query, columns).fetchall()
    return [rebuild_trace(row) for row in rows]
