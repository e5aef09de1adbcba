"""Where every trace went: counts that must add up."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import func, select

from ragsonde.storage.engine import translating_losses
from ragsonde.storage.tables import EvaluationRow, TraceRow
from ragsonde_schemas.evaluation import EvaluationState

if TYPE_CHECKING:
    from datetime import datetime

    from sqlalchemy import Engine, Select


def count_states(
    engine: Engine, *, since: datetime, app: str | None = None
) -> dict[tuple[str, EvaluationState], int]:
    """How many evaluations born since then stand in each state, by judge and state; none = not there.

    For each judge that was configured all the time, their sum is `count_revisions`: what a backfill added to
    a revision that was there already is not counted.

    Raises:
        DatabaseLostError: Postgres is away.
    """
    query = select_states(since=since, app=app)
    with translating_losses(), engine.connect() as connection:
        return {(judge, EvaluationState(state)): n for judge, state, n in connection.execute(query)}


def count_revisions(engine: Engine, *, since: datetime, app: str | None = None) -> int:
    """How many revisions were accepted since then.

    Raises:
        DatabaseLostError: Postgres is away.
    """
    with translating_losses(), engine.connect() as connection:
        return connection.execute(select_revisions(since=since, app=app)).scalar_one()


def select_states(*, since: datetime, app: str | None) -> Select[str, str, int]:
    """The query of `count_states`: judge, state, number."""
    query = (
        select(EvaluationRow.judge, EvaluationRow.state, func.count())
        .where(EvaluationRow.created_at >= since, ~EvaluationRow.is_added)
        .group_by(EvaluationRow.judge, EvaluationRow.state)
        .order_by(EvaluationRow.judge, EvaluationRow.state)
    )
    return query if app is None else query.where(EvaluationRow.app == app)


def select_revisions(*, since: datetime, app: str | None) -> Select[int]:
    """The query of `count_revisions`."""
    query = select(func.count()).select_from(TraceRow).where(TraceRow.admitted_at >= since)
    return query if app is None else query.where(TraceRow.app == app)
