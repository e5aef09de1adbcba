"""What judges made of a place's traces in a stretch of time, and traces that show it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import text

from ragsonde.storage.engine import translating_losses
from ragsonde.storage.trace_rows import to_utc
from ragsonde_schemas.errors import Cause
from ragsonde_schemas.watched import ExampleTrace, Sign, WindowCounts

if TYPE_CHECKING:
    from datetime import datetime

    from sqlalchemy import Engine

    from ragsonde_schemas.watched import Place

_OF_PLACE = """
FROM evaluation e JOIN trace t USING (trace_id, app, record_key, revision, day)
WHERE e.created_at >= :since AND e.created_at < :until AND e.app = :app AND t.environment = :environment
  AND e.state <> 'superseded'
"""
_COUNTS = text(
    f"""
SELECT e.judge, CASE WHEN e.state IN ('not_evaluable', 'failed') THEN e.cause END AS cause, count(*) AS n
{_OF_PLACE} GROUP BY 1, 2 ORDER BY 1
"""  # constants
)
_SUFFICIENCY = text(
    f"""
SELECT e.judge, count(*) AS assessed,
    count(*) FILTER (WHERE (a.verdicts ->> 'insufficient')::boolean) AS insufficient
FROM assessment a JOIN (
    SELECT e.trace_id, e.app, e.record_key, e.revision, e.day, e.judge, e.fingerprint {_OF_PLACE}
) e USING (trace_id, app, record_key, revision, day, judge, fingerprint)
WHERE a.verdicts ->> 'insufficient' IS NOT NULL
GROUP BY e.judge
"""  # noqa: S608  # constants
)

_SHOWN_BY = {
    Sign.EMPTY_RETRIEVAL: "e.cause = 'empty_retrieval'",
    Sign.NO_CONTEXT: "e.cause IN ('no_context', 'context_text_missing')",
    Sign.FAILED: "e.state = 'failed'",
    Sign.LEFT_OUT: "e.state IN ('shed', 'waiting')",
    Sign.INSUFFICIENT: """EXISTS (
        SELECT FROM assessment a
        WHERE a.trace_id = e.trace_id AND a.app = e.app AND a.record_key = e.record_key
          AND a.revision = e.revision AND a.day = e.day AND a.judge = e.judge
          AND a.fingerprint = e.fingerprint AND (a.verdicts ->> 'insufficient')::boolean)""",
}
_EXAMPLES = """
SELECT t.trace_id, t.record_key, t.occurred_at, t.release, max(e.created_at) AS born_at
FROM evaluation e JOIN trace t USING (trace_id, app, record_key, revision, day)
WHERE e.created_at >= :since AND e.app = :app AND t.environment = :environment
  AND e.state <> 'superseded' AND {sign}
GROUP BY 1, 2, 3, 4 ORDER BY born_at DESC, 1 LIMIT :most
"""


def count_window(
    engine: Engine, place: Place, *, since: datetime, until: datetime
) -> tuple[WindowCounts, ...]:
    """The counts of each judge that looked at a place's traces then, by name.

    Raises:
        DatabaseLostError: Postgres is away.
    """
    parameters = {"since": since, "until": until, **place.model_dump()}
    found: dict[str, dict[str, Any]] = {}
    with translating_losses(), engine.connect() as connection:
        for judge, cause, number in connection.execute(_COUNTS, parameters):
            counts = found.setdefault(judge, {"evaluations": 0, "causes": {}})
            counts["evaluations"] += number
            if cause is not None:
                counts["causes"][Cause(cause)] = number
        for judge, assessed, insufficient in connection.execute(_SUFFICIENCY, parameters):
            found[judge] |= {"assessed": assessed, "insufficient": insufficient}
    return tuple(
        WindowCounts(since=since, until=until, judge=judge, **counts) for judge, counts in found.items()
    )


def list_examples(
    engine: Engine, place: Place, *, sign: Sign, since: datetime, most: int
) -> tuple[ExampleTrace, ...]:
    """A place's newest traces that show what an alert is about, each once.

    Raises:
        DatabaseLostError: Postgres is away.
    """
    if sign is Sign.NONE:
        return ()
    query = text(_EXAMPLES.format(sign=_SHOWN_BY[sign]))
    parameters = {"since": since, "most": most, **place.model_dump()}
    with translating_losses(), engine.connect() as connection:
        return tuple(
            ExampleTrace(
                trace_id=row.trace_id,
                record_key=row.record_key,
                occurred_at=to_utc(row.occurred_at),
                release=row.release,
            )
            for row in connection.execute(query, parameters)
        )
