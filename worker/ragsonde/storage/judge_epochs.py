"""Which model answers under a judge's fingerprint, and the epoch that each has."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

from psycopg.rows import dict_row
from sqlalchemy import select

from ragsonde.storage.engine import pipelined_transaction, translating_losses
from ragsonde.storage.tables import JudgeStateRow
from ragsonde.storage.trace_rows import to_utc

if TYPE_CHECKING:
    from sqlalchemy import Engine

SLOT = timedelta(minutes=10)
"""Answers are counted once, a slot at a time: a day of them is too much to be read again and again."""
SETTLED = timedelta(minutes=1)
"""After a slot's end; until then a transaction may still bring answers of it."""


def _write_count(since: str, until: str) -> str:
    """A query for the answers between two parameters; a cached assessment repeats an earlier one."""
    return f"""
SELECT judge, fingerprint, answered_model, count(*) AS answers FROM (
    SELECT judge, coalesce(answered_fingerprint, fingerprint) AS fingerprint, answered_model FROM assessment
    WHERE created_at >= %({since})s AND created_at < %({until})s
      AND answered_model IS NOT NULL AND NOT is_cached
    UNION ALL
    SELECT judge, coalesce(answered_fingerprint, fingerprint), answered_model FROM check_result
    WHERE judged_at >= %({since})s AND judged_at < %({until})s AND answered_model IS NOT NULL
) answer
GROUP BY judge, fingerprint, answered_model
"""  # noqa: S608  # constants


_COUNT_SLOT = f"""
INSERT INTO judge_answers (starts_at, answers)
SELECT %(since)s, coalesce(jsonb_agg(to_jsonb(a)), '[]') FROM ({_write_count("since", "until")}) a
ON CONFLICT DO NOTHING
"""  # noqa: S608  # constants
_KNOWN = "SELECT starts_at FROM judge_answers WHERE starts_at >= %(first)s"
_FORGET = "DELETE FROM judge_answers WHERE starts_at < %(first)s"
_SUM = f"""
SELECT judge, fingerprint, answered_model, sum(answers)::bigint AS answers FROM (
    SELECT a.* FROM judge_answers s
    CROSS JOIN LATERAL jsonb_to_recordset(s.answers)
        AS a(judge text, fingerprint text, answered_model text, answers bigint)
    WHERE s.starts_at >= %(first)s AND s.starts_at < %(settled)s
    UNION ALL
    SELECT * FROM ({_write_count("since", "first")}) before
    UNION ALL
    SELECT * FROM ({_write_count("settled", "until")}) rest
) counted
GROUP BY judge, fingerprint, answered_model
"""  # noqa: S608  # constants

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


def count_answers(engine: Engine, *, since: datetime, now: datetime) -> tuple[ModelAnswers, ...]:
    """How often each model answered since then, check set included, cached verdicts not.

    Args:
        engine: of this process.
        since: at least ten minutes ago.
        now: of the clock by which answers are stored.

    Raises:
        DatabaseLostError: Postgres is away; slots that were counted stay so.
    """
    first = _floor(since + SLOT)
    settled = max(first, _floor(now - SETTLED))
    with pipelined_transaction(engine) as connection:
        connection.execute(_FORGET, {"first": first})
        known = {to_utc(starts_at) for (starts_at,) in connection.execute(_KNOWN, {"first": first})}
    for number in range((settled - first) // SLOT):
        starts_at = first + number * SLOT
        if starts_at not in known:
            with pipelined_transaction(engine) as connection:
                connection.execute(_COUNT_SLOT, {"since": starts_at, "until": starts_at + SLOT})
    columns = {"since": since, "first": first, "settled": settled, "until": now + SLOT}
    with pipelined_transaction(engine) as connection:
        rows = connection.cursor(row_factory=dict_row).execute(_SUM, columns).fetchall()
    return tuple(ModelAnswers(**row) for row in rows)


def _floor(moment: datetime) -> datetime:
    return moment - (moment - datetime.min.replace(tzinfo=UTC)) % SLOT


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
