"""The scores of the last while in one line a scorer: what the live table shows."""

from __future__ import annotations

from collections import defaultdict
from datetime import datetime
from typing import TYPE_CHECKING, Any

from sqlalchemy import func, select

from ragsonde.storage.engine import translating_losses
from ragsonde.storage.tables import CURRENT_SCORE
from ragsonde.storage.trace_rows import to_utc
from ragsonde_schemas.errors import Cause
from ragsonde_schemas.value import Value

if TYPE_CHECKING:
    from sqlalchemy import Engine, Row, Select


class ScoreSummary(Value):
    """What one scorer said of an app's traces under one judge.

    Attributes:
        n: how many are scored.
        mean_raw: in 0..1; None where none is scored.
        mean_value: the same on the scorer's scale.
        unscored: how many are not, by cause.
        last_at: when the last of all these was stored.
    """

    app: str
    judge: str
    scorer: str
    n: int
    mean_raw: float | None
    mean_value: float | None
    unscored: dict[Cause, int]
    last_at: datetime


def summarise_scores(engine: Engine, *, since: datetime, app: str | None = None) -> tuple[ScoreSummary, ...]:
    """A summary for each app, judge and scorer with outcomes stored since then, in that order.

    Only scores that count: of the newest revision, under the active version.

    Raises:
        DatabaseLostError: Postgres is away.
    """
    query = _group_scores().where(CURRENT_SCORE.c.created_at >= since)
    if app is not None:
        query = query.where(CURRENT_SCORE.c.app == app)
    groups: dict[tuple[str, str, str], list[Row[Any]]] = defaultdict(list)
    with translating_losses(), engine.connect() as connection:
        for row in connection.execute(query):
            groups[row.app, row.judge, row.scorer].append(row)
    return tuple(_summarise(*key, rows) for key, rows in sorted(groups.items()))


def _group_scores() -> Select[Any]:
    """One row for each app, judge, scorer and cause; the scored ones have none."""
    score = CURRENT_SCORE.c
    group = (score.app, score.judge, score.scorer, score.cause)
    return select(
        *group,
        func.count().label("n"),
        func.avg(score.raw).label("mean_raw"),
        func.avg(score.value).label("mean_value"),
        func.max(score.created_at).label("last_at"),
    ).group_by(*group)


def _summarise(app: str, judge: str, scorer: str, rows: list[Row[Any]]) -> ScoreSummary:
    scored = next((row for row in rows if row.cause is None), None)
    return ScoreSummary(
        app=app,
        judge=judge,
        scorer=scorer,
        n=0 if scored is None else scored.n,
        mean_raw=None if scored is None else scored.mean_raw,
        mean_value=None if scored is None else scored.mean_value,
        unscored={Cause(row.cause): row.n for row in rows if row.cause is not None},
        last_at=to_utc(max(row.last_at for row in rows)),
    )
