"""Whether judges agree with each other, and with what they themselves said before."""

from __future__ import annotations

from dashboards.expressions import PLACE, WINDOW, count_growth, read
from dashboards.limits import read_limit
from dashboards.panels import (
    BAD,
    COUNT,
    GOOD,
    MOMENT,
    NOTICE,
    PLAIN_NUMBER,
    SHARE,
    Frame,
    Panel,
    draw_lines,
    list_rows,
)
from dashboards.queries import PromQuery, SqlQuery
from dashboards.statements import AGREEMENT, CHECK_SET
from ragsonde.exposition.series import (
    JUDGE_AGREEMENT,
    JUDGE_DRIFT,
    JUDGE_DRIFT_STDERR,
    UNSCORED,
)

_JUDGE = 'judge=~"$judge"'
_WITH_EPOCHS = 'judge=~"(?:$judge)(?:[.][0-9]+)?"'
"""Of what answered: labels of scores count the models from the second on."""
_AGREE_LITTLE, _AGREE_WELL = 0.6, 0.8


def show_trust() -> tuple[Panel, ...]:
    """All of them."""
    return (_show_disagreement(), _list_agreement(), _show_drift(), _list_checks(), _show_errors())


def _show_disagreement() -> Panel:
    apart = f"1 - max by (judge, against, app, suspected) ({read(JUDGE_AGREEMENT, PLACE[0], _JUDGE)})"
    return draw_lines(
        Frame(
            number=401,
            title="Disagreement with the lexical judge",
            description="Share of contexts about whose relevance a judge and the lexical one differ, over "
            "the last hour. The level says little, a step says that one of them moved. Higher where an "
            "injection is suspected: a text talks the judge round, read those traces.",
            unit=SHARE,
            steps=((None, GOOD), (0.5, NOTICE)),
            maximum=1,
            no_value="No second judge has assessed the same traces within the hour",
        ),
        PromQuery(
            expression=apart,
            legend="{{judge}} against {{against}} {{app}} {{suspected}}",
        ),
    )


def _list_agreement() -> Panel:
    return list_rows(
        Frame(
            number=402,
            title="Agreement, judge by judge",
            description="Of the newest assessments in the time shown above: on how many contexts two judges "
            "say the same. A judge of kind `recorded` gives people's annotations, so its line is agreement "
            "with people; `ragsonde evaluate --against` gives kappa too. Below "
            f"{_AGREE_LITTLE:g}: trust neither alone; from {_AGREE_WELL:g} on they say the same.",
            unit=SHARE,
            steps=((None, BAD), (_AGREE_LITTLE, NOTICE), (_AGREE_WELL, GOOD)),
        ),
        SqlQuery(statement=AGREEMENT),
        columns={
            "judge": "Judge",
            "assessments": "Assessments",
            "against": "Against",
            "agreement": "Agreement",
            "contexts": "Contexts",
        },
        units={"Assessments": COUNT, "Contexts": COUNT},
    )


def _show_drift() -> Panel:
    limit, errors = read_limit("judge_drift"), read_limit("judge_drift_errors")
    drift = f"max by (judge, scorer) ({read(JUDGE_DRIFT, _JUDGE)})"
    error = f"max by (judge, scorer) ({read(JUDGE_DRIFT_STDERR, _JUDGE)})"
    return draw_lines(
        Frame(
            number=403,
            title="Drift on the check set",
            description="How far a judge's scores of the same recorded traces have moved since it first "
            f"gave them, up or down, and {errors:g} standard errors each way. Beyond both the errors and "
            f"{limit:g} the judge has moved, not your application, and an alert says so: do not act on its "
            "trend, pin its model or annotate anew.",
            unit=PLAIN_NUMBER,
            steps=((None, BAD), (-limit, GOOD), (limit, BAD)),
            decimals=3,
            no_value="No check set yet: `ragsonde check-set choose`",
        ),
        PromQuery(expression=drift, legend="{{judge}} {{scorer}}"),
        PromQuery(
            expression=f"{errors:g} * {error}", legend=f"{{{{judge}}}} {{{{scorer}}}}: +{errors:g} errors"
        ),
        PromQuery(
            expression=f"-{errors:g} * {error}", legend=f"{{{{judge}}}} {{{{scorer}}}}: -{errors:g} errors"
        ),
    )


def _list_checks() -> Panel:
    return list_rows(
        Frame(
            number=404,
            title="Check set",
            description="How many recorded traces are judged again each day, how many of their judgements of "
            "the last 30 days are done, and when the newest was. 0 traces: none were chosen yet, see "
            "`ragsonde check-set`. An old newest one: the judge is away or its budget is spent.",
            unit=COUNT,
            decimals=0,
        ),
        SqlQuery(statement=CHECK_SET),
        columns={
            "judge": "Judge",
            "traces": "Traces",
            "judged": "Judged",
            "without_score": "Without a score",
            "newest": "Newest",
        },
        units={"Newest": MOMENT},
    )


def _show_errors() -> Panel:
    return draw_lines(
        Frame(
            number=405,
            title="Scores that failed",
            description="Outcomes without a number because the judge failed, over the chosen time, by cause. "
            "They are in no mean: where they are many, the mean is of the easy traces. `ragsonde why` "
            "shows the reply of one.",
            unit=COUNT,
            steps=((None, GOOD), (1, NOTICE)),
        ),
        PromQuery(
            expression=count_growth(
                UNSCORED, _WITH_EPOCHS, 'status="error"', window=WINDOW, by=("judge", "cause")
            ),
            legend="{{judge}}: {{cause}}",
        ),
    )
