"""The streams that have no baseline yet, and how far on the way to one each is."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import text

from ragsonde.regression.baseline import BASELINE_DAYS, LEAST_PINNED, LEAST_PROVISIONAL
from ragsonde.regression.threshold import ACTIVE_DAYS
from ragsonde.storage.block_tables import STREAM_KEY
from ragsonde.storage.engine import translating_losses
from ragsonde.storage.trace_rows import to_utc
from ragsonde_schemas.score_stream import ScoreStream

if TYPE_CHECKING:
    from datetime import datetime

    from sqlalchemy import Engine, RowMapping

PROVISIONAL_DAYS = 2
"""A provisional baseline's traces lie 24 hours apart, and baselines come with the end of a stream's day."""

# A baseline with a reason holds before the first block is judged by it. Active are streams with scores in the
# last days before what is closed; a stream that was never judged, as it is new or its baseline is under way,
# has no state. Every day is a partition: so days bound what is looked at.
_READ = text(
    f"""
WITH closed AS (SELECT closed_until AS at FROM score_block_cursor WHERE closed_until IS NOT NULL),
unarmed AS (
    SELECT s.*, closed.at, to_timestamp(newest.begun * 300::float8) AS begun
    FROM score_stream s CROSS JOIN closed
    LEFT JOIN LATERAL (SELECT baseline_id, begun FROM monitor_state m
        WHERE m.stream_id = s.id ORDER BY m.day DESC LIMIT 1) newest ON true
    WHERE newest.baseline_id IS NULL
      AND NOT EXISTS (SELECT FROM baseline b WHERE b.stream_id = s.id AND b.replaced_at IS NULL
        AND b.reason IS NOT NULL)
      AND EXISTS (SELECT FROM score_block b
        WHERE b.stream_id = s.id AND b.n > 0 AND b.day >= CAST(closed.at AS date) - :active_days)
)
SELECT {", ".join(f"u.{name}" for name in STREAM_KEY)}, u.at, own.since, own.traces, a.way, a.ended_at,
    a.begun_at, a.done, a.foreseen,
    f.foreseen AS backfill_foreseen, f.planned, f.is_looked_through, f.ended
FROM unarmed u
CROSS JOIN LATERAL (SELECT coalesce(u.begun, (SELECT min(start) FROM score_block b
    WHERE b.stream_id = u.id AND b.n > 0
      AND b.day >= CAST(u.first_seen_at AS date) - :active_days)) AS since) first
CROSS JOIN LATERAL (SELECT first.since, coalesce(sum(b.n), 0)::bigint AS traces FROM score_block b
    WHERE b.stream_id = u.id AND b.start >= first.since
      AND b.start < first.since + make_interval(days => :baseline_days)
      AND b.day BETWEEN CAST(first.since AS date) AND CAST(first.since AS date) + :baseline_days) own
LEFT JOIN stream_arming a ON a.stream_id = u.id
LEFT JOIN LATERAL (SELECT b.foreseen, b.planned, b.is_looked_through,
        b.scored + b.not_evaluable + b.failed + b.left AS ended
    FROM backfill b WHERE b.id = a.backfill_id) f ON true
WHERE own.since IS NOT NULL
ORDER BY {", ".join(f"u.{name}" for name in STREAM_KEY)}
"""  # noqa: S608  # constants
)

_SET = text("SET LOCAL jit = off")
"""Compiled, the statement's hundreds of small scans take most of a second, each time that it is run."""


class Waits(StrEnum):
    """What a stream without a baseline waits for."""

    TRACES = "traces"
    """live ones, and that its first days pass"""
    BACKFILL = "backfill"
    """stored traces are judged by its judge"""
    RESCORE = "rescore"
    """stored verdicts are scored by its scorer"""
    A_CHOICE = "choice"
    """its first days brought too few traces: a floor, or a baseline that a person pins"""


class Arming(NamedTuple):
    """A stream that has no baseline yet, so that no fall of it would be seen.

    Attributes:
        share: 0..1, of the way to a baseline.
        traces, needed: that it has, and that a baseline takes; of stored ones that are scored, those and all.
        since: its first block, or when it took another stream's place: UTC.
    """

    stream: ScoreStream
    share: float
    traces: int
    needed: int
    since: datetime
    waits_for: Waits


def read_arming(engine: Engine) -> tuple[Arming, ...]:
    """The streams with scores in the last 7 days that have no baseline yet, by name.

    None while nothing was ever counted. Streams that are watched are not among them, by whichever baseline.

    Raises:
        DatabaseLostError: Postgres is away.
    """
    columns = {"active_days": ACTIVE_DAYS, "baseline_days": BASELINE_DAYS}
    with translating_losses(), engine.connect() as connection:
        connection.execute(_SET)
        return tuple(_build(row) for row in connection.execute(_READ, columns).mappings())


def _build(row: RowMapping) -> Arming:
    stream = ScoreStream(**{name: row[name] for name in STREAM_KEY})
    if row["way"] in {Waits.BACKFILL, Waits.RESCORE} and row["ended_at"] is None:
        since = to_utc(row["begun_at"])
        done, whole = row["done"], row["foreseen"]
        if row["way"] == Waits.BACKFILL:
            done = row["ended"] or 0
            planned = row["planned"] or 0
            whole = planned if row["is_looked_through"] else max(planned, row["backfill_foreseen"] or 0)
        return Arming(stream, min(1.0, done / whole) if whole else 0.0, done, whole, since, Waits(row["way"]))
    since = to_utc(row["since"])
    return _tell_natural(
        stream, row["traces"], since=since, days=(row["at"] - since).total_seconds() / 86_400
    )


def _tell_natural(stream: ScoreStream, traces: int, *, since: datetime, days: float) -> Arming:
    days = max(days, 0.0)
    is_over = days >= BASELINE_DAYS
    pinned = min(traces / LEAST_PINNED, days / BASELINE_DAYS, 1.0)
    provisional = 0.0 if is_over else min(traces / LEAST_PROVISIONAL, days / PROVISIONAL_DAYS, 1.0)
    needed = LEAST_PROVISIONAL if provisional > pinned else LEAST_PINNED
    waits = Waits.A_CHOICE if is_over and traces < LEAST_PINNED else Waits.TRACES
    return Arming(stream, max(pinned, provisional), traces, needed, since, waits)
