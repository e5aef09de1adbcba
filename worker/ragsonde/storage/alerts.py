"""Alerts: falls of scores that were told, each from its first warning to its end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import text

from ragsonde.regression.latching import ToldFall
from ragsonde.storage.baselines import number_block
from ragsonde.storage.jsonb import encode_json
from ragsonde_schemas.score_stream import block_at

if TYPE_CHECKING:
    from collections.abc import Collection
    from datetime import datetime

    from sqlalchemy import Connection

_READ = text(
    """
SELECT id, stream_id, opened_at, paged_at, closed_at, (explanation ->> 'drop')::float8 AS drop,
    false_at IS NOT NULL OR accepted_at IS NOT NULL AS is_usual FROM alert
WHERE stream_id = ANY(CAST(:streams AS int[])) AND (closed_at IS NULL OR closed_at > :since)
ORDER BY stream_id, opened_at, id
"""
)
_OPEN = text(
    """
INSERT INTO alert (
    stream_id, app, environment, kind, opened_at, paged_at, since, told_at, baseline_id, explanation)
SELECT id, app, environment, :kind, :at, CASE WHEN :kind = 'page' THEN CAST(:at AS timestamptz) END, :since,
    :now, :baseline, CAST(:explanation AS jsonb)
FROM score_stream WHERE id = :stream RETURNING id
"""
)
_ESCALATE = text(
    """
UPDATE alert SET kind = 'page', paged_at = :at, since = :since, baseline_id = :baseline,
    explanation = CAST(:explanation AS jsonb)
WHERE id = :alert AND paged_at IS NULL AND closed_at IS NULL RETURNING 1
"""
)
_RESOLVE = text(
    """
UPDATE alert SET kind = 'resolve', closed_at = :at,
    explanation = explanation || jsonb_build_object('recovery', CAST(:explanation AS jsonb))
WHERE id = :alert AND closed_at IS NULL
"""
)


class AlertFound(NamedTuple):
    """An alert as it stands in its table; `fall` says by which blocks."""

    number: int
    stream: int
    fall: ToldFall
    drop: float


class FoundFall(NamedTuple):
    """What is written of a fall.

    Attributes:
        block: at whose end it was raised.
        since: the block that it began with.
        baseline: the number of the one that it was judged by.
        explanation: as `watching.explanation` describes it.
    """

    block: int
    since: int
    baseline: int
    explanation: dict[str, Any]


def read_alerts(
    connection: Connection, streams: Collection[int], *, since: datetime
) -> dict[int, tuple[AlertFound, ...]]:
    """The alerts of streams that are open or were closed since then, by stream, the oldest first."""
    found: dict[int, tuple[AlertFound, ...]] = {}
    for row in connection.execute(_READ, {"streams": list(streams), "since": since}).mappings():
        opened, paged, closed = (
            None if row[name] is None else _find_ended(row[name])
            for name in ("opened_at", "paged_at", "closed_at")
        )
        fall = ToldFall(0 if opened is None else opened, paged=paged, closed=closed, is_usual=row["is_usual"])
        one = AlertFound(row["id"], row["stream_id"], fall, row["drop"])
        found[one.stream] = (*found.get(one.stream, ()), one)
    return found


def open_alert(connection: Connection, stream: int, fall: FoundFall, *, kind: str, now: datetime) -> int:
    """The number of a new alert of a stream, `warn` or `page`, written now."""
    columns = {**_list_columns(fall), "stream": stream, "kind": kind, "now": now}
    return int(connection.execute(_OPEN, columns).scalar_one())


def escalate_alert(connection: Connection, alert: int, fall: FoundFall) -> bool:
    """Makes an open warning a page; False where it is one already, or is closed: nothing was done."""
    return connection.execute(_ESCALATE, {**_list_columns(fall), "alert": alert}).scalar() is not None


def resolve_alert(connection: Connection, alert: int, *, block: int, explanation: dict[str, Any]) -> None:
    """Closes it by recovery; what is left of the fall is kept beside what was told of it."""
    columns = {"alert": alert, "at": block_at(block + 1), "explanation": encode_json(explanation)}
    connection.execute(_RESOLVE, columns)


def _list_columns(fall: FoundFall) -> dict[str, Any]:
    return {
        "at": block_at(fall.block + 1),
        "since": block_at(fall.since),
        "baseline": fall.baseline,
        "explanation": encode_json(fall.explanation),
    }


def _find_ended(moment: datetime) -> int:
    """The block that ended then, or the last one before."""
    return number_block(moment) - 1
