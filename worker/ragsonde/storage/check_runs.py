"""What judges have to do for the check set today: opened and published by the monitor, run by workers."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from psycopg.rows import dict_row

from ragsonde.storage.check_traces import rebuild_check_trace
from ragsonde.storage.engine import pipelined_transaction
from ragsonde.storage.jsonb import clean_text, encode_json, encode_value
from ragsonde.storage.reservations import CHECK, HELD, charge, give_back
from ragsonde.storage.result_rows import ADD_SPENDING, sum_spending
from ragsonde.storage.retries import Retries
from ragsonde_schemas.check import CheckKey, ClaimedCheck
from ragsonde_schemas.score import Score

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import date

    from psycopg import Connection
    from psycopg.rows import TupleRow
    from sqlalchemy import Engine

    from ragsonde.ports import Clock
    from ragsonde_schemas.check import CheckResult
    from ragsonde_schemas.judge_call import JudgeCall
    from ragsonde_schemas.score import Outcome

_OPEN = """
INSERT INTO check_result (check_id, judge, fingerprint, day, due_at)
SELECT id, %(judge)s, %(fingerprint)s, %(day)s, %(now)s FROM check_set
WHERE is_active AND id = ANY(%(ids)s::bigint[])
ON CONFLICT DO NOTHING
RETURNING check_id
"""

_TAKE_DUE = """
WITH due AS (
    SELECT r.check_id, r.judge, r.fingerprint, r.day
    FROM check_result r JOIN check_set c ON c.id = r.check_id AND c.is_active
    WHERE r.judged_at IS NULL AND r.day = %(day)s AND r.due_at <= %(now)s
      AND (r.lease_until IS NULL OR r.lease_until <= %(now)s)
      AND (r.judge, r.fingerprint) IN (SELECT * FROM unnest(%(judges)s::text[], %(fingerprints)s::text[]))
    ORDER BY r.due_at, r.check_id LIMIT %(limit)s FOR UPDATE OF r SKIP LOCKED
)
UPDATE check_result r SET due_at = %(until)s FROM due
WHERE r.check_id = due.check_id AND r.judge = due.judge AND r.fingerprint = due.fingerprint
  AND r.day = due.day
RETURNING r.check_id, r.judge, r.fingerprint, r.day
"""

_IS_OURS = """check_id = %(check_id)s AND judge = %(judge)s AND fingerprint = %(fingerprint)s
  AND day = %(day)s"""

_IS_DUE = "r.judged_at IS NULL AND (r.lease_until IS NULL OR r.lease_until <= %(now)s)"

_CLAIM = f"""
UPDATE check_result r SET starts = starts + 1, unfinished_starts = unfinished_starts + 1,
    lease_until = %(lease_until)s
FROM check_set c
WHERE {_IS_OURS} AND c.id = r.check_id AND c.is_active AND {_IS_DUE}
  AND (r.unfinished_starts = 0 OR NOT %(spares_suspects)s)
RETURNING r.starts, r.unfinished_starts, c.trace, {HELD}
"""  # noqa: S608  # constants

_IS_SUSPECT = f"""
SELECT FROM check_result r WHERE {_IS_OURS} AND {_IS_DUE} AND r.unfinished_starts > 0
"""

_IS_FIRST = """(
    %(answered_fingerprint)s::text IS NULL AND EXISTS (
        SELECT FROM jsonb_each(%(scores)s::jsonb) s WHERE s.value ? 'raw' AND NOT EXISTS (
            SELECT FROM check_result f
            WHERE f.check_id = %(check_id)s AND f.judge = %(judge)s AND f.fingerprint = %(fingerprint)s
              AND f.day < %(day)s AND f.is_reference AND f.scores -> s.key ? 'raw'
              AND f.scores -> s.key ->> 'version' = s.value ->> 'version')))"""
"""It holds a number of the judge's own by a scorer and version that no earlier day has one by."""

_FINISH = f"""
UPDATE check_result SET judged_at = %(now)s, lease_until = NULL, unfinished_starts = 0, epoch = %(epoch)s,
    answered_model = %(answered_model)s, answered_fingerprint = %(answered_fingerprint)s, cause = %(cause)s,
    verdicts = %(verdicts)s::jsonb, scores = %(scores)s::jsonb, is_reference = {_IS_FIRST}, {ADD_SPENDING}
WHERE {_IS_OURS} AND starts = %(starts)s AND judged_at IS NULL
RETURNING {HELD}
"""  # noqa: S608  # constants

_POSTPONE = f"""
UPDATE check_result SET due_at = %(until)s, lease_until = NULL, unfinished_starts = 0, {ADD_SPENDING}
WHERE {_IS_OURS} AND starts = %(starts)s AND judged_at IS NULL
RETURNING {HELD}
"""  # noqa: S608  # constants


