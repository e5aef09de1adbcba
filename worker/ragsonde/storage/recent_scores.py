"""The scores of the last while in one line a scorer: what the live table shows."""

from __future__ import annotations

from collections import defaultdict
from datetime import datetime
from typing import TYPE_CHECKING, Any

from sqlalchemy import and_, func, select

from ragsonde.storage.engine import translating_losses
from ragsonde.storage.tables import CURRENT_SCORE, TraceRow
from ragsonde.storage.trace_rows import to_utc
from ragsonde_schemas.errors import Cause
from ragsonde_schemas.value import Value

if TYPE_CHECKING:
    from sqlalchemy import Engine, Row, Select

_REVISION = ("trace_id", "app", "record_key", "revision", "day")


class ScoreSummary(Value):
    """What one scorer said of an app's traces in one environment, under one judge.

    Attributes:
        environment: '' where the traces name none.
        version: of the scores, with their basis: scores of different ones are never averaged.
        n: how many are scored.
        mean_raw: in 0..1; None where none is scored.
        mean_value: the same on the scorer's scale.
        unscored: how many are not, by cause.
        last_at: when the last of all these was stored.
    """

    app: str
    environment: str
    judge: str
    scorer: str
    version: str
    n: int
    mean_raw: float | None
    mean_value: float | None
    unscored: dict[Cause, int]
    last_at: datetime


def summarise_scores(engine: Engine, *, since: datetime, app: str | None = None) -> tuple[ScoreSummary, ...]:
    """A summary for each app, environment, judge, scorer and version with outcomes since then, in that order.

    Only scores that count: of the newest revision, under the active version.

    Raises:
        DatabaseLostError: Postgres is away.
    """
    query = _group_scores().where(CURRENT_SCORE.c.created_at >= since)
    if app is not None:
        query = query.where(CURRENT_SCORE.c.app == app)
    groups: dict[tuple[str, str, str, str, str], list[Row[Any]]] = defaultdict(list)
    with translating_losses(), engine.connect() as connection:
        for row in connection.execute(query):
            groups[row.app, row.environment, row.judge, row.scorer, row.version].append(row)
    return tuple(_summarise(rows) for _, rows in sorted(groups.items()))


def _group_scores() -> Select[Any]:
    """One row for each of these and cause; the scored ones have none."""
    score = CURRENT_SCORE.c
    group = (score.app, TraceRow.environment, score.judge, score.scorer, score.version, score.cause)
    same_revision = and_(*(score[name] == getattr(TraceRow, name) for name in _REVISION))
    query = select(
        *group,
        func.count().label("n"),
        func.avg(score.raw).label("mean_raw"),
        func.avg(score.value).label("mean_value"),
        func.max(score.created_at).label("last_at"),
    )
    return query.join_from(CURRENT_SCORE, TraceRow, same_revision).group_by(*group)


def _summarise(rows: list[Row[Any]]) -> ScoreSummary:
    first, scored = rows[0], next((row for row in rows if row.cause is None), None)
    return ScoreSummary(
        app=first.app,
        environment=first.environment,
        judge=first.judge,
        scorer=first.scorer,
        version=first.version,
        n=0 if scored is None else scored.n,
        mean_raw=None if scored is None else scored.mean_raw,
        mean_value=None if scored is None else scored.mean_value,
        unscored={Cause(row.cause): row.n for row in rows if row.cause is not None},
        last_at=to_utc(max(row.last_at for row in rows)),
    )
