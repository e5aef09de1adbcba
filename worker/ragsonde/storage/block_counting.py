"""Counts a block anew, from the scores: order, repetition and the number of counters change nothing.

Nothing is counted up in place. All rows of the block's streams go and come in one transaction, which holds
the block for itself and looks at the scores only then: whoever counts last has seen the most.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from psycopg.errors import CheckViolation
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError

from ragsonde.storage.block_changes import note_change
from ragsonde.storage.block_tables import STREAM_KEY
from ragsonde.storage.engine import translating_losses
from ragsonde.storage.extraction_blocks import count_rules
from ragsonde.storage.jsonb import encode_json
from ragsonde.storage.locks import give_way_to_migrations, hold_job_lock, share_job_lock
from ragsonde.storage.partitions import ensure_day, is_missing_partition
from ragsonde.storage.strata import BAND_EDGES, name_stratum
from ragsonde_schemas.score_stream import BLOCK, OTHER, ScoreStream

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from collections.abc import Set as AbstractSet
    from datetime import datetime

    from sqlalchemy import Connection, Engine, RowMapping

_Result = TypeVar("_Result")

STREAMS_LOCK = "score_streams"
"""Shared by who counts; who drops streams holds it alone."""
_UNITS = 10**9
"""Sums are of whole billionths: those of floats would depend on the order of the rows."""

_OF_PLACES = """ AND ({table}.app, {table}.environment) IN (
    SELECT * FROM unnest(CAST(:apps AS text[]), CAST(:environments AS text[])))"""

# Days are named one by one, so that each table is read in one partition only. What is known of an evaluation
# is found once for all of its scores.
_COUNT = """
WITH judged AS MATERIALIZED (
    SELECT t.trace_id, t.app, t.record_key, t.revision, t.day, e.judge, e.fingerprint, t.environment, a.head,
        coalesce(a.is_truncated, false) AS is_truncated,
        (SELECT named.tag FROM unnest(CAST(:tags AS text[])) WITH ORDINALITY AS named(tag, place)
            WHERE named.tag = ANY(t.tags) ORDER BY place LIMIT 1) AS tag
    FROM trace t
    JOIN evaluation e USING (trace_id, app, record_key, revision, day)
    LEFT JOIN assessment a USING (trace_id, app, record_key, revision, day, judge, fingerprint)
    WHERE t.day = :day AND e.day = :day AND t.occurred_at >= :start AND t.occurred_at < :end
      AND e.state <> 'superseded'{places}
)
SELECT s.scorer, s.version, s.judge, coalesce(s.answered_fingerprint, s.fingerprint) AS fingerprint,
    s.judge_epoch, j.app, j.environment,
    CASE WHEN jsonb_typeof(s.details -> 'n_contexts') = 'number'
        THEN width_bucket((s.details ->> 'n_contexts')::numeric, CAST(:edges AS numeric[])) END AS band,
    j.head, j.is_truncated, j.tag,
    CASE WHEN s.status = 'scored' THEN ceil(s.raw * 100 - 1e-9)::int END AS bin,
    count(*) AS n, coalesce(sum(round(s.raw * :units)::bigint), 0)::bigint AS total,
    coalesce(sum(round(s.raw * s.raw * :units)::bigint), 0)::bigint AS squares
FROM judged j JOIN score s USING (trace_id, app, record_key, revision, day, judge, fingerprint)
WHERE s.day = :day AND s.status IN ('scored', 'error')
GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12
"""

_GIVEN = """json_to_recordset(CAST(:rows AS json)) AS r(
    scorer text, version text, judge text, fingerprint text, judge_epoch int, app text, environment text)"""
_KEY = ", ".join(STREAM_KEY)
_FIND_STREAMS = text(f"SELECT id, {_KEY} FROM score_stream JOIN {_GIVEN} USING ({_KEY})")  # noqa: S608
_ADD_STREAMS = text(
    f"""
