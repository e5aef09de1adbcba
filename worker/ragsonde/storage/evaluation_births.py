"""The evaluations that a new revision is stored with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ragsonde.storage.result_rows import sum_spending
from ragsonde.storage.transitions import UNFINISHED, count_attempts
from ragsonde_schemas.evaluation import EvaluationState

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from psycopg import Connection
    from psycopg.rows import TupleRow

    from ragsonde_schemas.evaluation import EvaluationKey, PlannedEvaluation

_INSERT_EVALUATIONS = """
INSERT INTO evaluation (
    trace_id, app, record_key, revision, day, judge, fingerprint, state, cause, sample_rate, created_at,
    attempts, next_attempt_at, queued_until, starts, unfinished_starts, lease_until, finished_at, calls,
    tokens_in, tokens_out, cost_usd, scores_born, backfill_id)
SELECT %(trace_id)s, %(app)s, %(record_key)s, %(revision)s, %(day)s, judge, fingerprint, state, cause,
    sample_rate, %(now)s, attempts,
    CASE WHEN is_unfinished THEN %(now)s END,
    CASE WHEN is_unfinished AND backfill_id IS NULL THEN %(lease_until)s END,
    is_claimed::int, is_claimed::int, CASE WHEN is_claimed THEN %(lease_until)s END,
    CASE WHEN NOT is_unfinished THEN %(now)s END, calls, tokens_in, tokens_out, cost_usd, scores_born,
    backfill_id
FROM unnest(
    %(judges)s::text[], %(fingerprints)s::text[], %(states)s::text[], %(causes)s::text[],
    %(sample_rates)s::float8[], %(attempts)s::int[], %(calls)s::int[], %(tokens_in)s::int[],
    %(tokens_out)s::int[], %(costs_usd)s::float8[], %(scores_born)s::int[], %(backfill_ids)s::bigint[]
) AS r(judge, fingerprint, state, cause, sample_rate, attempts, calls, tokens_in, tokens_out, cost_usd,
    scores_born, backfill_id),
LATERAL (SELECT state = ANY(%(unfinished)s) AS is_unfinished, state = 'running' AS is_claimed) AS stands
"""
"""`queued_until` is as far as a lease: so long a new evaluation is left to the task that admitted it."""

_LEAVE_TO_BACKFILL = """
INSERT INTO backfill_item (trace_id, app, record_key, revision, day, judge, fingerprint, backfill_id)
SELECT trace_id, app, record_key, revision, day, judge, fingerprint, backfill_id FROM evaluation
WHERE trace_id = %(trace_id)s AND app = %(app)s AND record_key = %(record_key)s AND day = %(day)s
  AND revision = %(revision)s AND state = 'waiting' AND backfill_id IS NOT NULL
"""


def insert_evaluations(
    connection: Connection[TupleRow],
    columns: Mapping[str, Any],
    planned: Sequence[PlannedEvaluation],
    *,
    claimed: EvaluationKey | None,
) -> None:
    """Sends the inserts of all evaluations of a new revision; those of a backfill await their turn.

    Args:
        connection: in the transaction that stores the revision.
        columns: those that name the revision, `now` and `lease_until`.
        planned: one a judge.
        claimed: the one that is run at once.
    """
    if planned:
        rows = _list_evaluation_columns(planned, claimed=claimed)
        connection.execute(_INSERT_EVALUATIONS, {**columns, **rows})
    if any(one.backfill_id is not None for one in planned):
        connection.execute(_LEAVE_TO_BACKFILL, columns)


def _list_evaluation_columns(
    planned: Sequence[PlannedEvaluation], *, claimed: EvaluationKey | None
) -> dict[str, list[Any]]:
    """The new rows; the one of `claimed` runs already."""
    running = claimed and (claimed.judge, claimed.fingerprint)
    results = [evaluation.result for evaluation in planned]
    spending = [result and sum_spending(result.calls) for result in results]
    return {
        "judges": [evaluation.judge for evaluation in planned],
        "fingerprints": [evaluation.fingerprint for evaluation in planned],
        "states": [
            (EvaluationState.RUNNING if (one.judge, one.fingerprint) == running else one.state).value
            for one in planned
        ],
        "unfinished": sorted(UNFINISHED),
        "causes": [result and result.cause and result.cause.value for result in results],
        "sample_rates": [evaluation.sample_rate for evaluation in planned],
        "attempts": [count_attempts(result) for result in results],
        "calls": [spent and spent.calls for spent in spending],
        "tokens_in": [spent and spent.tokens_in for spent in spending],
        "tokens_out": [spent and spent.tokens_out for spent in spending],
        "costs_usd": [spent and spent.cost_usd for spent in spending],
        "scores_born": [result and len(result.outcomes) for result in results],
        "backfill_ids": [evaluation.backfill_id for evaluation in planned],
    }
