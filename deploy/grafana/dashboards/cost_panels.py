"""What judges cost, how much of it is allowed, and how many traces that buys."""

from __future__ import annotations

from dashboards.expressions import PLACE, STEP, count_growth, read
from dashboards.panels import (
    BAD,
    COUNT,
    DOLLARS,
    GOOD,
    HALF,
    NOTICE,
    SHARE,
    Frame,
    Panel,
    draw_lines,
    list_rows,
    measure_named,
)
from dashboards.queries import PromQuery, SqlQuery
from dashboards.statements import COST_TODAY
from ragsonde.exposition.series import (
    JUDGE_BUDGET_RATIO,
    JUDGE_COST,
    JUDGE_COST_UNKNOWN,
    JUDGE_SAMPLE_RATE,
    LEDGER_EVALUATIONS,
)

_DAY_SECONDS = 86_400
_JUDGE = 'judge=~"$judge"'
_OF_DAY = 'period="day"'
_IS_JUDGED = 'state=~"scored|failed"'
_MIGHT_BE_JUDGED = 'state!~"filtered|not_evaluable|superseded"'


def show_costs() -> tuple[Panel, ...]:
    """All of them."""
    return (_list_today(), _show_budget(), _show_spending(), _show_rates())


def _list_today() -> Panel:
    return list_rows(
        Frame(
            number=301,
            title="Today, and where it is going",
            description="What each judge has spent since midnight (UTC), whenever the traces came, and "
            "what the whole day will cost at this pace. Above the budget: the rate falls by itself and "
            "the rest is shed; lower `sample` to choose what is left out. What has no price is in no sum: "
            "name it.",
            unit=DOLLARS,
            decimals=2,
            width=HALF,
        ),
        SqlQuery(statement=COST_TODAY),
        columns={
            "judge": "Judge",
            "calls": "Calls",
            "spent_usd": "Spent",
            "projected_usd": "Projected",
            "unpriced": "Without a price",
        },
        units={"Calls": COUNT, "Without a price": COUNT},
    )


def _show_budget() -> Panel:
    spent = f"max by (judge, period) ({read(JUDGE_BUDGET_RATIO, _JUDGE)})"
    of_day = f"max by (judge) ({read(JUDGE_BUDGET_RATIO, _JUDGE, _OF_DAY)})"
    # in its first hour a day tells nothing yet
    over = f"scalar(clamp_min(vector(time() % {_DAY_SECONDS} / {_DAY_SECONDS}), 1 / 24))"
    projected = f"{of_day} / {over}"
    return draw_lines(
        Frame(
            number=302,
            title="Spent of the budget",
            description="Spent and reserved over what is allowed in the present hour or day (UTC), and where "
            "the day ends at this pace. From .8 on a warning, at 1 the rest is shed until the period is "
            "over: lower `sample` before. A judge without a budget has no line.",
            unit=SHARE,
            steps=((None, GOOD), (0.8, NOTICE), (1, BAD)),
            no_value="No judge has a budget",
        ),
        PromQuery(expression=spent, legend="{{judge}}: {{period}}"),
        PromQuery(expression=projected, legend="{{judge}}: whole day, projected"),
    )


def _show_spending() -> Panel:
    panel = draw_lines(
        Frame(
            number=303,
            title="Spending",
            description="Dollars per interval, and calls whose price is not known (counted, not priced). A "
            "step without more traffic: another model, longer contexts, or repairs.",
            unit=DOLLARS,
        ),
        PromQuery(
            expression=count_growth(JUDGE_COST, _JUDGE, window=STEP, by=("judge",)), legend="{{judge}}"
        ),
        PromQuery(
            expression=count_growth(JUDGE_COST_UNKNOWN, _JUDGE, window=STEP, by=("judge",)),
            legend="{{judge}}: calls without a price",
        ),
    )
    return measure_named(panel, "/calls without a price$/", COUNT)


def _show_rates() -> Panel:
    judged = f"sum by (judge) (max by (judge, state) ({read(LEDGER_EVALUATIONS, _IS_JUDGED)}))"
    seen = f"sum by (judge) (max by (judge, state) ({read(LEDGER_EVALUATIONS, _MIGHT_BE_JUDGED)}))"
    effective = f'label_replace({judged} / ({seen} > 0), "app", "in fact", "", "")'
    in_force = f"max by (judge, app) ({read(JUDGE_SAMPLE_RATE, PLACE[0], _JUDGE)})"
    return draw_lines(
        Frame(
            number=304,
            title="Effective rate",
            description="In fact: the share of the last 24 hours' traces that a judge has judged, of those "
            "that it might have. Beside it the rate in force for each application, where one is written. "
            "Lower than you configured: the budget, an outage or the queue holds it down.",
            unit=SHARE,
            maximum=1,
        ),
        PromQuery(expression=f"{effective} or {in_force}", legend="{{judge}}: {{app}}"),
    )
