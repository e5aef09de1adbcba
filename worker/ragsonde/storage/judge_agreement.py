"""How far two judges agree about the same contexts, from the verdicts that are stored."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import text

from ragsonde.storage.engine import translating_losses

if TYPE_CHECKING:
    from datetime import datetime

    from sqlalchemy import Engine

MOST_ASSESSMENTS = 2_000
"""So many of a judge's newest assessments are compared."""

_COUNT = text(
    """
SELECT a.app, COALESCE(t.extraction ? 'suspected_injection', false) AS is_suspected,
    count(*) FILTER (WHERE mine.verdict -> 'relevant' = theirs.verdict -> 'relevant') AS alike,
    count(*) AS contexts
FROM (
    SELECT * FROM assessment
    WHERE judge = :judge AND fingerprint = :fingerprint AND answered_fingerprint IS NULL
      AND created_at >= :since AND (CAST(:until AS timestamptz) IS NULL OR created_at < :until)
    ORDER BY created_at DESC LIMIT :most
) a
JOIN assessment b USING (trace_id, app, record_key, revision, day)
JOIN trace t USING (trace_id, app, record_key, revision, day)
CROSS JOIN LATERAL jsonb_each(a.verdicts -> 'contexts') AS mine(number, verdict)
JOIN LATERAL jsonb_each(b.verdicts -> 'contexts') AS theirs(number, verdict) ON mine.number = theirs.number
WHERE b.judge = :against AND b.fingerprint = :against_fingerprint
  AND mine.verdict ->> 'relevant' IS NOT NULL AND theirs.verdict ->> 'relevant' IS NOT NULL
GROUP BY a.app, is_suspected
"""
)


class JudgeName(NamedTuple):
    """A judge as its rows name it."""

    judge: str
    fingerprint: str


class Agreement(NamedTuple):
    """How many contexts two judges called relevant or not alike, of those that both judged."""

    alike: int
    contexts: int


def count_agreement(
    engine: Engine,
    judge: JudgeName,
    *,
    against: JudgeName,
    since: datetime,
    until: datetime | None = None,
) -> dict[tuple[str, bool], Agreement]:
    """By app and whether its trace has a suspected injection; absent where no context was judged by both.

    Args:
        engine: of this process.
        judge: whose newest assessments are compared, at most `MOST_ASSESSMENTS`.
        against: the other judge, whose assessments of the same revisions may be older.
        since: when the oldest of them was given.
        until: all of them were given before; None: up to now.

    Raises:
        DatabaseLostError: Postgres is away.
    """
    parameters = {
        **judge._asdict(),
        "against": against.judge,
        "against_fingerprint": against.fingerprint,
        "since": since,
        "until": until,
        "most": MOST_ASSESSMENTS,
    }
    with translating_losses(), engine.connect() as connection:
        return {
            (app, is_suspected): Agreement(alike, contexts)
            for app, is_suspected, alike, contexts in connection.execute(_COUNT, parameters)
        }
