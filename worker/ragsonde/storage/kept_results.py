"""What a backfill runs once more keeps its rows until the new end, and which of them that end replaces."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ragsonde.storage.jsonb import encode_value
from ragsonde.storage.result_rows import rebuild_assessment
from ragsonde.storage.table_names import EVALUATION_KEY
from ragsonde_schemas.evaluation import REDONE, EvaluationState, KeptResult

if TYPE_CHECKING:
    from collections.abc import Mapping

    from psycopg import Connection
    from psycopg.rows import TupleRow

    from ragsonde_schemas.evaluation import EvaluationResult

_THIS_ONE = " AND ".join(f"{name} = %({name})s" for name in EVALUATION_KEY)

_FIND = f"""
SELECT i.was, b.scorer, a.verdicts FROM backfill_item i
LEFT JOIN assessment a USING (trace_id, app, record_key, revision, day, judge, fingerprint)
JOIN backfill b ON b.id = i.backfill_id
WHERE {" AND ".join(f"i.{name} = %({name})s" for name in EVALUATION_KEY)} AND i.was = ANY(%(redone)s)
"""  # noqa: S608  # constants

_DELETE_SCORES = f"DELETE FROM score WHERE {_THIS_ONE}"  # noqa: S608  # constants
_DELETE_ASSESSMENT = f"DELETE FROM assessment WHERE {_THIS_ONE}"  # noqa: S608  # constants
_DELETE_ERRORS = f"""
DELETE FROM score WHERE {_THIS_ONE} AND scorer = %(scorer)s AND status = 'error'
"""  # noqa: S608  # constants
_REPLACE_VERDICTS = f"""
UPDATE assessment SET verdicts = %(verdicts)s::jsonb WHERE {_THIS_ONE}
"""  # noqa: S608  # constants


def find_kept(connection: Connection[TupleRow], columns: Mapping[str, Any]) -> KeptResult | None:
    """What the evaluation had ended with; None where no backfill runs it once more.

    Args:
        connection: in a transaction.
        columns: those that name the evaluation.
    """
    redone = sorted(state.value for state in REDONE)
    row = connection.execute(_FIND, {**columns, "redone": redone}).fetchone()
    if row is None:
        return None
    was, scorer, verdicts = row
    return KeptResult(
        was=EvaluationState(was),
        scorer=scorer,
        assessment=None if verdicts is None else rebuild_assessment({"verdicts": verdicts}, ()),
    )


def make_room(
    connection: Connection[TupleRow],
    columns: Mapping[str, Any],
    *,
    kept: KeptResult | None,
    result: EvaluationResult,
) -> None:
    """Deletes the rows that a result takes the place of, and adds its verdicts to those that stay.

    The stream of the verdicts that stay (model, epoch) stays that of their time.

    Args:
        connection: in the transaction that writes the result next.
        columns: those that name the evaluation.
        kept: what it had ended with; None: there is nothing to make room for.
        result: with all verdicts from now on.
    """
    if kept is None:
        return
    if kept.scorer is None:
        connection.execute(_DELETE_SCORES, columns)
        connection.execute(_DELETE_ASSESSMENT, columns)
        return
    connection.execute(_DELETE_ERRORS, {**columns, "scorer": kept.scorer})
    if kept.assessment is not None and result.assessment is not None:
        stream = {name: getattr(kept.assessment, name) for name in ("answered_model", "judge_epoch")}
        united = result.assessment.model_copy(update=stream)
        verdicts = encode_value(united, exclude={"calls"})
        connection.execute(_REPLACE_VERDICTS, {**columns, "verdicts": verdicts})
