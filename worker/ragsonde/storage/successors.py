"""Streams that took the place of others, as a judge or a scorer was changed."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import text

from ragsonde.storage.block_tables import STREAM_KEY
from ragsonde.storage.engine import translating_losses
from ragsonde.storage.jsonb import encode_json
from ragsonde.storage.trace_rows import to_utc
from ragsonde_schemas.score_stream import ScoreStream

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sqlalchemy import Engine, RowMapping

LONGEST_LOOK = timedelta(days=7)
_BASIS = "split_part({0}.version, ':', 2)"
"""A score of a trace with a reference follows on one with a reference."""

# the old one had scores in the week before, else nothing is lost; ids tell which of two was there first
_FIND = text(
    f"""
SELECT {", ".join(f"n.{name}" for name in STREAM_KEY)}, n.id,
    greatest(n.first_seen_at - interval '1 day', (SELECT min(b.start) FROM score_block b
        WHERE b.stream_id = n.id AND b.n > 0)) AS begun_at,
    {", ".join(f"o.{name} AS old_{name}" for name in STREAM_KEY)}, o.id AS old_id
FROM json_to_recordset(CAST(:wanted AS json)) AS w(judge text, fingerprint text, scorer text, version text)
JOIN score_stream n USING (judge, fingerprint, scorer, version)
CROSS JOIN LATERAL (
    SELECT o.* FROM score_stream o
    WHERE o.scorer = n.scorer AND o.judge = n.judge AND o.app = n.app AND o.environment = n.environment
      AND {_BASIS.format("o")} = {_BASIS.format("n")} AND o.id < n.id
      AND EXISTS (SELECT FROM score_block b WHERE b.stream_id = o.id AND b.n > 0
        AND b.start >= n.first_seen_at - interval '7 days' AND b.day >= CAST(:oldest AS date) - 7)
    ORDER BY o.id DESC LIMIT 1) o
WHERE n.first_seen_at >= :oldest
  AND NOT EXISTS (SELECT FROM stream_arming a WHERE a.stream_id = n.id)
  AND NOT EXISTS (SELECT FROM monitor_state m WHERE m.stream_id = n.id AND m.baseline_id IS NOT NULL)
ORDER BY n.id
"""  # noqa: S608  # constants
)


class Successor(NamedTuple):
    """A stream that took the place of another one: its scorer, judge, app and environment are the same.

    Attributes:
        begun_at: its first block, at most a day before it was first counted: older ones are of stored traces
            that somebody had scored already.
    """

    number: int
    stream: ScoreStream
    old_number: int
    old: ScoreStream
    begun_at: datetime


def find_successors(
    engine: Engine, wanted: Iterable[tuple[str, str, str, str]], *, now: datetime
) -> tuple[Successor, ...]:
    """Streams of the last week that took another one's place and that nothing was done for yet.

    Args:
        engine: of this process.
        wanted: judge, fingerprint, scorer and version, as configured: no others are found.
        now: of the clock that streams are counted by.

    Raises:
        DatabaseLostError: Postgres is away.
    """
    names = ("judge", "fingerprint", "scorer", "version")
    rows = encode_json([dict(zip(names, one, strict=True)) for one in wanted])
    columns = {"wanted": rows, "oldest": now - LONGEST_LOOK}
    with translating_losses(), engine.connect() as connection:
        return tuple(
            Successor(row["id"], _name(row), row["old_id"], _name(row, "old_"), to_utc(row["begun_at"]))
            for row in connection.execute(_FIND, columns).mappings()
        )


def _name(row: RowMapping, prefix: str = "") -> ScoreStream:
    return ScoreStream(**{name: row[f"{prefix}{name}"] for name in STREAM_KEY})
