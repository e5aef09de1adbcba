"""Baselines that people made, and how they come and go beside those that came by themselves.

One that a person made wins while it stands; the others stay, and take over again where it goes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import text

from ragsonde.regression.floors import FloorSpan
from ragsonde.storage.baselines import StoredBaseline, build_baseline, number_block, write_baseline
from ragsonde.storage.block_tables import STREAM_KEY
from ragsonde.storage.trace_rows import to_utc
from ragsonde.storage.unshown_streams import find_unshown
from ragsonde_schemas.score_stream import ScoreStream, block_at
from ragsonde_schemas.stream_labels import judge_label, scorer_label

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from datetime import datetime

    from sqlalchemy import Connection, RowMapping

_KEY = ", ".join(f"s.{name}" for name in STREAM_KEY)
_OF_FLOORS = "b.kind = 'floor' AND b.reason IS NOT NULL AND b.replaced_at IS NULL"
_SAME_NAMES = (
    "f.app = s.app AND f.environment = s.environment AND f.scorer = s.scorer AND f.judge = s.judge "
    "AND split_part(f.version, ':', 2) = split_part(s.version, ':', 2)"
)
"""Of the basis too, which a version ends with: scores of another basis are of something else."""

_LIST = text(
    f"""
SELECT b.id, b.stream_id, b.kind, b.since, b.until, b.judges_from, b.armed_at, b.fitted, b.failed_share,
    b.reason, b.replaced_at, b.replaced_reason, {_KEY},
    b.id = (SELECT m.baseline_id FROM monitor_state m WHERE m.stream_id = b.stream_id
        ORDER BY m.day DESC LIMIT 1) AS is_judging
FROM baseline b JOIN score_stream s ON s.id = b.stream_id
WHERE (CAST(:number AS int) IS NULL OR b.id = :number) AND (CAST(:app AS text) IS NULL OR s.app = :app)
  AND (:with_past OR b.replaced_at IS NULL)
ORDER BY {_KEY}, b.replaced_at IS NOT NULL, b.reason IS NULL, b.judges_from DESC, b.id DESC LIMIT :most
"""  # noqa: S608  # constants
)
_FIND_STREAMS = text(
    f"""
SELECT s.id, {_KEY} FROM score_stream s
WHERE s.app = :app AND (CAST(:environment AS text) IS NULL OR s.environment = :environment)
  AND EXISTS (SELECT FROM score_block b WHERE b.stream_id = s.id AND b.n > 0
    AND b.start >= :since AND b.start < :until AND b.day BETWEEN :first_day AND :last_day)
ORDER BY {_KEY}
"""  # noqa: S608  # constants
)
_READ_FLOORS = text(
    f"""
SELECT s.id, b.id, (b.fitted -> 'means' ->> 0)::float8
FROM score_stream s JOIN score_stream f ON {_SAME_NAMES} JOIN baseline b ON b.stream_id = f.id
WHERE {_OF_FLOORS} AND s.id = ANY(CAST(:streams AS int[])) ORDER BY b.armed_at, b.id
"""  # noqa: S608  # constants
)
_READ_FLOOR_SPANS = text(
    f"""
SELECT s.id, (b.fitted -> 'means' ->> 0)::float8, b.judges_from, b.replaced_at
FROM score_stream s JOIN score_stream f ON {_SAME_NAMES} JOIN baseline b ON b.stream_id = f.id
WHERE b.kind = 'floor' AND b.reason IS NOT NULL AND s.id = ANY(CAST(:streams AS int[]))
ORDER BY b.judges_from, b.id
"""  # noqa: S608  # constants
)
_READ_LAST_DROPS = text(
    """
SELECT stream_id, max(replaced_at) FROM baseline
WHERE stream_id = ANY(CAST(:streams AS int[])) AND reason IS NOT NULL AND kind <> 'floor'
  AND replaced_reason IS NOT NULL GROUP BY stream_id
"""
)
_LIST_HELD = text(
    f"""