INSERT INTO score_stream ({_KEY}, first_seen_at) SELECT {_KEY}, :now FROM {_GIVEN} ORDER BY {_KEY}
ON CONFLICT DO NOTHING
"""  # noqa: S608  # constants
)
_DELETE = """
DELETE FROM score_block b USING score_stream s
WHERE b.stream_id = s.id AND b.start = :start AND b.day = :day{places}
RETURNING b.stream_id, b.stratum, b.n, b.failed, b.bins, b.counts
"""
_INSERT = text(
    """
INSERT INTO score_block (
    stream_id, start, stratum, day, n, total, squares, failed, bins, counts, built_at)
SELECT stream_id, :start, stratum, :day, n, total, squares, failed, bins, counts, :now
FROM json_to_recordset(CAST(:rows AS json)) AS r(
    stream_id int, stratum text, n int, total float8, squares float8, failed int, bins smallint[],
    counts int[])
"""
)
_COMPARED = ("stream_id", "stratum", "n", "failed", "bins", "counts")
_SET = text("SELECT set_config('statement_timeout', :timeout, true)")


@dataclass(slots=True)
class Counts:
    """What one stream and stratum scored in a block; sums in billionths, of the histogram what is not 0."""

    total: int = 0
    squares: int = 0
    failed: int = 0
    bins: dict[int, int] = field(default_factory=dict)


def count_block(
    engine: Engine,
    start: datetime,
    *,
    places: AbstractSet[tuple[str, str]] | None,
    tags: Sequence[str],
    now: datetime,
    timeout_seconds: float = 120.0,
) -> int:
    """How many rows the block has now; those of places that are not named stay.

    Counted are scores of evaluations that are not superseded: so of the newest revision, live or backfilled.

    Args:
        engine: of this process.
        start: of the block.
        places: apps and their environments; None: all.
        tags: of the settings, the first one first.
        now: of the same clock as the stores'.
        timeout_seconds: of one statement.

    Raises:
        DatabaseLostError: nothing was changed, or it is not known; count again.
        GivenUpError: nothing was changed: a migration is under way, or it took too long.
    """

    def attempt() -> int:
        with translating_losses(), engine.begin() as connection:
            connection.execute(_SET, {"timeout": f"{timeout_seconds:.0f}s"})
            give_way_to_migrations(connection)
            # nothing is counted for a stream that is being dropped
            share_job_lock(connection, STREAMS_LOCK)
            hold_job_lock(connection, f"score_block {start.isoformat()}")
            return _count_within(connection, start, places=places, tags=tags, now=now)

    return _retrying_with_partition(engine, attempt, start=start)


def sum_rows(
    rows: Iterable[RowMapping | Mapping[str, Any]], *, has_tags: bool
) -> dict[tuple[ScoreStream, str], Counts]:
    """The counts by stream and stratum, of rows as the count's statement gives them.

    Args:
        rows: of one block; `bin` is None where the outcomes are errors.
        has_tags: the settings name some, so a trace that has none of them is of the others.
    """
    found: dict[tuple[tuple[Any, ...], str], Counts] = {}
    for row in rows:
        key = tuple(row[name] for name in STREAM_KEY)
        stratum = name_stratum(
            band=row["band"],
            head=row["head"],
            is_truncated=row["is_truncated"],
            tag=(row["tag"] or OTHER) if has_tags else None,
        )
        counts = found.setdefault((key, stratum), Counts())
        if row["bin"] is None:
            counts.failed += row["n"]
            continue
        # several heads may be of one stratum
        counts.bins[row["bin"]] = counts.bins.get(row["bin"], 0) + row["n"]
        counts.total += row["total"]
        counts.squares += row["squares"]
    # a value is costly to make: one a stream and not one a row
    streams = {key: ScoreStream(**dict(zip(STREAM_KEY, key, strict=True))) for key, _ in found}
    return {(streams[key], stratum): counts for (key, stratum), counts in found.items()}


def _count_within(
    connection: Connection,
    start: datetime,
    *,
    places: AbstractSet[tuple[str, str]] | None,
    tags: Sequence[str],
    now: datetime,
) -> int:
    ordered = sorted(places or ())
    columns: dict[str, Any] = {"start": start, "end": start + BLOCK, "day": start.date(), "now": now}
    if places is not None:
        columns |= {
            "apps": [app for app, _ in ordered],
            "environments": [environment for _, environment in ordered],
        }
    given = {**columns, "edges": list(BAND_EDGES), "tags": list(tags), "units": _UNITS}
    rows = connection.execute(text(_write(_COUNT, "t", places)), given).mappings().all()
    counted = sum_rows(rows, has_tags=bool(tags))
    numbers = _number_streams(connection, {stream for stream, _ in counted}, now=now)
    before = connection.execute(text(_write(_DELETE, "s", places)), columns).mappings().all()
    described = [_describe(numbers[stream], stratum, counts) for (stream, stratum), counts in counted.items()]
    if described:
        connection.execute(_INSERT, {**columns, "rows": encode_json(described)})
    count_rules(connection, columns, of_traces=_choose("t", places), of_rows=_choose("b", places))
    note_change(connection, start, streams=_find_changed(before, described))
    return len(described)


def _find_changed(
    before: Iterable[Mapping[str, Any] | RowMapping], after: Iterable[Mapping[str, Any]]
) -> set[int]:
    """The streams of which a row is other than it was, or new, or gone."""
    known, found = (
        {tuple(str(row[name]) for name in _COMPARED): int(row["stream_id"]) for row in rows}
        for rows in (before, after)
    )
    return {(known | found)[row] for row in known.keys() ^ found.keys()}


def _write(statement: str, table: str, places: AbstractSet[tuple[str, str]] | None) -> str:
    return statement.format(places=_choose(table, places))


def _choose(table: str, places: AbstractSet[tuple[str, str]] | None) -> str:
    return "" if places is None else _OF_PLACES.format(table=table)


def _number_streams(
    connection: Connection, streams: AbstractSet[ScoreStream], *, now: datetime
) -> dict[ScoreStream, int]:
    """The numbers of streams; new ones get theirs, which may be another counter's by the same time."""
    numbers = _find_streams(connection, streams)
    if missing := streams - numbers.keys():
        connection.execute(_ADD_STREAMS, {"rows": _encode_streams(missing), "now": now})
        numbers |= _find_streams(connection, missing)
    return numbers


