"""`ragsonde cost`: what judges cost, and how soon a drop is seen at the rate that they judge."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ragsonde.cli.connection_options import DatabaseUrlOption, DataDirOption
from ragsonde.cli.connections import find_database_url
from ragsonde.cli.options import ConfigOption, OutputForm, OutputOption
from ragsonde.cli.schema_check import require_current_schema
from ragsonde.cli.terminal import make_console, make_table, show, write_json
from ragsonde.settings import read_settings
from ragsonde.storage.costs import sum_costs
from ragsonde.storage.engine import build_engine

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragsonde.storage.costs import DayCost

EXAMPLES = (
    ("ragsonde cost", "the last seven days, a line a day and judge"),
    ("ragsonde cost --days 30 --judge gpt --output json", "one judge's month, for scripts"),
)

TRACES_TO_SEE = {0.05: 4_600, 0.10: 1_000, 0.20: 160}
"""Judged traces after which a drop of the mean is seen, in the median of simulated streams of scores with the
variance of real ones, at about one false alarm a year: about 5 / (drop - .02)^2."""

_HEADINGS = ("day", "judge", "traces", "judged", "share", "shed", "calls", "tokens in", "out", "usd")


def cost(
    *,
    days: Annotated[int, typer.Option(min=1, max=400, help="So many days, today included.")] = 7,
    judge: Annotated[str | None, typer.Option(help="Only this judge.")] = None,
    config: ConfigOption = None,
    database_url: DatabaseUrlOption = None,
    data_dir: DataDirOption = None,
    output: OutputOption = OutputForm.TABLE,
) -> None:
    """Say what judges cost a day: calls, tokens, money, share judged, how soon a drop is seen."""
    settings = read_settings(config, options={"database_url": database_url, "data_dir": data_dir})
    url = find_database_url(settings)
    require_current_schema(url)
    today = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    engine = build_engine(url, application_name="ragsonde-cost", pool_size=1)
    try:
        costs = sum_costs(engine, since=today - timedelta(days=days - 1), judge=judge)
    finally:
        engine.dispose()
    if output is OutputForm.JSON:
        write_json([_describe(line) for line in costs])
    else:
        _print_table(costs, days=days)


def estimate_days(costs: Sequence[DayCost], *, drop: float, days: int) -> float | None:
    """After how many days a drop of the mean is seen, at the rate of these lines; None: never."""
    judged = sum(line.judged for line in costs)
    return TRACES_TO_SEE[drop] / (judged / days) if judged else None


def _describe(line: DayCost) -> dict[str, Any]:
    return {**line.model_dump(mode="json"), "effective_rate": line.effective_rate}


def _print_table(costs: Sequence[DayCost], *, days: int) -> None:
    console = make_console()
    if not costs:
        console.print(show(f"no judge looked at any trace in the last {days} days"))
        return
    table = make_table(*_HEADINGS, right=_HEADINGS[2:])
    for line in costs:
        table.add_row(*map(show, _list_cells(line)))
    console.print(table)
    for judge in sorted({line.judge for line in costs}):
        own = [line for line in costs if line.judge == judge]
        spans = [
            f"{drop:.2f} after {_show_span(estimate_days(own, drop=drop, days=len(own)))}"
            for drop in TRACES_TO_SEE
        ]
        console.print(show(f"{judge}: at this rate a drop of {', '.join(spans)} would be seen", "dim"))


def _list_cells(line: DayCost) -> tuple[str, ...]:
    rate = line.effective_rate
    return (
        line.day.isoformat(),
        line.judge,
        str(line.looked_at),
        f"{line.judged}" + (f" ({line.cached} cached)" if line.cached else ""),
        "-" if rate is None else f"{rate:.1%}",
        str(line.shed),
        str(line.calls),
        str(line.tokens_in),
        str(line.tokens_out),
        show_cost(line),
    )


def show_cost(line: DayCost) -> str:
    """The known sum, and how many evaluations are not in it as their price is not known."""
    if not line.unpriced:
        return f"{line.cost_usd:.4f}"
    known = f"{line.cost_usd:.4f} + " if line.cost_usd else ""
    return f"{known}{line.unpriced} of unknown price"


def _show_span(days: float | None) -> str:
    if days is None:
        return "never"
    return f"{days * 24:.1f} hours" if days < 1 else f"{days:.1f} days"
