"""When a block of scores is closed: nearly all of its traces are scored, so its evidence may be counted."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from ragsonde_schemas.score_stream import BLOCK, begin_block

if TYPE_CHECKING:
    from datetime import datetime

LEAST_GRACE = timedelta(minutes=5)
MOST_GRACE = timedelta(hours=1)
"""Uploads of old traces must not keep live ones from being looked at; what comes later is counted anew."""


def choose_grace(end_to_end_p99: timedelta | None) -> timedelta:
    """How long after its end a block waits for its scores: 5 minutes, or the p99 if that is longer.

    Args:
        end_to_end_p99: from when traces occurred to when they were scored; None where nothing was scored.
    """
    return min(max(end_to_end_p99 or LEAST_GRACE, LEAST_GRACE), MOST_GRACE)


def find_closed_until(now: datetime, *, grace: timedelta, queue_lag: timedelta) -> datetime | None:
    """Every block that ended at this moment or before is closed; None: hold, nothing more is closed now.

    A block is closed that ended at least `grace` ago, while the queue lags by less than a block. What was
    closed stays so: a caller takes the latest moment that it was told.

    Args:
        now: UTC.
        grace: from `choose_grace`.
        queue_lag: for how long the work that is due longest has been due.
    """
    return None if queue_lag >= BLOCK else begin_block(now - grace)