SELECT b.id, {_KEY}
FROM score_stream s JOIN score_stream f ON {_SAME_NAMES} JOIN baseline b ON b.stream_id = f.id
WHERE b.id = ANY(CAST(:floors AS int[])) ORDER BY b.id, {_KEY}
"""  # noqa: S608  # constants
)
_LIST_NAMESAKES = text(
    f"SELECT f.id FROM score_stream s JOIN score_stream f ON {_SAME_NAMES} "  # noqa: S608  # constants
    "WHERE s.id = :stream ORDER BY f.id"
)
_END = text(
    """
UPDATE baseline SET replaced_at = :now, replaced_reason = :reason
WHERE id = ANY(CAST(:numbers AS int[])) AND replaced_at IS NULL
"""
)
_END_WEAK = text(
    """
UPDATE baseline SET replaced_at = :now
WHERE stream_id = ANY(CAST(:streams AS int[])) AND replaced_at IS NULL AND reason IS NULL
  AND kind IN ('floor', 'provisional')
"""
)
_SUPPLANT = text(
    """
UPDATE baseline SET replaced_at = :now
WHERE stream_id = ANY(CAST(:streams AS int[])) AND replaced_at IS NULL AND reason IS NOT NULL
  AND (kind = 'floor') = :is_floor
"""
)
_READ_CLOSED = text("SELECT closed_until FROM score_block_cursor WHERE id = 1")
MOST_BASELINES = 2000
MOST_NUMBER = 2**31 - 1
"""Of a baseline, as the column of its number is an int."""


class ShownBaseline(NamedTuple):
    """A baseline as people see it.

    Attributes:
        is_judging: the newest state of its stream is judged by it.
        replaced_at: since when it does not stand any more; None while it does.
        replaced_reason: of the person who dropped it.
    """

    stored: StoredBaseline
    stream: ScoreStream
    since: datetime
    until: datetime
    armed_at: datetime
    is_judging: bool
    replaced_at: datetime | None
    replaced_reason: str | None

    @property
    def is_floor(self) -> bool:
        """Whether it is a person's floor, which stands beside a baseline."""
        return self.stored.reason is not None and self.stored.baseline.kind.value == "floor"


class NamedStream(NamedTuple):
    """A stream with its number."""

    number: int
    stream: ScoreStream


class ChosenFloor(NamedTuple):
    """A person's floor: the number of its row, and the mean that scores should not be below."""

    number: int
    mean: float


def list_baselines(
    connection: Connection,
    *,
    app: str | None = None,
    number: int | None = None,
    with_past: bool = False,
    most: int = MOST_BASELINES,
) -> tuple[ShownBaseline, ...]:
    """Baselines, by stream; a person's first.

    Args:
        connection: of the caller's.
        app: of this one only.
        number: only this one, whether it stands or not if `with_past`.
        with_past: also those that do not stand any more.
        most: at most so many.
    """
    columns = {"app": app, "number": number, "with_past": with_past, "most": most}
    return tuple(_build(row) for row in connection.execute(_LIST, columns).mappings())


def find_streams(
    connection: Connection,
    *,
    app: str,
    environment: str | None,
    scorer: str | None,
    judge: str | None,
    since: datetime,
    until: datetime,
) -> tuple[NamedStream, ...]:
    """The streams of these names that have scores in the stretch, of versions that are shown.

    Of others only where their label is given.

    Args:
        connection: of the caller's.
        app: as it is stored.
        environment: only of this one; None: all.
        scorer: only this one: an instance's name means all its streams, a label those of a basis or options.
        judge: likewise; a label is of one model.
        since: whose blocks are looked at, from then on.
        until: and before that.
    """
    columns = {
        "app": app,
        "environment": environment,
        "since": since,
        "until": until,
        "first_day": since.date(),
        "last_day": until.date(),
    }
    rows = connection.execute(_FIND_STREAMS, columns).all()
    named = tuple(NamedStream(number, _name(key)) for number, *key in rows)
    found = tuple(
        one
        for one in named
        if scorer in {None, one.stream.scorer, scorer_label(one.stream.scorer, one.stream.version)}
        and judge in {None, one.stream.judge, _label_judge(one.stream)}
    )
    unshown = find_unshown(connection, [one.number for one in found], until=until)
    return tuple(one for one in found if one.number not in unshown or scorer not in {None, one.stream.scorer})


