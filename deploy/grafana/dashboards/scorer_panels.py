"""One scorer closely, and the traces with the lowest scores."""

from __future__ import annotations

from dashboards.expressions import STEP, count_growth
from dashboards.panels import (
    COUNT,
    FULL,
    GOOD,
    MOMENT,
    NOTICE,
    PLAIN,
    PLAIN_NUMBER,
    SHARE,
    TALL_HEIGHT,
    Frame,
    Panel,
    draw_band,
    draw_heatmap,
    draw_lines,
    list_rows,
)
from dashboards.queries import PromQuery, SqlQuery
from dashboards.score_expressions import (
    FEWEST,
    OF_ONE_JUDGE,
    average_scores,
    bound_mean,
    count_scores,
    share_below,
)
from dashboards.statements import WORST_TRACES
from ragsonde.exposition.series import SCORE

_TRACE_URL = "${page}/traces/${__data.fields.trace_id}"


def show_scorer() -> tuple[Panel, ...]:
    """A row that stands once for each chosen scorer."""
    releases = ("app", "environment", "release", "judge")
    stream = ("scorer", "judge")
    return (
        draw_band(
            Frame(
                number=301,
                title="$scorer by $one_judge: mean and interval",
                description="The mean over the chosen time, and the band in which it lies 95 times of 100 "
                f"by its own variance; no band below {FEWEST} scores. It says how much one point is worth, "
                "not whether something changed: of so many points some leave their band by chance alone. "
                "A wide band means few traces: choose a longer time. Of several apps together it moves "
                "with their traffic: choose one.",
                unit=PLAIN_NUMBER,
                maximum=1,
                decimals=2,
            ),
            middle=PromQuery(expression=average_scores(*stream, of=OF_ONE_JUDGE), legend="mean"),
            lower=PromQuery(expression=bound_mean("-", *stream, of=OF_ONE_JUDGE), legend="lower"),
            upper=PromQuery(expression=bound_mean("+", *stream, of=OF_ONE_JUDGE), legend="upper"),
        ),
        draw_heatmap(
            Frame(
                number=302,
                title="$scorer by $one_judge: distribution",
                description="How many scores fell where, over time; points are single traces and lead to "
                "them. A new dark stripe at the bottom is a group of questions that broke; a shift of "
                "the whole picture is the retriever or the judge.",
                unit=PLAIN_NUMBER,
            ),
            PromQuery(
                expression=count_growth(SCORE, *OF_ONE_JUDGE, window=STEP, by=("le",), part="_bucket"),
                legend="{{le}}",
                is_heatmap=True,
                has_exemplars=True,
            ),
        ),
        draw_lines(
            Frame(
                number=303,
                title="$scorer by $one_judge: share below $below",
                description="Share of scores below the value chosen above, by place. When it rises in one "
                "place only, what is special there (its index, its release) is the cause.",
                unit=SHARE,
                steps=((None, GOOD), (0.5, NOTICE)),
                maximum=1,
            ),
            PromQuery(
                expression=share_below("app", "environment", "judge", of=OF_ONE_JUDGE),
                legend="{{app}} {{environment}}",
            ),
        ),
        list_rows(
            Frame(
                number=304,
                title="$scorer: releases side by side",
                description="Each release over the chosen time, with the 95 % interval of its mean; none "
                f"below {FEWEST} scores. Whether two intervals overlap is no test: looked at again and "
                "again it finds a difference where there is none, in nearly half of all cases. A newer "
                "release that looks worse: read its worst traces, choose a longer time, and see whether "
                "it stays so.",
                unit=PLAIN_NUMBER,
                steps=((None, PLAIN),),
                decimals=2,
            ),
            PromQuery(expression=count_scores(*releases)),
            PromQuery(expression=average_scores(*releases)),
            PromQuery(expression=bound_mean("-", *releases)),
            PromQuery(expression=bound_mean("+", *releases)),
            columns={
                "app": "Application",
                "environment": "Environment",
                "release": "Release",
                "judge": "Judge",
                "Value #A": "Scores",
                "Value #B": "Mean",
                "Value #C": "From",
                "Value #D": "To",
            },
            units={"Scores": COUNT},
        ),
    )


def list_worst() -> Panel:
    """Fifty of them."""
    return list_rows(
        Frame(
            number=401,
            title="Worst traces",
            description="The traces with the lowest mean of the chosen scorers in the time shown above, and "
            "why the lowest one is low. A click opens the trace with each context, its verdicts and what "
            "to try. Look for what they have in common: subject, source, release.",
            unit=PLAIN_NUMBER,
            steps=((None, PLAIN),),
            width=FULL,
            height=TALL_HEIGHT,
            decimals=2,
        ),
        SqlQuery(statement=WORST_TRACES),
        columns={
            "trace_id": "Trace",
            "occurred_at": "Occurred",
            "app": "Application",
            "environment": "Environment",
            "release": "Release",
            "judge": "Judge",
            "mean_score": "Mean score",
            "scores": "Scores",
            "lowest": "Why",
        },
        units={"Occurred": MOMENT, "Scores": COUNT},
        links={"Trace": _TRACE_URL},
        widths={"Trace": 200, "Occurred": 190, "Mean score": 100, "Scores": 70},
    )
