"""What a clock that ran ahead left behind: work that is due in weeks becomes due now."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from ragsonde.storage.engine import pipelined_transaction

if TYPE_CHECKING:
    from datetime import datetime

    from sqlalchemy import Engine

FARTHEST = timedelta(days=2)
"""Nothing waits longer than a day for its judge, and a lease takes minutes: what is due later was written by
a clock that was wrong. After a smaller jump all waits until the clock is where it was."""

_FAR = "greatest(now(), %(now)s) + %(farthest)s"
"""By both clocks, Postgres's and ours: else one that runs behind would take all work from the others."""

_WAITING = f"""
UPDATE evaluation SET next_attempt_at = least(next_attempt_at, %(now)s), queued_until = NULL
WHERE state = 'waiting' AND (next_attempt_at > {_FAR} OR queued_until > {_FAR})
RETURNING 1
"""  # noqa: S608  # constants of this file
_RUNNING = f"""
UPDATE evaluation SET lease_until = least(lease_until, %(now)s - interval '1 second'), queued_until = NULL
WHERE state = 'running' AND (lease_until > {_FAR} OR queued_until > {_FAR})
RETURNING 1
"""  # noqa: S608  # constants of this file
_GATHERED = f"""
UPDATE open_record SET next_close_at = least(next_close_at, %(now)s),
    lease_until = least(lease_until, %(now)s), queued_until = NULL
WHERE next_close_at IS NOT NULL AND (next_close_at > {_FAR} OR lease_until > {_FAR} OR queued_until > {_FAR})
RETURNING 1
"""  # noqa: S608  # constants of this file


def bring_near(engine: Engine, *, now: datetime) -> int:
    """How many evaluations and gathered traces were due, or in somebody's hands, until weeks ahead.

    They are due now; who had them when the clock jumped does not hold them any more.

    Args:
        engine: of this process.
        now: of the same clock as the stores'.

    Raises:
        DatabaseLostError: nothing was changed, or it is not known; call again.
    """
    columns = {"now": now, "farthest": FARTHEST}
    with pipelined_transaction(engine) as connection:
        changed = [connection.execute(statement, columns) for statement in (_WAITING, _RUNNING, _GATHERED)]
        return sum(len(cursor.fetchall()) for cursor in changed)
