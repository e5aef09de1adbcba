"""What judges cost, a day and a judge, as the evaluations tell."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Any

from pydantic import Field
from sqlalchemy import and_, func, select

from ragsonde.storage.engine import translating_losses
from ragsonde.storage.tables import AssessmentRow, CheckResultRow, CheckTraceRow, EvaluationRow
from ragsonde_schemas.evaluation import EvaluationState
from ragsonde_schemas.value import Value

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlalchemy import ColumnElement, Engine, Select
    from sqlalchemy.orm import QueryableAttribute

PART = timedelta(hours=6)
"""So much of a day is summed by one statement: tens of millions a day are summed before its timeout."""
LONGEST_WAIT = timedelta(days=2)
"""An evaluation that was born earlier has ended."""

_SUMS = (
    *("traces", "looked_at", "judged", "cached", "shed", "sampled_out"),
    *("calls", "tokens_in", "tokens_out", "cost_usd", "unpriced", "checks"),
)
_NEVER_LOOKED_AT = (EvaluationState.FILTERED.value, EvaluationState.NOT_EVALUABLE.value)


class DayCost(Value):
    """What one judge did on one day (UTC, by when the evaluations were born).

    Evaluations that a backfill added to traces of other days are in calls, tokens, cost and `unpriced` alone.

    Attributes:
        traces: all evaluations, so traces and revisions that came while the judge was configured; what the
            ledger counts.
        looked_at: evaluations that the judge might have judged: all but filtered ones and those without
            anything to judge.
        judged: those for which it was asked or scored, or verdicts were taken from an earlier trace.
        cached: of these, the latter.
        shed: left out because the budget was spent.
        sampled_out: left out by the rate.
        calls: to the provider, repairs included.
        tokens_in, tokens_out: as far as the provider told them.
        cost_usd: as far as prices are known.
        unpriced: evaluations with a call whose price is not known: they are not in `cost_usd`.
        checks: traces of the check set that were asked about: they are in calls, tokens, cost and `unpriced`
            and in nothing else.
        judged_by_app: parts of `judged`; '' is the unknown app.
    """

    day: date
    judge: str
    traces: int
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
    judged_by_app: dict[str, int] = Field(default_factory=dict)

    @property
    def effective_rate(self) -> float | None:
        """Judged over looked at; None where there was nothing."""
        return self.judged / self.looked_at if self.looked_at else None


def sum_costs(
    engine: Engine, *, day: date, judge: str | None = None, app: str | None = None
) -> tuple[DayCost, ...]:
    """One line a judge that did anything on a day (UTC), by name.

    Args:
        engine: of this process.
        day: by when evaluations were born.
        judge: only this one.
        app: only this one; '' is the unknown app.

    Raises:
        DatabaseLostError: Postgres is away.
    """
    lines: dict[str, dict[str, Any]] = {}
    since = datetime(day.year, day.month, day.day, tzinfo=UTC)
    until = since + timedelta(days=1)
    with translating_losses(), engine.connect() as connection:
        while since < until:
            for query in (_sum_evaluations(since, since + PART), _sum_cached(since, since + PART)):
                chosen = _restrict(query, EvaluationRow.judge, judge)
                for row in connection.execute(_restrict(chosen, EvaluationRow.app, app)).mappings():
                    _add(lines, row)
            since += PART
        checks = _restrict(_sum_checks(day), CheckResultRow.judge, judge)
        for row in connection.execute(_restrict(checks, CheckTraceRow.app, app)).mappings():
            _add(lines, row)
    return tuple(DayCost(day=day, judge=name, **line) for name, line in sorted(lines.items()))


def _add(lines: dict[str, dict[str, Any]], row: Mapping[Any, Any]) -> None:
    line = lines.setdefault(row["judge"], {**dict.fromkeys(_SUMS, 0), "judged_by_app": {}})
    for name in _SUMS:
        line[name] += row.get(name, 0)
    if judged := row.get("judged"):
        of_apps = line["judged_by_app"]
        of_apps[row["app"]] = of_apps.get(row["app"], 0) + judged


def _restrict(query: Select[Any], column: QueryableAttribute[str], value: str | None) -> Select[Any]:
    return query if value is None else query.where(column == value)


def _sum_evaluations(since: datetime, until: datetime) -> Select[Any]:
    row = EvaluationRow
    looked_at = row.state.not_in(_NEVER_LOOKED_AT)
    columns: list[ColumnElement[Any]] = [
        func.count().filter(~row.is_added).label("traces"),
        func.count().filter(looked_at, ~row.is_added).label("looked_at"),
        func.count().filter(looked_at, _is_known_judged(), ~row.is_added).label("judged"),
        func.count().filter(row.state == EvaluationState.SHED.value, ~row.is_added).label("shed"),
        func.count().filter(row.state == EvaluationState.SAMPLED_OUT.value).label("sampled_out"),
        *(_sum(row.calls, looked_at), _sum(row.tokens_in, looked_at), _sum(row.tokens_out, looked_at)),
        func.coalesce(func.sum(row.cost_usd).filter(looked_at), 0.0).label("cost_usd"),
        func.count().filter(looked_at, row.calls > 0, row.cost_usd.is_(None)).label("unpriced"),
    ]
    return (
        select(row.judge, row.app, *columns)
        .where(row.created_at >= since, row.created_at < until)
        .group_by(row.judge, row.app)
    )


def _sum_cached(since: datetime, until: datetime) -> Select[Any]:
    """Verdicts taken from earlier traces; as judged those that the evaluation alone does not tell as such.

    They are few beside all assessments, and have an index of their own.
    """
    row, assessment = EvaluationRow, AssessmentRow
    keys = ("trace_id", "app", "record_key", "revision", "day", "judge", "fingerprint")
    columns: list[ColumnElement[Any]] = [
        func.count().label("cached"),
        func.count().filter(~_is_known_judged()).label("judged"),
    ]
    return (
        select(row.judge, row.app, *columns)
        .join(assessment, and_(*(getattr(row, key) == getattr(assessment, key) for key in keys)))
        .where(
            assessment.is_cached,
            assessment.created_at >= since,
            assessment.created_at < until + LONGEST_WAIT,
            row.created_at >= since,
            row.created_at < until,
            ~row.is_added,
            row.state.not_in(_NEVER_LOOKED_AT),
        )
        .group_by(row.judge, row.app)
    )


def _is_known_judged() -> ColumnElement[bool]:
    return (func.coalesce(EvaluationRow.calls, 0) > 0) | (EvaluationRow.state == EvaluationState.SCORED.value)


def _sum_checks(day: date) -> Select[Any]:
    row = CheckResultRow
    columns: list[ColumnElement[Any]] = [
        func.count().label("checks"),
        *(_sum(row.calls), _sum(row.tokens_in), _sum(row.tokens_out)),
        func.coalesce(func.sum(row.cost_usd), 0.0).label("cost_usd"),
        func.count().filter(row.cost_usd.is_(None)).label("unpriced"),
    ]
    return (
        select(row.judge, *columns)
        .join(CheckTraceRow, CheckTraceRow.id == row.check_id)
        .where(row.day == day, row.calls > 0)
        .group_by(row.judge)
    )


def _sum(
    column: QueryableAttribute[int | None] | QueryableAttribute[int], *conditions: ColumnElement[bool]
) -> ColumnElement[Any]:
    total = func.sum(column)
    return func.coalesce(total.filter(*conditions) if conditions else total, 0).label(column.key)
