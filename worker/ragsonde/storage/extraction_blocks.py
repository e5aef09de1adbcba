"""By which rules the fields of traces were found, counted by place and five minutes with the scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import text

from ragsonde.regression.extraction_shares import ExtractionShares, gather_shares
from ragsonde.storage.baselines import number_block
from ragsonde.storage.jsonb import encode_json
from ragsonde_schemas.score_stream import block_at

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from sqlalchemy import Connection

JUDGED_FIELDS = ("answer", "contexts", "query", "reference", "retrieval_query")
"""What judges read; by which rule an app's name is found says nothing about scores."""

COUNT = """
SELECT t.app, t.environment, f.key AS field, f.value ->> 'rule' AS rule, count(*) AS n
FROM trace t, jsonb_each(t.extraction -> 'fields') AS f
WHERE t.day = :day AND t.occurred_at >= :start AND t.occurred_at < :end
  AND f.key = ANY(CAST(:fields AS text[])) AND f.value ->> 'rule' IS NOT NULL
  AND NOT EXISTS (SELECT FROM trace newer WHERE newer.trace_id = t.trace_id AND newer.app = t.app
    AND newer.record_key = t.record_key AND newer.day = t.day AND newer.revision > t.revision){places}
GROUP BY 1, 2, 3, 4
"""
DELETE = "DELETE FROM extraction_block b WHERE b.start = :start{places}"
_INSERT = text(
    """
INSERT INTO extraction_block (app, environment, start, rules)
SELECT app, environment, :start, rules
FROM json_to_recordset(CAST(:rows AS json)) AS r(app text, environment text, rules jsonb)
"""
)
_READ = text(
    """
SELECT b.app, b.environment, b.start, b.rules
FROM unnest(CAST(:apps AS text[]), CAST(:environments AS text[]), CAST(:since AS timestamptz[]))
    AS given(app, environment, since)
JOIN extraction_block b ON b.app = given.app AND b.environment = given.environment
    AND b.start >= given.since AND b.start < :until
"""
)
_TIDY = text("DELETE FROM extraction_block WHERE start < :oldest")


def count_rules(connection: Connection, columns: Mapping[str, Any], *, of_traces: str, of_rows: str) -> None:
    """Counts a block's rules anew, in the place of what they were.

    Args:
        connection: of the transaction that counts the block's scores.
        columns: with `start`, `end`, `day`, and what the conditions name.
        of_traces: condition on the places that are counted, of `trace t`.
        of_rows: likewise, of `extraction_block b`.
    """
    connection.execute(text(DELETE.format(places=of_rows)), dict(columns))
    given = {**columns, "fields": list(JUDGED_FIELDS)}
    found: dict[tuple[str, str], dict[str, dict[str, int]]] = {}
    for app, environment, name, rule, n in connection.execute(text(COUNT.format(places=of_traces)), given):
        found.setdefault((app, environment), {}).setdefault(name, {})[rule] = n
    rows = [
        {"app": app, "environment": environment, "rules": rules}
        for (app, environment), rules in sorted(found.items())
    ]
    if rows:
        connection.execute(_INSERT, {**columns, "rows": encode_json(rows)})


def read_shares(
    connection: Connection, since: Mapping[tuple[str, str], int], *, until: int
) -> dict[tuple[str, str], ExtractionShares]:
    """What is counted of places, each an app and an environment, from a block on to before another one."""
    places = sorted(since)
    columns = {
        "apps": [app for app, _ in places],
        "environments": [environment for _, environment in places],
        "since": [block_at(since[place]) for place in places],
        "until": block_at(until),
    }
    rows: dict[tuple[str, str], dict[int, Any]] = {}
    for app, environment, start, rules in connection.execute(_READ, columns):
        rows.setdefault((app, environment), {})[number_block(start)] = rules
    return {place: gather_shares(counts) for place, counts in rows.items()}


def tidy_rules(connection: Connection, *, oldest: datetime) -> None:
    """Forgets blocks that are older."""
    connection.execute(_TIDY, {"oldest": oldest})
