"""Which model answers under a judge's fingerprint, and the epoch that each has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from psycopg.rows import dict_row
from sqlalchemy import select

from ragsonde.storage.engine import pipelined_transaction, translating_losses
from ragsonde.storage.tables import JudgeStateRow

if TYPE_CHECKING:
    from datetime import datetime

    from sqlalchemy import Engine

_COUNT = """
SELECT judge, fingerprint, answered_model, count(*) AS answers FROM (
    SELECT judge, coalesce(answered_fingerprint, fingerprint) AS fingerprint, answered_model FROM assessment
    WHERE created_at >= %(since)s AND answered_model IS NOT NULL AND NOT is_cached
    UNION ALL
    SELECT judge, coalesce(answered_fingerprint, fingerprint), answered_model FROM check_result
    WHERE judged_at >= %(since)s AND answered_model IS NOT NULL
) answer
GROUP BY judge, fingerprint, answered_model
"""
"""A cached assessment repeats what was answered earlier."""

_NAME = """
INSERT INTO judge_epoch (judge, fingerprint, answered_model, epoch, first_since)
SELECT %(judge)s, %(fingerprint)s, %(model)s,
    1 + coalesce((SELECT max(epoch) FROM judge_epoch
                  WHERE judge = %(judge)s AND fingerprint = %(fingerprint)s), 0), %(now)s
ON CONFLICT DO NOTHING
"""
_TURN = """
INSERT INTO judge_state (judge, fingerprint, epoch, epoch_since, answered_model)
SELECT judge, fingerprint, epoch, %(now)s, answered_model FROM judge_epoch
WHERE judge = %(judge)s AND fingerprint = %(fingerprint)s AND answered_model = %(model)s
ON CONFLICT (judge, fingerprint) DO UPDATE
SET epoch = excluded.epoch, epoch_since = excluded.epoch_since, answered_model = excluded.answered_model
RETURNING epoch
"""


class ModelAnswers(NamedTuple):
    """How often a model has answered under a fingerprint."""

    judge: str
    fingerprint: str
    answered_model: str
    answers: int


class Epoch(NamedTuple):
    """The epoch that a judge's fingerprint is in; None before a model has answered."""

    number: int
    answered_model: str | None
    since: datetime | None


def count_answers(engine: Engine, *, since: datetime) -> tuple[ModelAnswers, ...]:
    """How often each model answered since then, check set included, cached verdicts not.

    Raises:
        DatabaseLostError: Postgres is away.
    """
    with pipelined_transaction(engine) as connection:
        rows = connection.cursor(row_factory=dict_row).execute(_COUNT, {"since": since}).fetchall()
    return tuple(ModelAnswers(**row) for row in rows)


def read_epochs(engine: Engine) -> dict[tuple[str, str], Epoch]:
    """The epochs by judge and fingerprint.

    Raises:
        DatabaseLostError: Postgres is away.
    """
    row = JudgeStateRow
    query = select(row.judge, row.fingerprint, row.epoch, row.answered_model, row.epoch_since)
    with translating_losses(), engine.connect() as connection:
        return {
            (judge, fingerprint): Epoch(epoch, model, since)
            for judge, fingerprint, epoch, model, since in connection.execute(query)
        }


def turn_epoch(engine: Engine, *, judge: str, fingerprint: str, model: str, now: datetime) -> int:
    """The number of the epoch that begins: the model's own where it has answered before, else the next.

    So a provider that goes to and fro between two models goes to and fro between two epochs.

    Raises:
        DatabaseLostError: Postgres is away.
    """
    columns: dict[str, Any] = {"judge": judge, "fingerprint": fingerprint, "model": model, "now": now}
    with pipelined_transaction(engine) as connection:
        connection.execute(_NAME, columns)
        row = connection.execute(_TURN, columns).fetchone()
    if row is None:
        raise RuntimeError(f"no epoch of judge {judge} was written for model {model}")
    return int(row[0])
