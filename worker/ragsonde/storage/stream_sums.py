"""Sums of the scores of streams over some time, from what is counted."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import text

from ragsonde.storage.block_tables import STREAM_KEY
from ragsonde.storage.engine import translating_losses
from ragsonde_schemas.score_stream import ScoreStream

if TYPE_CHECKING:
    from datetime import datetime

    from sqlalchemy import Engine

_KEY = ", ".join(f"s.{name}" for name in STREAM_KEY)
_READ = text(
    f"""
SELECT {_KEY}, b.n, b.total, b.squares FROM score_stream s JOIN (
    SELECT stream_id, sum(n)::bigint AS n, sum(total) AS total, sum(squares) AS squares FROM score_block
    WHERE day BETWEEN :first_day AND :last_day AND start >= :since AND start < :until
    GROUP BY stream_id HAVING sum(n) > 0) AS b ON b.stream_id = s.id
ORDER BY s.id
"""  # noqa: S608  # constants
)


class StreamSum(NamedTuple):
    """How many scores a stream has, their sum, and the sum of their squares."""

    stream: ScoreStream
    n: int
    total: float
    squares: float


def sum_streams(engine: Engine, *, since: datetime, until: datetime) -> tuple[StreamSum, ...]:
    """The sums of the streams with scores in the blocks that begin then, the oldest stream first.

    Raises:
        DatabaseLostError: Postgres is away.
    """
    columns = {"since": since, "until": until, "first_day": since.date(), "last_day": until.date()}
    with translating_losses(), engine.connect() as connection:
        return tuple(
            StreamSum(
                ScoreStream(**{name: row[name] for name in STREAM_KEY}),
                row["n"],
                row["total"],
                row["squares"],
            )
            for row in connection.execute(_READ, columns).mappings()
        )
