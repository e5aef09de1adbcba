"""How it stands with each stream of scores, for people: fallen, suspected, held, arming or steady."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from sqlalchemy import text

from ragsonde.storage.arming_progress import read_arming
from ragsonde.storage.baselines import build_baseline
from ragsonde.storage.block_tables import STREAM_KEY
from ragsonde.storage.engine import translating_losses
from ragsonde.storage.trace_rows import to_utc
from ragsonde.storage.unshown_streams import find_tried
from ragsonde_schemas.score_stream import ScoreStream
from ragsonde_schemas.told_explanation import read_explanation
from ragsonde_schemas.watched_fall import Arming, FallWatch, StreamWatch, WaitsFor, WatchState

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from sqlalchemy import Engine, RowMapping

    from ragsonde.storage.arming_progress import Arming as StoredArming

ACTIVE = timedelta(days=1)
"""A stream that has scored nothing for so long is none that people look at, unless a fall of it is open."""

_READ = text(
    f"""
SELECT s.id, {", ".join(f"s.{name}" for name in STREAM_KEY)}, m.hold,
    m.baseline_id IS NOT NULL AS has_baseline, b.kind AS baseline_kind, b.fitted, a.id AS fall,
    a.kind AS fall_kind, a.since, a.acked_at, a.explanation,
    (SELECT min(judges_from) FROM baseline j WHERE j.stream_id = s.id) AS judged_since, ended.at AS fell_until
FROM score_stream s
LEFT JOIN LATERAL (
    SELECT hold, baseline_id FROM monitor_state x WHERE x.stream_id = s.id ORDER BY day DESC LIMIT 1
) m ON true
LEFT JOIN baseline b ON b.id = m.baseline_id
LEFT JOIN alert a ON a.stream_id = s.id AND a.closed_at IS NULL
LEFT JOIN (SELECT stream_id, max(closed_at) AS at FROM alert WHERE false_at IS NULL GROUP BY stream_id) ended
    ON ended.stream_id = s.id
WHERE a.id IS NOT NULL OR EXISTS (SELECT FROM score_block k
    WHERE k.stream_id = s.id AND k.start >= :since AND k.day >= :first_day AND k.n > 0)
ORDER BY {", ".join(f"s.{name}" for name in STREAM_KEY)}
"""  # noqa: S608  # constants
)
_READ_PROGRESS = text("SELECT closed_until FROM score_block_cursor WHERE id = 1")


def read_fall_watch(engine: Engine, *, now: datetime) -> FallWatch:
    """How it stands with the streams that scored in the last day, and those of which a fall is open.

    A version that was only tried beside the one that is shown is none of them.

    Raises:
        DatabaseLostError: Postgres is away.
    """
    since = now - ACTIVE
    columns = {
        "since": since,
        "first_day": since.date(),
    }
    with translating_losses(), engine.connect() as connection:
        closed_until = connection.execute(_READ_PROGRESS).scalar()
        rows = connection.execute(_READ, columns).mappings().all()
        quiet = [row["id"] for row in rows if row["fall"] is None]
        tried = find_tried(connection, quiet, until=now)
    armings = {one.stream: one for one in read_arming(engine)}
    return FallWatch(
        judged_until=None if closed_until is None else to_utc(closed_until),
        streams=tuple(_build(row, armings=armings) for row in rows if row["id"] not in tried),
    )


def _build(row: RowMapping, *, armings: Mapping[ScoreStream, StoredArming]) -> StreamWatch:
    stream = ScoreStream(**{name: row[name] for name in STREAM_KEY})
    arming = armings.get(stream)
    baseline = build_baseline(row["baseline_kind"], row["fitted"]) if row["has_baseline"] else None
    smallest = None if baseline is None else baseline.smallest_visible_drop
    fall = {}
    if row["fall"] is not None:
        told = read_explanation(row["explanation"])
        fall = {
            "fall": row["fall"],
            "since": to_utc(row["since"]),
            "is_acked": row["acked_at"] is not None,
            **told.model_dump(include={"drop", "drop_lower", "drop_upper", "evidence_days"}),
        }
    return StreamWatch(
        stream=stream,
        state=_find_state(row, has_room=smallest is not None),
        hold=row["hold"],
        smallest_drop=smallest,
        baseline_kind=row["baseline_kind"],
        judged_since=_to_utc(row["judged_since"]) if row["has_baseline"] else None,
        fell_until=_to_utc(row["fell_until"]),
        arming=None if arming is None else _tell_arming(arming),
        **fall,
    )


def _find_state(row: RowMapping, *, has_room: bool) -> WatchState:
    if row["fall"] is not None:
        return WatchState.FELL if row["fall_kind"] == "page" else WatchState.SUSPECTED
    if not row["has_baseline"]:
        return WatchState.ARMING
    if row["hold"] is not None:
        return WatchState.HELD
    return WatchState.STEADY if has_room else WatchState.UNWATCHED


def _tell_arming(one: StoredArming) -> Arming:
    return Arming(
        share=one.share,
        traces=one.traces,
        needed=one.needed,
        since=one.since,
        waits_for=WaitsFor(one.waits_for.value),
    )


def _to_utc(moment: datetime | None) -> datetime | None:
    return None if moment is None else to_utc(moment)
