"""`ragsonde ledger`: what must be true of everything stored, and where every trace went."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from ragsonde.cli.connection_options import DatabaseUrlOption, DataDirOption
from ragsonde.cli.failures import ExitCode
from ragsonde.cli.meant_evaluations import refuse_unknown_app
from ragsonde.cli.moments import MOMENT_HELP, read_moment
from ragsonde.cli.options import ConfigOption, OutputForm, OutputOption
from ragsonde.cli.program import name_command
from ragsonde.cli.schema_check import open_database
from ragsonde.cli.terminal import make_console, make_table, show, track, write_json
from ragsonde.settings import read_settings
from ragsonde.storage.ledger_reading import LedgerReader
from ragsonde_schemas.app_name import DEFAULT_APP, read_app
from ragsonde_schemas.evaluation import EvaluationState
from ragsonde_schemas.ledger import MEANINGS

if TYPE_CHECKING:
    from ragsonde.settings import Settings
    from ragsonde_schemas.ledger import InvariantCheck, Ledger

EXAMPLES = (
    ("ragsonde ledger", "of the last 24 hours"),
    ("ragsonde ledger --since 7d --app shop", "of one app's last week"),
    ("ragsonde ledger --output json", "for scripts; exit code 1 when something does not hold"),
)


def ledger(
    *,
    since: Annotated[
        str, typer.Option(metavar="WHEN", help=f"What was stored since then: {MOMENT_HELP}.")
    ] = "24h",
    app: Annotated[
        str | None,
        typer.Option(metavar="NAME", help=f"Only this app's; `{DEFAULT_APP}` for what names none."),
    ] = None,
    config: ConfigOption = None,
    database_url: DatabaseUrlOption = None,
    data_dir: DataDirOption = None,
    output: OutputOption = OutputForm.TABLE,
) -> None:
    """Check that nothing was lost and nothing counts twice; say where every trace went.

    All is read in one snapshot, so it may be asked while traffic runs. Exit code 0 when every invariant
    holds, 1 when one is broken: then traces are named, and why tells of each; 2 when there is no such app.
    """
    settings = read_settings(config, options={"database_url": database_url, "data_dir": data_dir})
    now = datetime.now(UTC)
    begins_at = read_moment(since, option="--since", now=now)
    stored_app = None if app is None else read_app(app)
    with open_database(settings, command="ledger") as engine:
        reader = LedgerReader(
            engine, kept_days=find_kept_days(settings), verdict_days=settings.retention_days.assessment
        )
        with reader.opening(now=now, since=begins_at, app=stored_app) as reading:
            checks = tuple(track(reading.check_all(), total=len(MEANINGS), description="checking the ledger"))
            found = reading.conclude(checks)
        if not found.revisions and not found.states and found.holds:
            refuse_unknown_app(engine, stored_app)
    if output is OutputForm.JSON:
        write_json(describe_ledger(found))
    else:
        print_ledger(found)
    if not found.holds:
        raise typer.Exit(ExitCode.BELOW)


def find_kept_days(settings: Settings) -> int:
    """For how many days all of a trace's rows are kept that the ledger compares."""
    days = settings.retention_days
    return min(days.trace, days.evaluation, days.score)


def describe_ledger(found: Ledger) -> dict[str, object]:
    """The ledger for scripts."""
    checks = [
        {**check.model_dump(mode="json"), "holds": check.holds, "meaning": MEANINGS[check.invariant]}
        for check in found.checks
    ]
    return {**found.model_dump(mode="json"), "holds": found.holds, "checks": checks}


def print_ledger(found: Ledger) -> None:
    """The ledger for people."""
    console = make_console()
    table = make_table("invariant", "holds", "what it means", "traces")
    for check in found.checks:
        name, holds, meaning, traces = _list_cells(check)
        table.add_row(
            show(name), show(holds, "green" if check.holds else "bold red"), show(meaning), show(traces)
        )
    console.print(table)
    console.print()
    console.print(show(f"{found.revisions} revisions accepted since {found.since:%Y-%m-%d %H:%M} UTC"))
    _print_states(found)
    if found.parked:
        waiting = ", ".join(f"{number} {reason}" for reason, number in found.parked.items())
        console.print(show(f"parked and waiting for somebody: {waiting}; {name_command('parked list')}"))
    broken = [check for check in found.checks if not check.holds]
    if broken:
        names = ", ".join(check.invariant for check in broken)
        console.print(show(f"broken: {names}; {name_command('why TRACE_ID')} tells of a trace", "bold red"))
    else:
        console.print(show("every invariant holds", "green"))


def _list_cells(check: InvariantCheck) -> tuple[str, str, str, str]:
    holds = "yes" if check.holds else f"no, {check.violations} rows"
    return check.invariant, holds, MEANINGS[check.invariant], ", ".join(check.trace_ids)


def _print_states(found: Ledger) -> None:
    if not found.states:
        return
    shown = [state for state in EvaluationState if any(state in counts for counts in found.states.values())]
    names = [state.replace("_", " ") for state in shown]
    headings = ("judge", *names, "all", "not for it")
    table = make_table(*headings, right=headings[1:])
    for judge, counts in found.states.items():
        total = sum(counts.values())
        missing = found.revisions - total
        cells = (
            judge,
            *(str(counts.get(state, 0)) for state in shown),
            str(total),
            str(max(0, missing) or "-"),
        )
        table.add_row(*map(show, cells))
    console = make_console()
    console.print(table)
