"""Quality: are the answers' contexts as good as before, where not, and which traces show it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dashboards.changes import mark_changes, mark_falls
from dashboards.layout import Row, lay_out
from dashboards.panels import (
    BAD,
    COUNT,
    GOOD,
    HALF,
    LOW_HEIGHT,
    NARROW,
    NOTICE,
    PLAIN,
    PLAIN_NUMBER,
    SHARE,
    Frame,
    Panel,
    colour_named,
    draw_lines,
    show_numbers,
)
from dashboards.queries import PromQuery
from dashboards.regression_panels import show_falls
from dashboards.score_expressions import (
    average_scores,
    count_scores,
    share_below_own,
    share_empty,
    share_insufficient,
)
from dashboards.scorer_panels import list_worst, show_scorer
from dashboards.variables import (
    choose_below,
    choose_one_judge,
    choose_page,
    choose_place,
    choose_sources,
    choose_stream,
    choose_window,
)
from ragsonde.scoring.formula import Direction
from ragsonde.scoring.table import FORMULAS

if TYPE_CHECKING:
    from grafana_foundation_sdk.builders import dashboard

    from ragsonde.scoring.bands import Band

_PLACE = ("app", "environment")
_LEGEND = "{{scorer}} by {{judge}}"
_STREAM = ("scorer", "judge")
_HALF = 0.5


def build_quality(*, page: str) -> dashboard.Dashboard:
    """The dashboard that an alert about quality leads to first.

    Args:
        page: address of the monitor's page, where traces are shown.
    """
    return lay_out(
        uid="ragsonde-quality",
        title="ragsonde: Quality",
        description="Scores of the contexts that a RAG application retrieves. Vertical lines are changes of "
        "release, judge, scorer, configuration or extraction, red areas falls that were told: look at them "
        "first.",
        variables=(
            *choose_sources(),
            *choose_place(),
            *choose_stream(),
            choose_one_judge(),
            choose_window(),
            choose_below(),
            choose_page(page),
        ),
        annotations=(*mark_changes(), mark_falls()),
        rows=(
            Row(number=100, title="At a glance", panels=_show_now()),
            Row(number=500, title="Falls of scores", panels=show_falls()),
            Row(number=200, title="All scorers", panels=_compare_scorers()),
            Row(number=300, title="$scorer", panels=show_scorer(), repeat="scorer"),
            Row(number=400, title="The worst traces", panels=(list_worst(),)),
        ),
    )


def _colour_bands(bands: tuple[Band, ...]) -> tuple[tuple[float | None, str], ...]:
    """Red up to the middle band, green from the one above it on."""
    edges = sorted({band.lower for band in bands})
    middle = max(edge for edge in edges if edge < _HALF)
    good = min(edge for edge in edges if edge > middle)
    return ((None, BAD), (middle, NOTICE), (good, GOOD))


def _show_now() -> tuple[Panel, ...]:
    means = show_numbers(
        Frame(
            number=101,
            title="Mean score",
            description="The mean of each scorer over the chosen time, coloured by the scorer's own bands; "
            "blue ones have no better direction and are compared with their own past. When one turns "
            "orange or red: look at its row below for since when and which release, then at the worst "
            "traces.",
            unit=PLAIN_NUMBER,
            steps=((None, PLAIN),),
            width=HALF,
            height=LOW_HEIGHT,
            decimals=2,
        ),
        PromQuery(expression=average_scores(*_STREAM), legend=_LEGEND, is_instant=True),
    )
    for formula in FORMULAS:
        if formula.direction is not Direction.TARGET:
            means = colour_named(means, f"/^{formula.id}(?:[:@ ]|$)/", _colour_bands(formula.bands))
    return (
        means,
        show_numbers(
            Frame(
                number=102,
                title="Scored traces",
                description="How many scores the busiest scorer gave over the chosen time: what the figures "
                "beside rest on. At 0 nothing arrives or nothing can be scored: see the Pipeline dashboard.",
                unit=COUNT,
                steps=((None, NOTICE), (1, PLAIN)),
                width=NARROW // 2,
                height=LOW_HEIGHT,
                decimals=0,
            ),
            PromQuery(
                expression=f"max({count_scores(*_STREAM)}) or vector(0)", legend="scored", is_instant=True
            ),
        ),
        show_numbers(
            Frame(
                number=103,
                title="Contexts lack the answer",
                description="Share of assessed questions whose contexts do not suffice to answer, as the "
                "judge says. When it rises: something is missing from the index, or the retriever no longer "
                "finds it. Open the worst traces and read what is missing.",
                unit=SHARE,
                steps=((None, GOOD), (0.25, NOTICE), (0.5, BAD)),
                width=NARROW,
                height=LOW_HEIGHT,
                maximum=1,
            ),
            PromQuery(expression=share_insufficient("judge"), legend="{{judge}}", is_instant=True),
        ),
        show_numbers(
            Frame(
                number=104,
                title="Empty retrievals",
                description="Share of all stored traces whose retrieval returned nothing at all. They have "
                "no score, so no mean shows them. When it rises: index, filter or the connection to it is "
                "broken.",
                unit=SHARE,
                steps=((None, GOOD), (0.02, NOTICE), (0.1, BAD)),
                width=NARROW // 2,
                height=LOW_HEIGHT,
                maximum=1,
            ),
            PromQuery(expression=share_empty("app"), legend="{{app}}", is_instant=True),
        ),
    )


def _compare_scorers() -> tuple[Panel, ...]:
    return (
        draw_lines(
            Frame(
                number=201,
                title="Mean by scorer",
                description="The mean of each scorer over the chosen time. One falling alone tells what "
                "changed: position alone is ranking, all together is retrieval or judge. Compare with the "
                "vertical lines; what is good differs by scorer, see the colours above.",
                unit=PLAIN_NUMBER,
                maximum=1,
                decimals=2,
            ),
            PromQuery(expression=average_scores(*_STREAM), legend=_LEGEND),
        ),
        draw_lines(
            Frame(
                number=202,
                title="Share below threshold",
                description="Share of scores below the threshold of their scorer; of scorers without one, "
                "below the value chosen above. It moves before the mean where only some questions got "
                "worse. When it rises: open the worst traces of that scorer.",
                unit=SHARE,
                steps=((None, GOOD), (0.5, NOTICE)),
                maximum=1,
            ),
            PromQuery(expression=share_below_own(*_STREAM), legend=_LEGEND + " below {{threshold}}"),
        ),
        draw_lines(
            Frame(
                number=203,
                title="Questions whose contexts lack the answer",
                description="Share of assessed questions whose contexts do not suffice to answer, by place. "
                "When it rises with steady scores: questions about something new come in, and the index "
                "does not hold it.",
                unit=SHARE,
                steps=((None, GOOD), (0.25, NOTICE), (0.5, BAD)),
                maximum=1,
            ),
            PromQuery(
                expression=share_insufficient(*_PLACE, "judge"), legend="{{app}} {{environment}} by {{judge}}"
            ),
        ),
        draw_lines(
            Frame(
                number=204,
                title="Empty retrievals",
                description="Share of all stored traces whose retrieval returned nothing, or only blank "
                "contexts, by place and release. When it rises with a release: roll it back. Without one: "
                "look at the index and its filters.",
                unit=SHARE,
                steps=((None, GOOD), (0.02, NOTICE), (0.1, BAD)),
                maximum=1,
            ),
            PromQuery(
                expression=share_empty(*_PLACE, "release"), legend="{{app}} {{environment}} {{release}}"
            ),
        ),
    )
