"""What an evaluation ended with as rows: assessment, raw replies and scores; one statement a table.

Rows travel as one JSON text a statement: to bind an array for each column costs the driver twice as much.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ragsonde.storage.jsonb import clean_text, encode_json, encode_value
from ragsonde_schemas.assessment import Assessment
from ragsonde_schemas.errors import Cause
from ragsonde_schemas.judge_call import JudgeCall
from ragsonde_schemas.newer_words import read_word
from ragsonde_schemas.score import Score, Unscored

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from psycopg import Connection, Cursor
    from psycopg.rows import TupleRow

    from ragsonde_schemas.evaluation import EvaluationResult
    from ragsonde_schemas.score import Outcome

_INSERT_ASSESSMENTS = """
INSERT INTO assessment (
    trace_id, app, record_key, revision, day, judge, fingerprint, content_hash, created_at, answered_model,
    head, is_truncated, verdicts, is_cached, answered_fingerprint, judge_epoch)
SELECT %(trace_id)s, %(app)s, %(record_key)s, %(revision)s, %(day)s, judge, fingerprint, %(content_hash)s,
    %(now)s, answered_model, head, is_truncated, verdicts::jsonb, is_cached, answered_fingerprint, judge_epoch
FROM json_to_recordset(%(rows)s::json) AS r(
    judge text, fingerprint text, answered_model text, head text, is_truncated bool, verdicts text,
    is_cached bool, answered_fingerprint text, judge_epoch int)
ON CONFLICT DO NOTHING
"""

_INSERT_REPLIES = """
INSERT INTO judge_reply (
    trace_id, app, record_key, revision, day, judge, fingerprint, position, created_at, purpose, model,
    answered_model, outcome, tokens_in, tokens_out, cost_usd, seconds, reply)
SELECT %(trace_id)s, %(app)s, %(record_key)s, %(revision)s, %(day)s, %(judge)s, %(fingerprint)s, position,
    %(now)s, purpose, model, answered_model, outcome, tokens_in, tokens_out, cost_usd, seconds, reply
FROM json_to_recordset(%(rows)s::json) AS r(
    position smallint, purpose text, model text, answered_model text, outcome text, tokens_in int,
    tokens_out int, cost_usd float8, seconds float8, reply text)
ON CONFLICT DO NOTHING
"""

_INSERT_SCORES = """
INSERT INTO score (
    trace_id, app, record_key, revision, day, judge, fingerprint, scorer, version, created_at, status, raw,
    value, band, passed, cause, reason, details, answered_fingerprint, judge_epoch)
SELECT %(trace_id)s, %(app)s, %(record_key)s, %(revision)s, %(day)s, judge, fingerprint, scorer, version,
    %(now)s, status, raw, value, band, passed, cause, reason, details::jsonb, answered_fingerprint,
    judge_epoch
FROM json_to_recordset(%(rows)s::json) AS r(
    judge text, fingerprint text, scorer text, version text, status text, raw float8, value float8, band text,
    passed bool, cause text, reason text, details text, answered_fingerprint text, judge_epoch int)