def _find_streams(connection: Connection, streams: AbstractSet[ScoreStream]) -> dict[ScoreStream, int]:
    if not streams:
        return {}
    rows = connection.execute(_FIND_STREAMS, {"rows": _encode_streams(streams)})
    return {ScoreStream(**dict(zip(STREAM_KEY, key, strict=True))): number for number, *key in rows}


def _encode_streams(streams: AbstractSet[ScoreStream]) -> str:
    return encode_json([stream.model_dump() for stream in streams])


def _describe(number: int, stratum: str, counts: Counts) -> dict[str, Any]:
    bins = sorted(counts.bins)
    return {
        "stream_id": number,
        "stratum": stratum,
        "n": sum(counts.bins.values()),
        "total": counts.total / _UNITS,
        "squares": counts.squares / _UNITS,
        "failed": counts.failed,
        "bins": bins,
        "counts": [counts.bins[one] for one in bins],
    }


def _retrying_with_partition(engine: Engine, attempt: Callable[[], _Result], *, start: datetime) -> _Result:
    """The result of `attempt`, made once more where the block's day had no partition for its counts yet."""
    try:
        return attempt()
    except IntegrityError as error:
        if not isinstance(error.orig, CheckViolation) or not is_missing_partition(error.orig):
            raise
    # that of the other tables is for who stores traces to make
    ensure_day(engine, day=start.date(), tables=("score_block",))
    return attempt()
