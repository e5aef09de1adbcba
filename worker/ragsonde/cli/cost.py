"""`ragsonde cost`: what judges cost, and how soon a drop is seen at the rate that they judge."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, time, timedelta
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ragsonde.cli.connection_options import DatabaseUrlOption, DataDirOption
from ragsonde.cli.meant_evaluations import refuse_unknown_app, refuse_unknown_judge
from ragsonde.cli.moments import MOMENT_HELP, reading_of
from ragsonde.cli.options import ConfigOption, OutputForm, OutputOption
from ragsonde.cli.schema_check import open_database
from ragsonde.cli.terminal import make_console, make_table, show, track, write_json
from ragsonde.settings import read_settings
from ragsonde.storage.costs import sum_costs
from ragsonde.storage.reservations import begin_period
from ragsonde.storage.spending import read_spent
from ragsonde_schemas.app_name import read_app, show_app
from ragsonde_schemas.errors import InputError
from ragsonde_schemas.spending import PERIOD_SPANS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragsonde.storage.costs import DayCost
    from ragsonde_schemas.spending import Limit, Spent

EXAMPLES = (
    ("ragsonde cost", "the last seven days, a line a day and judge"),
    ("ragsonde cost --app shop --judge gpt", "of one app alone"),
    ("ragsonde cost --days 30 --judge gpt --output json", "one judge's month, for scripts"),
)

TRACES_TO_SEE = {0.05: 4_600, 0.10: 1_000, 0.20: 160}
"""Judged traces after which a drop of the mean is seen, in the median of simulated streams of scores with the
variance of real ones, at about one false alarm a year: about 5 / (drop - .02)^2."""

FEWEST_TO_TELL = min(TRACES_TO_SEE.values())
"""With fewer judged not even the largest drop would have been seen, and their rate says little."""

SHOWN_APPS = 3
"""So many apps are told how soon a drop is seen in them: those with the most traces judged."""

_USUAL_DAYS = 7
_MOST_DAYS = 400

_HEADINGS = ("day", "judge", "judged traces", "of", "share", "shed", "calls", "tokens in", "out", "usd")


def cost(
    *,
    days: Annotated[
        int | None, typer.Option(min=1, max=_MOST_DAYS, help="So many days, today included; 7 without it.")
    ] = None,
    since: Annotated[
        datetime | None,
        typer.Option(
            parser=reading_of("--since"),
            metavar="WHEN",
            help=f"That day and all since, in place of --days: {MOMENT_HELP}.",
        ),
    ] = None,
    judge: Annotated[str | None, typer.Option(help="Only this judge.")] = None,
    app: Annotated[str | None, typer.Option(help="Only this app; `default` is the unknown one.")] = None,
    config: ConfigOption = None,
    database_url: DatabaseUrlOption = None,
    data_dir: DataDirOption = None,
    output: OutputOption = OutputForm.TABLE,
) -> None:
    """Say what judges cost a day: calls, tokens, money, share judged, budgets, how soon a drop is seen.

    "of" counts what the ledger does: every trace and revision stored that day while the judge was configured,
    also those without anything to judge.
    """
    settings = read_settings(config, options={"database_url": database_url, "data_dir": data_dir})
    now = datetime.now(UTC)
    shown_days = _choose_days(days, since=since, now=now)
    stored_app = None if app is None else read_app(app)
    with open_database(settings, command="cost") as engine:
        dates = [now.date() - timedelta(days=back) for back in reversed(range(shown_days))]
        costs = [
            line
            for day in track(dates, total=shown_days, description="summing days")
            for line in sum_costs(engine, day=day, judge=judge, app=stored_app)
        ]
        if not costs:
            refuse_unknown_judge(engine, judge, settings=settings)
            refuse_unknown_app(engine, stored_app)
        if output is OutputForm.JSON:
            write_json([_describe(line) for line in costs])
            return
        limits = [
            (one.name, limit)
            for one in settings.judges
            if one.budget is not None and judge in {None, one.name}
            for limit in one.budget.limits
        ]
        budgets = [
            sentence
            for name, limit in limits
            for sentence in tell_budget(
                name, limit, spent=read_spent(engine, name, period=limit.period, now=now), now=now
            )
        ]
    _print_table(costs, days=shown_days, now=now, budgets=budgets)


def _choose_days(days: int | None, *, since: datetime | None, now: datetime) -> int:
    if since is None:
        return days or _USUAL_DAYS
    if days is not None:
        raise InputError("--days and --since: expected one of them")
    chosen = (now.date() - since.date()).days + 1
    if not 1 <= chosen <= _MOST_DAYS:
        raise InputError(f"--since {since.date()}: expected today or one of the {_MOST_DAYS - 1} days before")
    return chosen


def tell_budget(judge: str, limit: Limit, *, spent: Spent, now: datetime) -> list[str]:
    """How much of a judge's limit is spent and held, and when it begins anew; a sentence for each unit.

    Args:
        judge: its name.
        limit: of one period.
        spent: in the present one.
        now: lies in it.
    """
    ends_at = begin_period(limit.period, now=now) + PERIOD_SPANS[limit.period]
    figures = (
        ("USD", limit.usd, spent.usd, spent.reserved_usd),
        ("calls", limit.calls, spent.calls, spent.reserved_calls),
        ("tokens", limit.tokens, spent.tokens, spent.reserved_tokens),
    )
    return [
        f"{judge}: {_show_amount(used)} of {_show_amount(most)} {unit} this {limit.period.value}"
        f"{f' ({used / most:.0%})' if most else ''}, {_show_amount(held)} held by evaluations that run; "
        f"begins anew {ends_at:%Y-%m-%d %H:%M} UTC"
        for unit, most, used, held in figures
        if most is not None
    ]


def _show_amount(amount: float) -> str:
    return f"{amount:,}" if isinstance(amount, int) else f"{amount:,.4f}".rstrip("0").rstrip(".")


def count_days(costs: Sequence[DayCost], *, now: datetime) -> float:
    """The days from the beginning of the first one (UTC) until now; today counts as far as it is over."""
    first = min(line.day for line in costs)
    return (now - datetime.combine(first, time(), tzinfo=UTC)) / timedelta(days=1)


def estimate_days(judged: int, *, drop: float, days: float) -> float | None:
    """After how many days a drop of the mean is seen where so many were judged in `days`; None: never."""
    return TRACES_TO_SEE[drop] * days / judged if judged else None


def _describe(line: DayCost) -> dict[str, Any]:
    return {**line.model_dump(mode="json"), "effective_rate": line.effective_rate}


def _print_table(costs: Sequence[DayCost], *, days: int, now: datetime, budgets: Sequence[str]) -> None:
    console = make_console()
    if costs:
        table = make_table(*_HEADINGS, right=_HEADINGS[2:])
        for line in costs:
            table.add_row(*map(show, _list_cells(line)))
        console.print(table)
    else:
        console.print(show(f"no judge looked at any trace in the last {days} days"))
    for sentence in budgets:
        console.print(show(f"budget of {sentence}"))
    for judge in sorted({line.judge for line in costs}):
        own = [line for line in costs if line.judge == judge]
        for sentence in tell_drops(own, days=count_days(own, now=now)):
            console.print(show(sentence, "dim"))


def tell_drops(costs: Sequence[DayCost], *, days: float) -> list[str]:
    """How soon a drop is seen, a sentence for each of the apps with the most traces judged.

    Args:
        costs: of one judge.
        days: in which they came about.
    """
    judge = costs[0].judge
    of_apps: Counter[str] = Counter()
    for line in costs:
        of_apps.update(line.judged_by_app)
    sentences = []
    for app, judged in of_apps.most_common(SHOWN_APPS):
        if judged < FEWEST_TO_TELL:
            sentences.append(
                f"{judge}, app {show_app(app)}: {judged} judged: too little traffic to tell how soon a drop "
                "would be seen"
            )
            continue
        spans = [
            f"{drop:.2f} after {_show_span(estimate_days(judged, drop=drop, days=days))}"
            for drop in TRACES_TO_SEE
        ]
        sentences.append(
            f"{judge}, app {show_app(app)}: at this rate a drop of {', '.join(spans)} would be seen; "
            "where it has several environments, later in each"
        )
    if len(of_apps) > SHOWN_APPS:
        sentences.append(
            f"{judge}: {len(of_apps) - SHOWN_APPS} more with fewer traces judged, so later: --app"
        )
    return sentences or [f"{judge}: judged nothing, so no drop would be seen"]


def _list_cells(line: DayCost) -> tuple[str, ...]:
    return (
        line.day.isoformat(),
        line.judge,
        f"{line.judged}" + (f" ({line.cached} cached)" if line.cached else ""),
        str(line.traces),
        f"{line.judged / line.traces:.1%}" if line.traces else "-",
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
