"""What is new in the last day: releases, judges, models, extraction rules and versions of scorers."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from ragsonde.storage.day_samples import SAMPLED, plan_samples
from ragsonde.storage.trace_rows import to_utc
from ragsonde.storage.watched_live import (
    LIVE_EVALUATION,
    OCCURRED,
    OF_BACKFILL,
    OF_PLACE,
    Stretch,
    fetch,
    look_back,
    reading_days,
)
from ragsonde_schemas.stream_labels import judge_label
from ragsonde_schemas.watched_alert import Change, ChangeKind

if TYPE_CHECKING:
    from datetime import datetime

    from psycopg import Connection
    from psycopg.rows import TupleRow
    from sqlalchemy import Engine

    from ragsonde_schemas.watched import Place

NEW = timedelta(days=1)
BEFORE = timedelta(days=7)
MOST_CHANGES = 20
_RECENT_BLOCKS = 64
_EARLIER_BLOCKS = 24
"""Of a day and table: what is in use is in them, but for what is very rare."""

_KEY = "trace_id, app, record_key, revision, day"
_OF_TRACES = f"""
WITH seen AS (
    SELECT t.release, t.occurred_at, t.extraction FROM trace t {SAMPLED}
    WHERE t.day = %(day)s AND {OCCURRED} AND {OF_PLACE}
)
SELECT 'release' AS kind, release AS name, '' AS fingerprint, min(occurred_at) AS since
FROM seen WHERE release <> '' GROUP BY release
UNION ALL
SELECT 'rule', f.key || ' by ' || (f.value ->> 'rule'), '', min(occurred_at)
FROM seen, jsonb_each(seen.extraction -> 'fields') AS f GROUP BY 2
"""  # noqa: S608  # constants
_OF_JUDGES = f"""
SELECT 'judge' AS kind, e.judge AS name, e.fingerprint, min(t.occurred_at) AS since
FROM evaluation e {SAMPLED} {OF_BACKFILL} JOIN trace t USING ({_KEY})
WHERE e.day = %(day)s AND {OCCURRED} AND {OF_PLACE} AND {LIVE_EVALUATION}
GROUP BY e.judge, e.fingerprint
"""  # noqa: S608  # constants
_MODELS = """
SELECT judge, fingerprint, epoch, answered_model, first_since AS since FROM judge_epoch
WHERE first_since >= %(since)s AND epoch > 1 ORDER BY first_since DESC LIMIT 20
"""
_VERSIONS = """
SELECT scorer, version, changed_at AS since FROM scorer_version
WHERE changed_at >= %(since)s AND is_active ORDER BY changed_at DESC LIMIT 20
"""


def find_changes(engine: Engine, place: Place | None, *, now: datetime) -> tuple[Change, ...]:
    """What was first seen within the last day and not in the week before it, the newest first.

    Of days with very many traces a part is looked at. Where the week before has nothing, all would be new:
    then nothing is named.

    Raises:
        DatabaseLostError: Postgres is away.
    """
    recent = look_back(now, NEW)
    earlier = Stretch(recent.since - BEFORE, recent.since)
    with reading_days(engine) as connection:
        before = {name for name, _ in _see(connection, place, earlier, most_blocks=_EARLIER_BLOCKS)}
        seen = _see(connection, place, recent, most_blocks=_RECENT_BLOCKS)
        settings = _read_settings(connection, recent)
    known = {kind for kind, _ in before}
    first: dict[tuple[ChangeKind, str], datetime] = {}
    for name, since in seen:
        if name not in before and name[0] in known:
            first[name] = min(since, first.get(name, since))
    found = [Change(kind=kind, name=name, since=since) for (kind, name), since in first.items()]
    return tuple(sorted([*found, *settings], key=lambda one: one.since, reverse=True)[:MOST_CHANGES])


def _see(
    connection: Connection[TupleRow], place: Place | None, stretch: Stretch, *, most_blocks: int
) -> list[tuple[tuple[ChangeKind, str], datetime]]:
    rows: list[dict[str, Any]] = []
    for table, statement in (("trace", _OF_TRACES), ("evaluation", _OF_JUDGES)):
        for one in plan_samples(connection, table, stretch.days, most_blocks=most_blocks):
            bound = {**stretch.bind(place), "day": one.day, "percent": one.percent}
            rows += fetch(connection, statement, bound)
    return [
        ((ChangeKind(row["kind"]), judge_label(row["name"], row["fingerprint"])), to_utc(row["since"]))
        for row in rows
    ]


def _read_settings(connection: Connection[TupleRow], stretch: Stretch) -> list[Change]:
    """What is of all places: models that answer for a judge, versions of scorers that count."""
    bound = stretch.bind()
    models = [
        Change(
            kind=ChangeKind.MODEL,
            name=f"{judge_label(row['judge'], row['fingerprint'], row['epoch'])}: {row['answered_model']}",
            since=to_utc(row["since"]),
        )
        for row in fetch(connection, _MODELS, bound)
    ]
    versions = [
        Change(kind=ChangeKind.VERSION, name=f"{row['scorer']} {row['version']}", since=to_utc(row["since"]))
        for row in fetch(connection, _VERSIONS, bound)
    ]
    return models + versions
