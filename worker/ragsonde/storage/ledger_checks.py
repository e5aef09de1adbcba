"""The SQL of each invariant: it selects the trace ids of the rows that break it.

Bounds: what was stored since `since` (found by BRIN), of days that no table's retention has reached
(`first_day`). Rows of one transaction carry one time, so what a run wrote itself is told from what `rescore`
put beside it: the run's scores were created when it finished.
"""

# ruff: noqa: S608 - made of constants of the code alone

from __future__ import annotations

from ragsonde.storage.table_names import EVALUATION_KEY, REVISION_KEY
from ragsonde_schemas.ledger import Invariant

_RECORD = ("trace_id", "app", "record_key", "day")


def _join(left: str, right: str, names: tuple[str, ...]) -> str:
    return " AND ".join(f"{left}.{name} = {right}.{name}" for name in names)


def _bound(table: str, column: str) -> str:
    return f"""{table}.{column} >= :since AND {table}.day >= :first_day
  AND (CAST(:app AS text) IS NULL OR {table}.app = :app)"""


_OF_EVALUATION = f"{_join('s', 'e', EVALUATION_KEY)} AND s.created_at >= :scores_since"
_OF_RUN = f"{_OF_EVALUATION} AND s.created_at = e.finished_at"
_EVALUATIONS = f"SELECT e.trace_id FROM evaluation e WHERE {_bound('e', 'created_at')}"

CHECKS: dict[Invariant, str] = {
    Invariant.REVISIONS_ARE_WHOLE: f"""
SELECT t.trace_id FROM trace t
LEFT JOIN evaluation e
  ON {_join("e", "t", REVISION_KEY)} AND e.created_at >= :since AND NOT e.is_added
WHERE {_bound("t", "admitted_at")} AND t.evaluations_born IS NOT NULL
GROUP BY {", ".join(f"t.{name}" for name in REVISION_KEY)}, t.evaluations_born
HAVING count(e.judge) <> t.evaluations_born
""",
    Invariant.SCORED_HAS_SCORE: f"""
{_EVALUATIONS} AND e.state = 'scored'
  AND NOT EXISTS (SELECT FROM score s WHERE {_OF_EVALUATION} AND s.status = 'scored')
""",
    # verdicts may be kept for fewer days
    Invariant.SCORED_HAS_VERDICTS: f"""
{_EVALUATIONS} AND e.state = 'scored' AND e.calls > 0 AND e.day >= :first_verdict_day
  AND NOT EXISTS (SELECT FROM assessment a WHERE {_join("a", "e", EVALUATION_KEY)})
""",
    # by scorer, as `rescore` may have put other versions beside
    Invariant.SCORES_ARE_WHOLE: f"""
SELECT e.trace_id FROM evaluation e
LEFT JOIN score s ON {_OF_EVALUATION}
WHERE {_bound("e", "created_at")} AND e.state IN ('scored', 'not_evaluable', 'failed')
GROUP BY {", ".join(f"e.{name}" for name in EVALUATION_KEY)}, e.scores_born
HAVING count(DISTINCT s.scorer) < e.scores_born
""",
    # NaN is greater than every number
    Invariant.SCORES_ARE_IN_RANGE: f"""
SELECT s.trace_id FROM score s WHERE {_bound("s", "created_at")} AND NOT (s.raw >= 0 AND s.raw <= 1)
""",
    Invariant.NOT_EVALUABLE_IS_SKIPPED: f"""
{_EVALUATIONS} AND e.state = 'not_evaluable'
  AND EXISTS (SELECT FROM score s WHERE {_OF_RUN} AND s.status <> 'skipped')
""",
    # two queries, each of which can be a join; with OR it would be neither
    Invariant.FAILED_HAS_ERROR: f"""
{_EVALUATIONS} AND e.state = 'failed'
  AND NOT EXISTS (SELECT FROM score s WHERE {_OF_RUN} AND s.status = 'error')
UNION ALL
{_EVALUATIONS} AND e.state = 'failed'
  AND EXISTS (SELECT FROM score s WHERE {_OF_RUN} AND s.status = 'error')
  AND EXISTS (SELECT FROM score s WHERE {_OF_RUN} AND s.status = 'scored')
""",
    # what a backfill runs once more keeps its rows until it has new ones
    Invariant.UNJUDGED_HAS_NO_SCORES: f"""
{_EVALUATIONS} AND e.state IN ('waiting', 'running', 'sampled_out', 'filtered', 'shed')
  AND EXISTS (SELECT FROM score s WHERE {_OF_EVALUATION})
  AND NOT EXISTS (SELECT FROM backfill_item i
    WHERE {_join("i", "e", EVALUATION_KEY)} AND i.was IN ('failed', 'scored', 'not_evaluable'))
""",
    Invariant.ONE_REVISION_COUNTS: f"""
{_EVALUATIONS} AND e.revision > 1 AND e.state <> 'superseded'
  AND EXISTS (SELECT FROM evaluation o
    WHERE {_join("o", "e", _RECORD)} AND o.revision < e.revision AND o.state <> 'superseded')
""",
    # withdrawn: all of its newest revision at once
    Invariant.SUPERSEDED_HAS_REASON: f"""
{_EVALUATIONS} AND e.state = 'superseded'
  AND NOT EXISTS (SELECT FROM trace t WHERE {_join("t", "e", _RECORD)} AND t.revision > e.revision)
  AND EXISTS (SELECT FROM evaluation o WHERE {_join("o", "e", REVISION_KEY)} AND o.state <> 'superseded')
""",
    # whenever it was born: nothing would ever take it up
    Invariant.UNENDED_COMES_DUE: """
SELECT e.trace_id FROM evaluation e
WHERE e.state = 'waiting' AND e.next_attempt_at IS NULL AND (CAST(:app AS text) IS NULL OR e.app = :app)
UNION ALL
SELECT e.trace_id FROM evaluation e
WHERE e.state = 'running' AND e.lease_until IS NULL AND (CAST(:app AS text) IS NULL OR e.app = :app)
""",
    # the sweeper takes abandoned runs first, the longest abandoned before others: it swept what came later
    Invariant.RUNS_ARE_TAKEN_OVER: """
SELECT e.trace_id FROM evaluation e
WHERE e.state = 'running' AND e.lease_until < :long_ago
  AND (e.queued_until IS NULL OR e.queued_until < :long_ago)
  AND (CAST(:app AS text) IS NULL OR e.app = :app)
  AND EXISTS (SELECT FROM evaluation o
    WHERE o.queued_until > :now AND o.created_at < :long_ago AND o.reopened_at IS NULL
      AND (o.state = 'waiting' OR o.state = 'running' AND o.lease_until > e.lease_until))
""",
    Invariant.RESERVATIONS_ARE_OF_RUNS: """
SELECT e.trace_id FROM evaluation e
WHERE e.reserved_at IS NOT NULL AND e.state <> 'running'
  AND NOT (e.state = 'superseded' AND e.unfinished_starts > 0)
  AND (CAST(:app AS text) IS NULL OR e.app = :app)
""",
    Invariant.SCORES_HAVE_EVALUATION: f"""
SELECT s.trace_id FROM score s WHERE {_bound("s", "created_at")}
  AND NOT EXISTS (SELECT FROM evaluation e WHERE {_join("e", "s", EVALUATION_KEY)})
""",
    Invariant.EVALUATIONS_HAVE_TRACE: f"""
{_EVALUATIONS} AND NOT EXISTS (SELECT FROM trace t WHERE {_join("t", "e", REVISION_KEY)})
""",
}
