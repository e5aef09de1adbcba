"""The baselines of streams that took the place of others, while they come to be."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import text

from ragsonde.storage.baselines import number_block
from ragsonde.storage.block_tables import STREAM_KEY
from ragsonde.storage.engine import translating_losses
from ragsonde.storage.locks import give_way_to_migrations, hold_job_lock
from ragsonde.storage.regression_states import JUDGING_LOCK
from ragsonde.storage.trace_rows import to_utc
from ragsonde_schemas.score_stream import ScoreStream, begin_block

if TYPE_CHECKING:
    from collections.abc import Collection
    from datetime import date, datetime

    from sqlalchemy import Connection, Engine, RowMapping

    from ragsonde.storage.successors import Successor

_BEGIN = text(
    """
INSERT INTO stream_arming (stream_id, old_stream_id, way, begun_at, ended_at, outcome)
VALUES (:stream, :old, :way, :begun_at, :ended_at, :outcome) ON CONFLICT DO NOTHING
"""
)
_LIST = text(
    f"""
SELECT a.*, {", ".join(f"s.{name}" for name in STREAM_KEY)}
FROM stream_arming a JOIN score_stream s ON s.id = a.stream_id
WHERE a.ended_at IS NULL ORDER BY a.stream_id
"""  # noqa: S608  # constants
)
_SET_BACKFILL = text(
    "UPDATE stream_arming SET backfill_id = :backfill WHERE stream_id = ANY(CAST(:streams AS int[]))"
)
_NOTE = text(
    """
UPDATE stream_arming SET done = done + :looked_at, foreseen = greatest(:foreseen, done + :looked_at),
    scored_until = coalesce(CAST(:day AS date), scored_until)
WHERE stream_id = ANY(CAST(:streams AS int[]))
"""
)
_END = text(
    """
UPDATE stream_arming SET ended_at = :now, way = coalesce(:way, way), outcome = :outcome
WHERE stream_id = :stream AND ended_at IS NULL
"""
)
_FIND_BACKFILL = text(
    """
SELECT id FROM backfill
WHERE created_by = :by AND judge = :judge AND fingerprint = :fingerprint AND app = :app
  AND environment = :environment AND since = :since
ORDER BY id DESC LIMIT 1
"""
)
_IS_COUNTED = text(
    """
SELECT coalesce((SELECT scanned_until > :changed_by FROM score_block_cursor WHERE id = 1), false)
  AND NOT EXISTS (SELECT FROM dirty_mark WHERE since < :until AND until > :since
    AND (app IS NULL OR (app = :app AND environment = :environment)))
"""
)
_READ_GATES = text(
    """
SELECT stream_id, ended_at IS NULL AS is_under_way, way, begun_at FROM stream_arming
WHERE stream_id = ANY(CAST(:streams AS int[]))
"""
)
_LIST_ALARMED = text(
    """
SELECT since, coalesce(closed_at, :until) AS until FROM alert
WHERE stream_id = :stream AND since < :until AND (closed_at IS NULL OR closed_at > :since)
  AND false_at IS NULL AND accepted_at IS NULL
"""
)
# the new one must be watched: until then an alert of the old one is all there is
_SEE_OUT = text(
    """
UPDATE stream_arming a SET seen_out_at = :now
WHERE a.seen_out_at IS NULL AND a.ended_at IS NOT NULL
  AND (SELECT m.baseline_id FROM monitor_state m WHERE m.stream_id = a.stream_id ORDER BY m.day DESC LIMIT 1)
    IS NOT NULL
  AND NOT EXISTS (SELECT FROM score_block b WHERE b.stream_id = a.old_stream_id AND b.n > 0
    AND b.start >= :idle_since AND b.day >= CAST(:idle_since AS date))
RETURNING a.old_stream_id
"""
)
_CLOSE = text(
    """
