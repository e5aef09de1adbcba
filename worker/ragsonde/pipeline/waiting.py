"""When an evaluation that waits for its judge is tried again."""

from __future__ import annotations

import hashlib
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from ragsonde_schemas.errors import JudgePausedError, JudgeUnavailableError

if TYPE_CHECKING:
    from ragsonde_schemas.evaluation import ClaimedEvaluation

LONGEST_WAIT = timedelta(hours=24)
_SHORTEST_DELAY_SECONDS = 2.0
_LONGEST_DELAY_SECONDS = 300.0
_PAUSED_DELAY_SECONDS = 60.0
_GROWTH = 0.5
_TOLD_GROWTH = 0.2
_JITTER = 0.2
_SPREAD = 0.25


def has_waited_too_long(claimed: ClaimedEvaluation, *, now: datetime) -> bool:
    """True when an evaluation has been waiting for 24 h since it was born."""
    return now - claimed.waiting_since >= LONGEST_WAIT


def choose_next_attempt(
    claimed: ClaimedEvaluation, outage: JudgeUnavailableError | JudgePausedError, *, now: datetime
) -> datetime:
    """When to ask the judge again: half of its age later, between 2 s and 5 min, never before Retry-After.

    A delay in proportion to the age grows like an exponential backoff and needs no counter. The jitter of
    +-20 % is drawn from the key and the age, so that a backlog does not come back in one instant. Who is told
    when to come, by Retry-After or an open circuit, comes within a quarter of that time later; but a fifth of
    its age it waits anyhow, as the same may be told again and again.
    """
    age_seconds = max(0.0, (now - claimed.waiting_since).total_seconds())
    told_seconds = outage.retry_after_seconds if isinstance(outage, JudgeUnavailableError) else None
    growth = _GROWTH if told_seconds is None else _TOLD_GROWTH
    delay_seconds = min(max(age_seconds * growth, _SHORTEST_DELAY_SECONDS), _LONGEST_DELAY_SECONDS)
    if isinstance(outage, JudgePausedError):
        delay_seconds = max(delay_seconds, _PAUSED_DELAY_SECONDS)
    draw = _draw(claimed, age_seconds)
    delay_seconds *= 1 + _JITTER * (2 * draw - 1)
    if told_seconds is not None:
        spread_seconds = told_seconds * (1 + _SPREAD * draw)
        delay_seconds = max(delay_seconds, min(spread_seconds, LONGEST_WAIT.total_seconds()))
    return now + timedelta(seconds=delay_seconds)


def _draw(claimed: ClaimedEvaluation, age_seconds: float) -> float:
    text = (
        f"{claimed.key.trace.app}\x1f{claimed.key.trace.trace_id}\x1f{claimed.key.judge}\x1f{age_seconds:.3f}"
    )
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") / 2**64
