"""What judges cost, a day and a judge, as the evaluations tell."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Any

from sqlalchemy import Integer, and_, case, cast, func, select

from ragsonde.storage.engine import translating_losses
from ragsonde.storage.tables import AssessmentRow, CheckResultRow, EvaluationRow
from ragsonde_schemas.evaluation import EvaluationState
from ragsonde_schemas.value import Value

if TYPE_CHECKING:
    from datetime import datetime

    from sqlalchemy import ColumnElement, Engine, Select
    from sqlalchemy.orm import QueryableAttribute

_KEY = ("day", "judge")
_OF_TRACES = ("looked_at", "judged", "cached", "shed", "sampled_out")


class DayCost(Value):
    """What one judge did on one day (UTC, by when the evaluations were born).

    Attributes:
        looked_at: evaluations that the judge might have judged: all but filtered ones and those without
            anything to judge.
        judged: those for which it was asked, or verdicts were taken from an earlier trace.
        cached: of these, the latter.
        shed: left out because the budget was spent.
        sampled_out: left out by the rate.
        calls: to the provider, repairs included.
        tokens_in, tokens_out: as far as the provider told them.
        cost_usd: as far as prices are known.
        unpriced: evaluations with a call whose price is not known: they are not in `cost_usd`.
        checks: traces of the check set that were asked about: they are in calls, tokens, cost and `unpriced`
            and in nothing else.
    """

    day: date
    judge: str
    looked_at: int
    judged: int
    cached: int
    shed: int
    sampled_out: int
    calls: int
    tokens_in: int
    tokens_out: int
    cost_usd: float
    unpriced: int
    checks: int = 0

    @property
    def effective_rate(self) -> float | None:
        """Judged over looked at; None where there was nothing."""
        return self.judged / self.looked_at if self.looked_at else None


def sum_costs(engine: Engine, *, since: datetime, judge: str | None = None) -> tuple[DayCost, ...]:
    """One line a day and judge, oldest first.

    Args:
        engine: of this process.
        since: evaluations born from then on.
        judge: only this one.

    Raises:
        DatabaseLostError: Postgres is away.
    """
    evaluation, assessment = EvaluationRow, AssessmentRow
    keys = ("trace_id", "app", "record_key", "revision", "day", "judge", "fingerprint")
    is_cached = and_(assessment.is_cached.is_(True), assessment.judge.is_not(None))
    was_asked = evaluation.calls > 0
    day = func.date(func.timezone("UTC", evaluation.created_at))
    query = (
        select(
            day.label("day"),
            evaluation.judge,
            func.count().label("looked_at"),
            _count(was_asked | is_cached).label("judged"),
            _count(is_cached).label("cached"),
            _count(evaluation.state == EvaluationState.SHED.value).label("shed"),
            _count(evaluation.state == EvaluationState.SAMPLED_OUT.value).label("sampled_out"),
            _sum(evaluation.calls).label("calls"),
            _sum(evaluation.tokens_in).label("tokens_in"),
            _sum(evaluation.tokens_out).label("tokens_out"),
            func.coalesce(func.sum(evaluation.cost_usd), 0.0).label("cost_usd"),
            _count(was_asked & evaluation.cost_usd.is_(None)).label("unpriced"),
        )
        .select_from(evaluation)
        .outerjoin(assessment, and_(*(getattr(evaluation, key) == getattr(assessment, key) for key in keys)))
        .where(
            evaluation.created_at >= since,
            evaluation.state.not_in([EvaluationState.FILTERED.value, EvaluationState.NOT_EVALUABLE.value]),
        )
        .group_by(day, evaluation.judge)
        .order_by(day, evaluation.judge)
    )
    checks = _sum_checks().where(CheckResultRow.day >= since.date())
    if judge is not None:
        query = query.where(evaluation.judge == judge)
        checks = checks.where(CheckResultRow.judge == judge)
    with translating_losses(), engine.connect() as connection:
        lines = {(row["day"], row["judge"]): dict(row) for row in connection.execute(query).mappings()}
        for row in connection.execute(checks).mappings():
            line = lines.setdefault((row["day"], row["judge"]), dict.fromkeys(_OF_TRACES, 0))
            lines[row["day"], row["judge"]] = {
                **line,
                **{name: value + line.get(name, 0) for name, value in row.items() if name not in _KEY},
                **{name: row[name] for name in _KEY},
            }
    return tuple(DayCost(**line) for _, line in sorted(lines.items()))


def _sum_checks() -> Select[Any]:
    row = CheckResultRow
    sums: list[ColumnElement[Any]] = [
        func.count().label("checks"),
        _sum(row.calls).label("calls"),
        _sum(row.tokens_in).label("tokens_in"),
        _sum(row.tokens_out).label("tokens_out"),
        func.coalesce(func.sum(row.cost_usd), 0.0).label("cost_usd"),
        _count(row.cost_usd.is_(None)).label("unpriced"),
    ]
    key = (row.day, row.judge)
    return select(*key, *sums).where(row.calls > 0).group_by(*key)


def _count(condition: ColumnElement[bool]) -> ColumnElement[int]:
    return cast(func.coalesce(func.sum(case((condition, 1), else_=0)), 0), Integer)


def _sum(column: QueryableAttribute[int | None]) -> ColumnElement[int]:
    return func.coalesce(func.sum(column), 0)
