"""Judges: do they answer, what do they cost, and can they still be believed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dashboards.changes import mark_changes
from dashboards.cost_panels import show_costs
from dashboards.expressions import STEP, WINDOW, count_growth, divide, measure_quantile, read, total
from dashboards.layout import Row, lay_out
from dashboards.limits import read_limit
from dashboards.panels import (
    BAD,
    COUNT,
    GOOD,
    HALF,
    LOW_HEIGHT,
    NOTICE,
    SECONDS,
    SHARE,
    Frame,
    Panel,
    draw_lines,
    show_numbers,
)
from dashboards.queries import PromQuery
from dashboards.trust_panels import show_trust
from dashboards.variables import choose_judge, choose_place, choose_sources, choose_window
from ragsonde.exposition.series import (
    EVALUATIONS,
    JUDGE_CACHE,
    JUDGE_CALLS,
    JUDGE_CIRCUIT_OPEN,
    JUDGE_EPOCH,
    JUDGE_PAUSED,
    JUDGE_REPAIRS,
    JUDGE_SECONDS,
    JUDGE_TOKENS,
    STAGE_SECONDS,
)

if TYPE_CHECKING:
    from grafana_foundation_sdk.builders import dashboard

_JUDGE = 'judge=~"$judge"'
_MARKS = frozenset({"Judge or model changed", "Configuration changed"})


def build_judges() -> dashboard.Dashboard:
    """The dashboard that an alert about a judge leads to first."""
    return lay_out(
        uid="ragsonde-judges",
        title="ragsonde: Judges",
        description="Do the judges answer, what do they cost, and can they still be believed. A free judge "
        "calls nobody and costs nothing: it has 0 calls, and no line where a share of them is shown.",
        variables=(*choose_sources(), *choose_place(), choose_judge(), choose_window()),
        annotations=[mark for mark in mark_changes() if mark.build().name in _MARKS],
        rows=(
            Row(number=100, title="Do they answer?", panels=_show_state()),
            Row(number=200, title="Calls", panels=_show_calls()),
            Row(number=300, title="What do they cost?", panels=show_costs()),
            Row(number=400, title="Can they be believed?", panels=show_trust()),
        ),
    )


def _show_state() -> tuple[Panel, ...]:
    paused = f"max by (judge) ({read(JUDGE_PAUSED, _JUDGE)})"
    is_open = f"max by (judge) ({read(JUDGE_CIRCUIT_OPEN, _JUDGE)})"
    third = HALF * 2 // 3
    return (
        show_numbers(
            Frame(
                number=101,
                title="Paused until somebody acts",
                description="1 while a provider refuses a judge: key, model name or quota. Mend that; the "
                "judge tries again by itself, and what waits is judged then.",
                unit=COUNT,
                steps=((None, GOOD), (1, BAD)),
                width=third,
                height=LOW_HEIGHT,
                decimals=0,
            ),
            PromQuery(expression=paused, legend="{{judge}}", is_instant=True),
        ),
        show_numbers(
            Frame(
                number=102,
                title="Left alone after failures",
                description="1 while some worker leaves a provider alone because it does not answer. It ends "
                "by itself; long: look at the provider's own status, or give the judge a fallback.",
                unit=COUNT,
                steps=((None, GOOD), (1, NOTICE)),
                width=third,
                height=LOW_HEIGHT,
                decimals=0,
            ),
            PromQuery(expression=f"{is_open} or 0 * {paused}", legend="{{judge}}", is_instant=True),
        ),
        show_numbers(
            Frame(
                number=103,
                title="Model that answers",
                description="Counts the models that have answered for a judge. One more than before: the "
                "provider changed the model behind the name, and scores before and after do not compare.",
                unit=COUNT,
                width=third,
                height=LOW_HEIGHT,
                decimals=0,
            ),
            PromQuery(
                expression=f"max by (judge) ({read(JUDGE_EPOCH, _JUDGE)})",
                legend="{{judge}}",
                is_instant=True,
            ),
        ),
    )


def _show_calls() -> tuple[Panel, ...]:
    none = f"0 * {total(read(EVALUATIONS, _JUDGE), 'judge')}"
    calls = count_growth(JUDGE_CALLS, _JUDGE, window=STEP, by=("judge", "outcome"))
    wrong = count_growth(JUDGE_CALLS, _JUDGE, 'outcome!="ok"', window=WINDOW, by=("judge",))
    of_calls = count_growth(JUDGE_CALLS, _JUDGE, window=WINDOW, by=("judge",))
    hits = count_growth(JUDGE_CACHE, _JUDGE, 'result="hit"', window=WINDOW, by=("judge",))
    looks = count_growth(JUDGE_CACHE, _JUDGE, window=WINDOW, by=("judge",))
    # where a judge calls nobody the first is no number
    a_call = measure_quantile(0.95, JUDGE_SECONDS, _JUDGE, window=STEP, by=("judge",))
    whole = measure_quantile(0.95, STAGE_SECONDS, 'stage=~"judging.*"', window=STEP, by=("stage",))
    return (
        draw_lines(
            Frame(
                number=201,
                title="Calls by what became of them",
                description="Calls to providers per interval. judge_unavailable: an outage, tried again "
                "without loss. Invalid or truncated replies: the model no longer keeps to the form.",
                unit=COUNT,
            ),
            PromQuery(expression=f"{calls} or on (judge) {none}", legend="{{judge}} {{outcome}}"),
        ),
        draw_lines(
            Frame(
                number=202,
                title="Share of calls that failed",
                description="Of the calls over the chosen time, unanswered ones included. Some are normal "
                "and repaired; from the first line on an alert looks at replies that cannot be used, from "
                "the second at calls that nobody answers. A judge that made no call has no line: it is "
                "free, paused, left alone, or nothing came.",
                unit=SHARE,
                steps=(
                    (None, GOOD),
                    (read_limit("judge_error_share"), NOTICE),
                    (read_limit("judge_unavailable_share"), BAD),
                ),
                maximum=1,
                no_value="No call was made",
            ),
            PromQuery(expression=divide(wrong, of_calls), legend="{{judge}}"),
        ),
        draw_lines(
            Frame(
                number=203,
                title="Latency",
                description="The 95th percentile: of one call, by judge, and of the whole stage with its "
                "repairs and waits; the free judge is the fast line. When calls rise: the provider is slow, "
                "more threads keep the rate.",
                unit=SECONDS,
                steps=((None, GOOD), (20, NOTICE), (60, BAD)),
            ),
            PromQuery(expression=f"{a_call} >= 0 or {whole}", legend="{{judge}}{{stage}}"),
        ),
        draw_lines(
            Frame(
                number=204,
                title="Repairs",
                description="Calls per interval that asked again for a usable reply: each is paid for. When "
                "they rise, the model changed or contexts grew.",
                unit=COUNT,
            ),
            PromQuery(
                expression=count_growth(JUDGE_REPAIRS, _JUDGE, window=STEP, by=("judge",)),
                legend="{{judge}}",
            ),
        ),
        draw_lines(
            Frame(
                number=205,
                title="Tokens",
                description="Tokens per interval, sent (in) and received (out). When those sent rise with as "
                "many calls: contexts got longer or more.",
                unit=COUNT,
            ),
            PromQuery(
                expression=count_growth(JUDGE_TOKENS, _JUDGE, window=STEP, by=("judge", "direction")),
                legend="{{judge}} {{direction}}",
            ),
        ),
        draw_lines(
            Frame(
                number=206,
                title="Verdicts taken from earlier traces",
                description="Share of looks into the cache that saved a call, over the chosen time. When "
                "it falls to 0: content or fingerprint changed, so the same answers are paid for again. "
                "No line: nobody looked.",
                unit=SHARE,
                maximum=1,
                no_value="Nobody looked into the cache",
            ),
            PromQuery(expression=divide(hits, looks), legend="{{judge}}"),
        ),
    )