def list_held(connection: Connection, floors: Collection[int]) -> dict[int, tuple[ScoreStream, ...]]:
    """The streams that each floor of a person holds, by the number of the floor."""
    held: dict[int, tuple[ScoreStream, ...]] = {}
    for number, *key in connection.execute(_LIST_HELD, {"floors": list(floors)}):
        held[number] = (*held.get(number, ()), _name(key))
    return held


def read_floors(connection: Connection, streams: Collection[int]) -> dict[int, ChosenFloor]:
    """The person's floor of each stream that has one: set for it, or for one of the same names.

    So the floor of a scorer holds for its next version too.
    """
    rows = connection.execute(_READ_FLOORS, {"streams": list(streams)})
    return {stream: ChosenFloor(number, mean) for stream, number, mean in rows}


def read_floor_spans(connection: Connection, streams: Collection[int]) -> dict[int, tuple[FloorSpan, ...]]:
    """As `read_floors`, with those that do not hold any more, and from when to when each holds."""
    found: dict[int, tuple[FloorSpan, ...]] = {}
    for stream, mean, begins, ends in connection.execute(_READ_FLOOR_SPANS, {"streams": list(streams)}).all():
        span = FloorSpan(mean, number_block(begins), None if ends is None else number_block(ends))
        found[stream] = (*found.get(stream, ()), span)
    return found


def read_last_drops(connection: Connection, streams: Collection[int]) -> dict[int, int]:
    """The block from which what came by itself judges again, of streams whose chosen one was dropped."""
    rows = connection.execute(_READ_LAST_DROPS, {"streams": list(streams)}).all()
    return {stream: number_block(moment) for stream, moment in rows}


def list_namesakes(connection: Connection, stream: int) -> tuple[int, ...]:
    """The streams of the same basis that differ in version, model and epoch only, with itself."""
    return tuple(connection.execute(_LIST_NAMESAKES, {"stream": stream}).scalars())


def choose_baseline(connection: Connection, given: StoredBaseline, *, now: datetime) -> StoredBaseline:
    """Writes a person's baseline in the place of the one that stood, of a floor likewise.

    A floor holds until the block from which the next one does.
    """
    is_floor = given.baseline.kind.value == "floor"
    streams = list_namesakes(connection, given.stream) if is_floor else (given.stream,)
    end = block_at(given.judges_from) if is_floor else now
    connection.execute(_SUPPLANT, {"streams": list(streams), "is_floor": is_floor, "now": end})
    return write_baseline(connection, given, now=now)


def end_baselines(
    connection: Connection, numbers: Collection[int], *, reason: str | None, now: datetime
) -> None:
    """Marks baselines as gone; whoever drops one says why."""
    connection.execute(_END, {"numbers": list(numbers), "reason": reason, "now": now})


def end_weak(connection: Connection, streams: Collection[int], *, now: datetime) -> None:
    """Marks floors and provisional baselines that came by themselves as gone, so that they are made anew."""
    connection.execute(_END_WEAK, {"streams": list(streams), "now": now})


def read_closed_until(connection: Connection) -> datetime | None:
    """The first moment that is not closed yet; None before the first count."""
    found = connection.execute(_READ_CLOSED).scalar_one_or_none()
    return None if found is None else to_utc(found)


def _name(key: Sequence[Any]) -> ScoreStream:
    return ScoreStream(**dict(zip(STREAM_KEY, key, strict=True)))


def _label_judge(stream: ScoreStream) -> str:
    return judge_label(stream.judge, stream.fingerprint, stream.judge_epoch)


def _build(row: RowMapping) -> ShownBaseline:
    return ShownBaseline(
        stored=StoredBaseline(
            number=row["id"],
            stream=row["stream_id"],
            since=number_block(row["since"]),
            until=number_block(row["until"]),
            judges_from=number_block(row["judges_from"]),
            baseline=build_baseline(row["kind"], row["fitted"]),
            failed_share=row["failed_share"],
            reason=row["reason"],
        ),
        stream=ScoreStream(**{name: row[name] for name in STREAM_KEY}),
        since=to_utc(row["since"]),
        until=to_utc(row["until"]),
        armed_at=to_utc(row["armed_at"]),
        is_judging=bool(row["is_judging"]),
        replaced_at=None if row["replaced_at"] is None else to_utc(row["replaced_at"]),
        replaced_reason=row["replaced_reason"],
    )