UPDATE alert SET closed_at = :now, reason = coalesce(reason, :reason)
WHERE stream_id = ANY(CAST(:streams AS int[])) AND closed_at IS NULL
"""
)

SEEN_OUT = "its scorer or judge was changed: another stream took its place, and no trace has come since"


class Way(StrEnum):
    """How a stream gets the baseline that it is compared with."""

    BACKFILL = "backfill"
    """stored traces are judged by its judge"""
    RESCORE = "rescore"
    """stored verdicts are scored by its scorer; no judge is asked"""
    LIVE = "live"
    """nothing stored can be used, or is to be: from its own first days"""


class StreamArming(NamedTuple):
    """A baseline that is under way.

    Attributes:
        begun_at: what begins before is what the baseline is made of, and is not judged.
        scored_until: of a rescoring, the last day that is done; None before the first.
        done, foreseen: of a rescoring, evaluations.
    """

    number: int
    stream: ScoreStream
    old_number: int
    way: Way
    begun_at: datetime
    backfill: int | None
    scored_until: date | None
    done: int
    foreseen: int


class Gate(NamedTuple):
    """From where on a stream that took another one's place is judged.

    Attributes:
        is_under_way: its baseline is: nothing is judged.
        begins: the first block that counts at all; None: all do.
        judges_from: the first block that is judged: those before are of stored traces.
    """

    is_under_way: bool
    begins: int | None
    judges_from: int


def begin_arming(
    engine: Engine, one: Successor, *, way: Way, now: datetime, outcome: str | None = None
) -> None:
    """Notes what is done for a stream; by way `live` that is all, and it ends with it.

    Raises:
        DatabaseLostError: it may be noted or not; do it again.
    """
    columns = {
        "stream": one.number,
        "old": one.old_number,
        "way": way.value,
        "begun_at": begin_block(one.begun_at),
        "ended_at": now if way is Way.LIVE else None,
        "outcome": outcome,
    }
    with translating_losses(), engine.begin() as connection:
        connection.execute(_BEGIN, columns)


def list_armings(engine: Engine) -> tuple[StreamArming, ...]:
    """The baselines that are under way.

    Raises:
        DatabaseLostError: Postgres is away.
    """
    with translating_losses(), engine.connect() as connection:
        return tuple(
            StreamArming(
                number=row["stream_id"],
                stream=_name(row),
                old_number=row["old_stream_id"],
                way=Way(row["way"]),
                begun_at=to_utc(row["begun_at"]),
                backfill=row["backfill_id"],
                scored_until=row["scored_until"],
                done=row["done"],
                foreseen=row["foreseen"],
            )
            for row in connection.execute(_LIST).mappings()
        )


def find_backfill(engine: Engine, stream: ScoreStream, *, since: date, created_by: str) -> int | None:
    """The number of the backfill that was started for such streams by then, None where none was.

    Raises:
        DatabaseLostError: Postgres is away.
    """
    key = stream.model_dump(include={"judge", "fingerprint", "app", "environment"})
    columns = {**key, "since": since, "by": created_by}
    with translating_losses(), engine.connect() as connection:
        found = connection.execute(_FIND_BACKFILL, columns).scalar_one_or_none()
    return None if found is None else int(found)


def set_backfill(engine: Engine, streams: Collection[int], backfill: int) -> None:
    """Notes which backfill scores stored traces for these streams.

    Raises:
        DatabaseLostError: it may be noted or not; do it again.
    """
    with translating_losses(), engine.begin() as connection:
        connection.execute(_SET_BACKFILL, {"streams": list(streams), "backfill": backfill})


def note_rescored(
    engine: Engine, streams: Collection[int], *, looked_at: int, foreseen: int, day: date | None = None
) -> None:
    """Notes that so many more evaluations were looked at, and that `day` is done.

    Raises:
        DatabaseLostError: it may be noted or not: only what is shown would be wrong.
    """
    columns = {"streams": list(streams), "looked_at": looked_at, "foreseen": foreseen, "day": day}
    with translating_losses(), engine.begin() as connection:
        connection.execute(_NOTE, columns)


def is_counted(engine: Engine, one: StreamArming, *, since: datetime, changed_by: datetime) -> bool:
    """Whether all that was stored until `changed_by` for the blocks since then is in the counts.

    Raises:
        DatabaseLostError: Postgres is away.
    """
    columns = {
        "since": since,
        "until": one.begun_at,
        "changed_by": changed_by,
        "app": one.stream.app,
        "environment": one.stream.environment,
    }
    with translating_losses(), engine.connect() as connection:
        return bool(connection.execute(_IS_COUNTED, columns).scalar_one())


def end_arming(
    connection: Connection, stream: int, *, outcome: str, now: datetime, way: Way | None = None
) -> bool:
    """Whether it was under way until now; from then on the stream is judged.

    Args:
        connection: of the caller's transaction, with the lock of judging.
        stream: its number.
        outcome: how it ended.
        now: of this process's clock.
        way: that it went in the end; None: the one that was begun.
    """
    columns = {"stream": stream, "way": None if way is None else way.value, "outcome": outcome, "now": now}
    return connection.execute(_END, columns).rowcount == 1


def read_gates(connection: Connection, streams: Collection[int]) -> dict[int, Gate]:
    """From where on streams that took another one's place are judged, by stream; others have none."""
    rows = connection.execute(_READ_GATES, {"streams": list(streams)}).mappings()
    gates = {}
    for row in rows:
        live = number_block(row["begun_at"])
        gates[row["stream_id"]] = Gate(row["is_under_way"], live if row["way"] == Way.LIVE else None, live)
    return gates


def list_alarmed(
    connection: Connection, stream: int, *, since: datetime, until: datetime
) -> list[tuple[int, int]]:
    """First block and end of each fall of a stream in a stretch of time; not of what people said is none."""
    rows = connection.execute(_LIST_ALARMED, {"stream": stream, "since": since, "until": until})
    return [(number_block(to_utc(begin)), number_block(to_utc(end))) for begin, end in rows]


def see_out(engine: Engine, *, idle_since: datetime, now: datetime) -> tuple[int, ...]:
    """The streams that were put away: another one is watched in their place, and they have no trace since.

    Their alerts are closed. What was judged of them stays, and is shown no more once it is a week old.

    Raises:
        DatabaseLostError: it is done wholly or not at all; do it again.
        GivenUpError: nothing was done: a migration is under way, or judging takes too long.
    """
    columns = {"now": now, "idle_since": idle_since}
    with translating_losses(), engine.begin() as connection:
        give_way_to_migrations(connection)
        hold_job_lock(connection, JUDGING_LOCK)
        old = tuple(connection.execute(_SEE_OUT, columns).scalars())
        if old:
            connection.execute(_CLOSE, {"streams": list(old), "now": now, "reason": SEEN_OUT})
    return old


def _name(row: RowMapping) -> ScoreStream:
    return ScoreStream(**{name: row[name] for name in STREAM_KEY})
