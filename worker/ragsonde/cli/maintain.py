"""`ragsonde maintain`: once and now what the monitor does for partitions, retention and dropped texts."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Annotated, Any

import typer
from pydantic import Field

from ragsonde.bootstrap.clock import SystemClock
from ragsonde.cli.connection_options import DatabaseUrlOption, DataDirOption
from ragsonde.cli.failures import ExitCode
from ragsonde.cli.options import ConfigOption, OutputForm, OutputOption
from ragsonde.cli.schema_check import open_database
from ragsonde.cli.terminal import make_console, make_table, show, write_json, write_note
from ragsonde.monitor.upkeep import (
    PARTITIONS,
    RETENTION,
    TEXTS,
    Upkeep,
    build_text_rule,
    list_retention,
)
from ragsonde.plugins.formulas import load_formulas
from ragsonde.scoring.table import build_scorers
from ragsonde.settings import read_settings
from ragsonde.storage.engine import translating_losses
from ragsonde.storage.locks import try_job_lock
from ragsonde.storage.partitions import drop_expired, ensure_partitions, plan_partitions
from ragsonde.storage.table_sizes import has_autovacuum, measure_partitions, measure_tables
from ragsonde.storage.text_dropping import drop_texts
from ragsonde_schemas.value import Value

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import date

    from rich.console import Console

    from ragsonde.storage.table_sizes import TableSize

EXAMPLES = (
    ("ragsonde maintain --dry-run", "what would be made and dropped, and how large the tables are"),
    ("ragsonde maintain", "do it now; the monitor does the same every hour"),
    ("ragsonde maintain --allow-many-days", "after retention_days was lowered by more than three days"),
    ("ragsonde maintain --output json", "for scripts"),
)

_UNITS = ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"))


class Done(Value):
    """What one run made and dropped, or would.

    Attributes:
        dropped: bytes by partition.
        texts_dropped: of traces whose day is not over its age.
        held: why retention dropped nothing; None where it was not held.
        busy: jobs that another process was at, so that they were left to it.
    """

    made: tuple[str, ...] = ()
    dropped: dict[str, int] = Field(default_factory=dict)
    texts_dropped: int = 0
    held: str | None = None
    busy: tuple[str, ...] = ()


def maintain(
    *,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be made and dropped, change nothing.")
    ] = False,
    allow_many_days: Annotated[
        bool,
        typer.Option(
            "--allow-many-days", help="Drop more than three days of a table at once, if it must be."
        ),
    ] = False,
    config: ConfigOption = None,
    database_url: DatabaseUrlOption = None,
    data_dir: DataDirOption = None,
    output: OutputOption = OutputForm.TABLE,
) -> None:
    """Make partitions, drop what is over its age or not to be kept, and say how large the tables are.

    It is what the monitor does every hour, under the same locks: safe to run beside it, and instead of it
    from a timer. More than three days of a table at once are the sign of a wrong clock: they are not dropped
    without --allow-many-days, and never while this clock and Postgres's differ by an hour. Exit code 1 where
    retention was held.
    """
    settings = read_settings(config, options={"database_url": database_url, "data_dir": data_dir})
    scorers = build_scorers(settings.scorers, formulas=load_formulas())
    with open_database(settings, command="maintain") as engine:
        upkeep = Upkeep(
            engine=engine,
            clock=SystemClock(),
            retention_days=list_retention(settings),
            texts=build_text_rule(settings, scorers=scorers),
        )
        done = run_upkeep(upkeep, is_dry=dry_run, allows_many_days=allow_many_days)
        tables = measure_tables(engine)
        hints = list_hints(tables, has_autovacuum=has_autovacuum(engine), retention=upkeep.retention_days)
    due = list_due(tables, retention=upkeep.retention_days)
    if output is OutputForm.JSON:
        write_json(_describe(done, tables, due=due, hints=hints, is_dry=dry_run))
    else:
        _print_report(make_console(), done, tables, due=due, is_dry=dry_run)
        for hint in hints:
            write_note(hint)
    if done.held is not None:
        raise typer.Exit(ExitCode.BELOW)


def run_upkeep(upkeep: Upkeep, *, is_dry: bool, allows_many_days: bool) -> Done:
    """What was made and dropped; with `is_dry` what would be, and nothing is changed.

    Raises:
        RetentionHeldError: our clock and Postgres's differ; nothing was done.
        DatabaseLostError: Postgres is away; what was done stays so.
    """
    engine, today = upkeep.engine, upkeep.clock.now().date()
    upkeep.check_clock()
    done: dict[str, Any] = {"busy": []}
    with try_job_lock(engine, PARTITIONS) as is_ours:
        if not is_ours:
            done["busy"].append(PARTITIONS)
        elif is_dry:
            done["made"] = plan_partitions(engine, today=today, days_ahead=upkeep.days_ahead)
        else:
            done["made"] = ensure_partitions(engine, today=today, days_ahead=upkeep.days_ahead)
    with try_job_lock(engine, RETENTION) as is_ours:
        expired = upkeep.list_expired()
        done["held"] = None if allows_many_days else upkeep.find_doubt()
        with translating_losses(), engine.connect() as connection:
            sizes = measure_partitions(connection, expired)
        if not is_ours:
            done["busy"].append(RETENTION)
        elif is_dry:
            done["dropped"] = sizes
        elif done["held"] is None:
            dropped = drop_expired(engine, today=today, retention=upkeep.retention_days)
            done["dropped"] = {name: sizes.get(name, 0) for name in dropped}
    with try_job_lock(engine, TEXTS) as is_ours:
        if is_ours:
            done["texts_dropped"] = drop_texts(engine, upkeep.texts, is_dry=is_dry)
        else:
            done["busy"].append(TEXTS)
    return Done.model_validate(done)


def list_due(tables: Sequence[TableSize], *, retention: Mapping[str, int]) -> dict[str, date]:
    """The day on which the oldest partition of each table goes, by table."""
    return {
        size.name: size.oldest_day + timedelta(days=retention[size.name] + 1)
        for size in tables
        if size.oldest_day is not None and size.name in retention
    }


def list_hints(
    tables: Sequence[TableSize], *, has_autovacuum: bool, retention: Mapping[str, int]
) -> list[str]:
    """What a person should look after, a sentence each."""
    hints = []
    if not has_autovacuum:
        hints.append(
            "autovacuum is off: indexes of times are not kept up, nor are old rows frozen; switch it on"
        )
    hints += [
        f"{size.name}: {size.dead_rows} of {size.dead_rows + size.live_rows} rows are dead; run "
        f"VACUUM (ANALYZE) {size.name}, or lower its autovacuum_vacuum_scale_factor"
        for size in tables
        if size.needs_vacuum
    ]
    hints += [
        f"{size.name}: has no retention and grows for ever"
        for size in tables
        if size.partitions and size.name not in retention
    ]
    return hints


def _describe(
    done: Done, tables: Sequence[TableSize], *, due: Mapping[str, date], hints: Sequence[str], is_dry: bool
) -> dict[str, Any]:
    return {
        "is_dry": is_dry,
        **done.model_dump(mode="json"),
        "tables": [
            {**size.model_dump(mode="json"), "next_drop": due.get(size.name) and due[size.name].isoformat()}
            for size in tables
        ],
        "hints": list(hints),
    }


def _print_report(
    console: Console,
    done: Done,
    tables: Sequence[TableSize],
    *,
    due: Mapping[str, date],
    is_dry: bool,
) -> None:
    would = "would be " if is_dry else ""
    console.print(show(f"{len(done.made)} partitions {would}made"))
    total = show_bytes(sum(done.dropped.values()))
    console.print(show(f"{len(done.dropped)} partitions {would}dropped, {total}"))
    for name, dropped_bytes in done.dropped.items():
        console.print(show(f"  {name} {show_bytes(dropped_bytes)}", "dim"))
    console.print(show(f"{done.texts_dropped} texts {would}dropped that nothing waits for"))
    if done.held is not None:
        words = "needs --allow-many-days" if is_dry else "nothing was dropped; --allow-many-days drops them"
        console.print(show(f"retention is held: {done.held}; {words}", "yellow"))
    for job in done.busy:
        console.print(show(f"{job}: another process is at it, left to it", "yellow"))
    headings = ("table", "size", "indexes", "rows", "dead", "days", "oldest", "newest", "next drop")
    table = make_table(*headings, right=headings[1:6], wrapped=())
    for size in tables:
        table.add_row(*map(show, _list_cells(size, due=due)))
    console.print()
    console.print(table)


def _list_cells(size: TableSize, *, due: Mapping[str, date]) -> tuple[str, ...]:
    days = [size.oldest_day, size.newest_day, due.get(size.name)]
    return (
        size.name,
        show_bytes(size.table_bytes),
        show_bytes(size.index_bytes),
        f"{size.live_rows:,}",
        f"{size.dead_rows:,}",
        str(size.partitions or ""),
        *("" if day is None else day.isoformat() for day in days),
    )


def show_bytes(size: float) -> str:
    """`1.5 GB`, `20 MB`, `0 B`: two figures at least."""
    for unit, name in _UNITS:
        if size >= unit:
            return f"{size / unit:.3g} {name}"
    return f"{size:.0f} B"
