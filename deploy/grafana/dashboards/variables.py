"""What is chosen at the top of a dashboard."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from grafana_foundation_sdk.builders import dashboard
from grafana_foundation_sdk.models.dashboard import VariableOption, VariableRefresh, VariableSort

from dashboards.queries import POSTGRES, PROMETHEUS
from ragsonde.exposition.series import EVALUATIONS, SCORE

if TYPE_CHECKING:
    from ragsonde.exposition.declaration import Declaration

Variable: TypeAlias = (
    "dashboard.DatasourceVariable | dashboard.QueryVariable | dashboard.CustomVariable"
    " | dashboard.TextBoxVariable"
)

ALL = ".*"
"""Also what has no value at all: an app that tells no environment must not vanish."""


def choose_sources() -> tuple[Variable, Variable]:
    """The datasources, so that one dashboard serves several deployments."""
    return (
        dashboard.DatasourceVariable("prometheus").label("Prometheus").type(str(PROMETHEUS.type_val)),
        dashboard.DatasourceVariable("postgres").label("Postgres").type(str(POSTGRES.type_val)),
    )


def choose_place() -> tuple[Variable, Variable]:
    """Whose traces."""
    return (
        _choose_label("app", "Application", SCORE, part="_count"),
        _choose_label("environment", "Environment", SCORE, 'app=~"$app"', part="_count"),
    )


def choose_app() -> Variable:
    """Whose traces, all environments together."""
    return choose_place()[0]


def choose_stream() -> tuple[Variable, Variable]:
    """Which scores of them."""
    place = 'app=~"$app",environment=~"$environment"'
    return (
        _choose_label("scorer", "Scorer", SCORE, place, part="_count"),
        _choose_label("judge", "Judge", SCORE, place, part="_count"),
    )


def choose_one_judge() -> Variable:
    """Whose scores are looked at closely: those of two judges have no common mean."""
    place = 'app=~"$app",environment=~"$environment"'
    query = f"label_values({SCORE.full_name}_count{{{place}}}, judge)"
    return (
        dashboard.QueryVariable("one_judge")
        .label("Closely")
        .description("The judge of the rows of single scorers.")
        .datasource(PROMETHEUS)
        .query({"query": query, "refId": "variable-one_judge"})
        .refresh(VariableRefresh.ON_TIME_RANGE_CHANGED)
        .sort(VariableSort.ALPHABETICAL_ASC)
    )


def choose_judge() -> Variable:
    """Which judge, of all that are configured."""
    return _choose_label("judge", "Judge", EVALUATIONS)


def choose_window() -> Variable:
    """Over how much time a mean is taken."""
    return _choose_one(
        "window",
        "Over",
        {"15 minutes": "15m", "1 hour": "1h", "6 hours": "6h", "1 day": "1d"},
        chosen="1 hour",
        description="Each point is of so much time before it: longer is steadier, shorter is sooner.",
    )


def choose_below() -> Variable:
    """Below what a score is low: edges of the buckets just below the usual thresholds."""
    return _choose_one(
        "below",
        "Low is below",
        {"0.3": "0.2999", "0.5": "0.4999", "0.7": "0.6999", "0.9": "0.8999"},
        chosen="0.5",
        description="For scorers without a threshold of their own, and where scorers are compared.",
    )


def choose_page(address: str) -> Variable:
    """Where the page for people is."""
    return (
        dashboard.TextBoxVariable("page")
        .label("Page")
        .description("Address of the monitor's page, as your browser reaches it.")
        .default_value(address)
        .current(VariableOption(text=address, value=address))
    )


def _choose_label(name: str, label: str, series: Declaration, *matchers: str, part: str = "") -> Variable:
    of_series = f"{series.full_name}{part}{{{','.join(matchers)}}}"
    return (
        dashboard.QueryVariable(name)
        .label(label)
        .datasource(PROMETHEUS)
        .query({"query": f"label_values({of_series}, {name})", "refId": f"variable-{name}"})
        .refresh(VariableRefresh.ON_TIME_RANGE_CHANGED)
        .sort(VariableSort.ALPHABETICAL_ASC)
        .multi(True)
        .include_all(True)
        .all_value(ALL)
        .current(VariableOption(text="All", value="$__all"))
    )


def _choose_one(
    name: str, label: str, values: dict[str, str], *, chosen: str, description: str
) -> dashboard.CustomVariable:
    options = [
        VariableOption(text=text, value=value, selected=text == chosen) for text, value in values.items()
    ]
    return (
        dashboard.CustomVariable(name)
        .label(label)
        .description(description)
        .values(", ".join(f"{text} : {value}" for text, value in values.items()))
        .options(options)
        .current(VariableOption(text=chosen, value=values[chosen], selected=True))
    )
