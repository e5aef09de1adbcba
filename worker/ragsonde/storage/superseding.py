"""Old revisions give way to a new one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ragsonde.storage.transitions import list_sources
from ragsonde_schemas.evaluation import EvaluationState

if TYPE_CHECKING:
    from psycopg import Connection
    from psycopg.rows import TupleRow

_SUPERSEDE = """
UPDATE evaluation
SET state = 'superseded', lease_until = CASE WHEN state = 'running' THEN lease_until END,
    next_attempt_at = NULL, queued_until = NULL,
    finished_at = CASE WHEN state = 'running' THEN NULL ELSE coalesce(finished_at, %(now)s) END
WHERE trace_id = %(trace_id)s AND app = %(app)s AND record_key = %(record_key)s AND day = %(day)s
  AND revision < %(revision)s AND state = ANY(%(sources)s)
RETURNING revision, judge, fingerprint
"""
"""A running one keeps its count of unfinished starts: by it the run still going on may end it later. It keeps
its lease: when that is over and nobody has ended it, what it holds of a budget is given back."""

_COUNT_SCORES = """
SELECT count(*) FROM score
JOIN unnest(%(revisions)s::smallint[], %(judges)s::text[], %(fingerprints)s::text[])
    AS old(revision, judge, fingerprint) USING (revision, judge, fingerprint)
WHERE trace_id = %(trace_id)s AND app = %(app)s AND record_key = %(record_key)s AND day = %(day)s
"""
"""A statement of its own: its snapshot has the scores of a run that ended while the other waited for it."""


def supersede_revisions(connection: Connection[TupleRow], columns: dict[str, Any]) -> int | None:
    """How many scores the revisions below `revision` had; None where no evaluation of them counted.

    The caller holds the record's lock.
    """
    parameters = {**columns, "sources": list_sources(EvaluationState.SUPERSEDED)}
    old = connection.execute(_SUPERSEDE, parameters).fetchall()
    if not old:
        return None
    revisions, judges, fingerprints = (list(column) for column in zip(*old, strict=True))
    of_old = {"revisions": revisions, "judges": judges, "fingerprints": fingerprints}
    row = connection.execute(_COUNT_SCORES, {**columns, **of_old}).fetchone()
    return 0 if row is None else int(row[0])