ON CONFLICT DO NOTHING
RETURNING scorer
"""


ADD_SPENDING = """calls = coalesce(calls, 0) + %(calls)s,
    tokens_in = CASE WHEN calls IS NULL THEN 0 ELSE tokens_in END + %(tokens_in)s::int,
    tokens_out = CASE WHEN calls IS NULL THEN 0 ELSE tokens_out END + %(tokens_out)s::int,
    cost_usd = CASE WHEN calls IS NULL THEN 0 ELSE cost_usd END + %(cost_usd)s::float8"""
"""Of an UPDATE: what a run has spent beside what the row tells of earlier ones."""


class JudgedResult(NamedTuple):
    """A result and whose it is."""

    judge: str
    fingerprint: str
    result: EvaluationResult


_OWN_STREAM = Assessment()
"""Where a judge was not asked, what is said without it belongs to its own stream."""


class Spending(NamedTuple):
    """What an evaluation asked of providers; None = not known, which is not 0."""

    calls: int
    tokens_in: int | None
    tokens_out: int | None
    cost_usd: float | None


def sum_spending(calls: Sequence[JudgeCall]) -> Spending:
    """The number of calls, and the sums over those that were answered.

    A figure that one of these does not tell is not known for their sum.
    """
    answered = [call for call in calls if call.is_answered]
    return Spending(
        calls=len(calls),
        tokens_in=_sum_known([call.tokens_in for call in answered]),
        tokens_out=_sum_known([call.tokens_out for call in answered]),
        cost_usd=_sum_known([call.cost_usd for call in answered], start=0.0),
    )


def insert_results(
    connection: Connection[TupleRow], identity: Mapping[str, Any], results: Sequence[JudgedResult]
) -> None:
    """Sends the inserts of all results of one revision but their calls; rows that exist already stay.

    Args:
        connection: in a transaction.
        identity: the columns that name the revision, `content_hash` and `now`.
        results: of one or more judges.
    """
    assessments = [
        (judge, print_, result.assessment) for judge, print_, result in results if result.assessment
    ]
    if assessments:
        connection.execute(
            _INSERT_ASSESSMENTS, {**identity, "rows": encode_json(_list_assessment_rows(assessments))}
        )
    insert_scores(connection, identity, results)


def insert_scores(
    connection: Connection[TupleRow], identity: Mapping[str, Any], results: Sequence[JudgedResult]
) -> Cursor[TupleRow] | None:
    """Sends the insert of the scores of results; a row for each that is new, None where there are none.

    Args: as for `insert_results`.
    """
    outcomes = [(judged, outcome) for judged in results for outcome in judged.result.outcomes]
    if not outcomes:
        return None
    return connection.execute(_INSERT_SCORES, {**identity, "rows": encode_json(_list_score_rows(outcomes))})


def insert_calls(
    connection: Connection[TupleRow], identity: Mapping[str, Any], calls: Sequence[JudgeCall], *, total: int
) -> None:
    """Sends the insert of the calls of one run.

    Args:
        connection: in a transaction that has locked the evaluation's row.
        identity: the columns that name the evaluation, and `now`.
        calls: of this run, oldest first.
        total: calls of the evaluation so far, these included: positions go on over its runs.
    """
    if calls:
        connection.execute(
            _INSERT_REPLIES, {**identity, "rows": encode_json(_list_reply_rows(calls, total=total))}
        )


def rebuild_call(row: Mapping[str, Any]) -> JudgeCall:
    """A call from the row of its reply."""
    return JudgeCall(**{name: row[name] for name in JudgeCall.model_fields})


def rebuild_assessment(row: Mapping[str, Any], calls: tuple[JudgeCall, ...]) -> Assessment:
    """The assessment of an evaluation from its row and its calls (whose rows may have been dropped)."""
    return Assessment.model_validate({**row["verdicts"], "calls": calls})


def rebuild_outcome(row: Mapping[str, Any]) -> Outcome:
    """A scorer's outcome from its row."""
    kind = Score if row["status"] == "scored" else Unscored
    columns = {name: row[name] for name in kind.model_fields}
    if columns.get("cause") is not None:
        columns["cause"] = read_word(Cause, columns["cause"])
    return kind(**columns)


def _list_assessment_rows(assessments: list[tuple[str, str, Assessment]]) -> list[dict[str, Any]]:
    return [
        {
            "judge": judge,
            "fingerprint": print_,
            "answered_model": clean_text(value.answered_model),
            "head": value.head,
            "is_truncated": value.truncated,
            "is_cached": value.is_cached,
            "answered_fingerprint": value.answered_fingerprint,
            "judge_epoch": value.judge_epoch,
            "verdicts": encode_value(value, exclude={"calls"}),
        }
        for judge, print_, value in assessments
    ]


def _list_reply_rows(calls: Sequence[JudgeCall], *, total: int) -> list[dict[str, Any]]:
    return [
        {
            "position": position,
            "purpose": call.purpose,
            "model": call.model,
            "answered_model": clean_text(call.answered_model),
            "outcome": call.outcome,
            "tokens_in": call.tokens_in,
            "tokens_out": call.tokens_out,
            "cost_usd": call.cost_usd,
            "seconds": call.seconds,
            "reply": clean_text(call.reply),
        }
        for position, call in enumerate(calls, start=total - len(calls))
    ]


def _list_score_rows(outcomes: list[tuple[JudgedResult, Outcome]]) -> list[dict[str, Any]]:
    rows = []
    for judged, outcome in outcomes:
        stream = judged.result.assessment or _OWN_STREAM
        row: dict[str, Any] = {
            "judge": judged.judge,
            "fingerprint": judged.fingerprint,
            "answered_fingerprint": stream.answered_fingerprint,
            "judge_epoch": stream.judge_epoch,
            "scorer": outcome.scorer,
            "version": outcome.version,
            "status": outcome.status,
            "reason": clean_text(outcome.reason),
            "details": encode_json(outcome.details),
        }
        if isinstance(outcome, Score):
            row |= {
                "raw": outcome.raw,
                "value": outcome.value,
                "band": outcome.band,
                "passed": outcome.passed,
            }
        else:
            row["cause"] = outcome.cause.value
        rows.append(row)
    return rows


def _sum_known(values: list[Any], start: float = 0) -> Any:  # noqa: ANN401  # ints stay ints, floats floats
    return None if None in values else sum(values, start)