class PostgresCheckStore:
    """The `ports.CheckStore` over the tables `check_set` and `check_result`.

    Args:
        engine: of this process.
        clock: decides about leases.
        lease_seconds: how long a claim is its worker's own.
        retries: for what Postgres gives up on.
    """

    def __init__(
        self, engine: Engine, *, clock: Clock, lease_seconds: int, retries: Retries | None = None
    ) -> None:
        self._engine = engine
        self._clock = clock
        self._lease = timedelta(seconds=lease_seconds)
        self._retries = retries or Retries()

    def claim(self, key: CheckKey, *, spares_suspects: bool = False) -> ClaimedCheck | None:
        """The check, under a lease, or None when it is done, dropped, or somebody else has it.

        With `spares_suspects` None also where an earlier claim of it never ended.

        Raises:
            DatabaseLostError: Postgres is away.
        """
        now = self._clock.now()
        columns = {
            **key.model_dump(),
            "now": now,
            "lease_until": now + self._lease,
            "spares_suspects": spares_suspects,
        }

        def attempt() -> ClaimedCheck | None:
            with pipelined_transaction(self._engine) as connection:
                row = connection.cursor(row_factory=dict_row).execute(_CLAIM, columns).fetchone()
                if row is None:
                    return None
                held = [row[name.strip()] for name in HELD.split(",")]
                # of a run whose worker died
                give_back(connection, columns, held, calls=(), holder=CHECK)
            return ClaimedCheck(
                key=key,
                trace=rebuild_check_trace(row["trace"]),
                starts=row["starts"],
                unfinished_starts=row["unfinished_starts"],
            )

        return self._retries.run(attempt)

    def is_suspect(self, key: CheckKey) -> bool:
        """True when it is due, and an earlier claim of it never ended: it is run alone.

        Raises:
            DatabaseLostError: Postgres is away.
        """
        columns = {**key.model_dump(), "now": self._clock.now()}

        def attempt() -> bool:
            with pipelined_transaction(self._engine) as connection:
                return connection.execute(_IS_SUSPECT, columns).fetchone() is not None

        return self._retries.run(attempt)

    def finish(self, claimed: ClaimedCheck, result: CheckResult) -> bool:
        """Stores what came of it; False when this claim does not run it any more, and nothing was written.

        Raises:
            DatabaseLostError: Postgres is away.
        """
        given = result.assessment
        columns = {
            "epoch": 1 if given is None else given.judge_epoch,
            "answered_model": None if given is None else clean_text(given.answered_model),
            "answered_fingerprint": None if given is None else given.answered_fingerprint,
            "cause": result.cause,
            "verdicts": None if given is None else encode_value(given, exclude={"calls"}),
            "scores": encode_json({one.scorer: _describe(one) for one in result.outcomes}),
        }
        return self._end(claimed, _FINISH, columns, calls=() if given is None else given.calls)

    def postpone(self, claimed: ClaimedCheck, *, until: datetime, calls: tuple[JudgeCall, ...] = ()) -> bool:
        """Leaves it undone and due at `until`; the calls of this run are kept.

        Raises:
            DatabaseLostError: Postgres is away.
        """
        return self._end(claimed, _POSTPONE, {"until": until}, calls=calls)

    def _end(
        self, claimed: ClaimedCheck, statement: str, columns: dict[str, Any], *, calls: Sequence[JudgeCall]
    ) -> bool:
        own = {**claimed.key.model_dump(), "starts": claimed.starts, "now": self._clock.now()}
        spending = sum_spending(calls)._asdict()

        def attempt() -> bool:
            with pipelined_transaction(self._engine) as connection:
                return _end_run(connection, statement, {**own, **columns, **spending}, calls=calls)

        return self._retries.run(attempt)


def open_checks(
    engine: Engine, *, judge: str, fingerprint: str, check_ids: Sequence[int], day: date, now: datetime
) -> int:
    """How many checks of that judge and day were not open yet and are now.

    Raises:
        DatabaseLostError: Postgres is away.
    """
    columns = {"judge": judge, "fingerprint": fingerprint, "ids": list(check_ids), "day": day, "now": now}
    with pipelined_transaction(engine) as connection:
        return len(connection.execute(_OPEN, columns).fetchall())


def take_due_checks(
    engine: Engine,
    *,
    fingerprints: Iterable[tuple[str, str]],
    now: datetime,
    limit: int,
    queued_for_seconds: int,
) -> list[CheckKey]:
    """Keys of today's checks to publish: due, not done, and in nobody's hands.

    They are not claimed, and come again only when `queued_for_seconds` are over. What was not done by the
    end of its day is left.

    Args:
        engine: of this process.
        fingerprints: of the judges that are configured now, with their names.
        now: of the same clock as the stores'; its UTC date is today.
        limit: the most keys to take.
        queued_for_seconds: how long they are left to the queue.

    Raises:
        DatabaseLostError: some may be taken; they come again when the time is over.
    """
    judges = list(fingerprints)
    columns = {
        "judges": [judge for judge, _ in judges],
        "fingerprints": [fingerprint for _, fingerprint in judges],
        "day": now.date(),
        "now": now,
        "limit": limit,
        "until": now + timedelta(seconds=queued_for_seconds),
    }
    with pipelined_transaction(engine) as connection:
        rows = connection.execute(_TAKE_DUE, columns).fetchall()
    return [
        CheckKey(check_id=check_id, judge=judge, fingerprint=fingerprint, day=day)
        for check_id, judge, fingerprint, day in rows
    ]


def _end_run(
    connection: Connection[TupleRow], statement: str, columns: dict[str, Any], *, calls: Sequence[JudgeCall]
) -> bool:
    held = connection.execute(statement, columns).fetchone()
    if held is None:
        charge(connection, columns["judge"], calls, now=columns["now"])
        return False
    give_back(connection, columns, held, calls=calls, holder=CHECK)
    return True


def _describe(outcome: Outcome) -> dict[str, Any]:
    described: dict[str, Any] = {"version": outcome.version, "status": outcome.status}
    if isinstance(outcome, Score):
        return {**described, "raw": outcome.raw, "value": outcome.value}
    return {**described, "cause": outcome.cause.value}
