"""`ragsonde forget`: erases traces wherever they rest, and sees to it that they do not come back."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from ragsonde.cli.confirmation import confirm
from ragsonde.cli.connection_options import DatabaseUrlOption, DataDirOption
from ragsonde.cli.moments import MOMENT_HELP, reading_of
from ragsonde.cli.options import ConfigOption, OutputForm, OutputOption
from ragsonde.cli.schema_check import open_database
from ragsonde.cli.stored_ids import find_stored_forms
from ragsonde.cli.terminal import (
    count_traces,
    make_console,
    make_table,
    show,
    show_progress,
    show_waiting,
    write_json,
    write_note,
)
from ragsonde.private_data import read_given_keys
from ragsonde.servers.running import find_running
from ragsonde.servers.valkey_log import rewrite_log
from ragsonde.settings import read_settings
from ragsonde.storage.erasure import TRACES, Erasing, count_erasable, erase
from ragsonde.storage.erasure_choice import ErasureChoice
from ragsonde.storage.erasure_map import HOLDINGS
from ragsonde.storage.user_keys import find_user_id_forms
from ragsonde_schemas.app_name import read_app
from ragsonde_schemas.errors import BrokerLostError, InputError

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from ragsonde.settings import Settings
    from ragsonde.storage.erasure import ErasureCounts

EXAMPLES = (
    ("ragsonde forget --user ada@example.org --dry-run", "how much of a user is stored, by table"),
    ("ragsonde forget --user ada@example.org --yes", "erase it, and refuse what of it comes again"),
    ("ragsonde forget --session s-17 --app shop", "a conversation of one app"),
    ("ragsonde forget --app demo", "the traces of an app; later ones are welcome"),
    ("ragsonde forget --before 2026-10-01", "all that occurred before that day (UTC)"),
)

UNREACHABLE = {
    "broker queues": "a message of it that waits in a queue is refused when it comes, and counted: "
    'traces_filtered_total{cause="forgotten"}',
    "broker files": "consumed messages stay until a broker writes its files anew; of the embedded one that "
    "is done now",
    "Prometheus": "series name no trace and no user; exemplars name trace ids, until Prometheus drops them",
    "logs": "events may name trace ids, never texts",
    "score sinks": "what was sent to their receivers",
    "files": "annotations, recorded verdicts, reports and exports that people have written",
    "judges' providers": "what they keep of the calls that were made",
    "backups": "of Postgres and of the broker: erase again after one was restored",
    "pseudonyms of retired keys": "of a user whose key's secret is gone: name the pseudonym itself by --user",
    "bodies that nobody can read": "parked messages that are damaged or cut so that whom they name cannot be "
    "seen: they go after retention_days.parked_message",
}
"""What is told after it, as it must be seen to by people."""


def forget(
    *,
    user: Annotated[
        str | None, typer.Option(help="Only this user's, as the application writes the id.")
    ] = None,
    session: Annotated[str | None, typer.Option(help="Only this session's.")] = None,
    trace: Annotated[str | None, typer.Option(help="Only the trace of this id.")] = None,
    app: Annotated[str | None, typer.Option(help="Only this app's; `default` is the unknown one.")] = None,
    before: Annotated[
        datetime | None,
        typer.Option(
            parser=reading_of("--before"),
            metavar="WHEN",
            help=f"Only what occurred before that day (UTC): {MOMENT_HELP}.",
        ),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Count what would be erased, and do nothing.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    config: ConfigOption = None,
    database_url: DatabaseUrlOption = None,
    data_dir: DataDirOption = None,
    output: OutputOption = OutputForm.TABLE,
) -> None:
    """Erase traces everywhere, by user, session, trace, app or day; they do not come back.

    Of several options all must be true. Erased are the traces with their texts, verdicts, replies, scores and
    spans, their copies in the check set, and parked messages that name them. Salted digests stay behind, by
    which workers refuse what comes again, from a queue, from the parking or from the producer. A user or an
    app is welcome again with what occurs later.

    Workers go on meanwhile. Stopped and started again it goes on.
    """
    choice = _read_choice(user=user, session=session, trace=trace, app=app, before=before)
    settings = read_settings(config, options={"database_url": database_url, "data_dir": data_dir})
    with open_database(settings, command="forget") as engine:
        with show_waiting("looking what of it is stored"):
            if user is not None:
                given = read_given_keys(settings)
                forms = find_user_id_forms(engine, user, now=datetime.now(UTC), given=given)
                choice = replace(choice, stored_users=forms)
            if session is not None:
                choice = replace(
                    choice, stored_sessions=find_stored_forms(engine, session, settings=settings)
                )
            if trace is not None:
                forms = find_stored_forms(engine, trace, settings=settings)
                choice = replace(choice, stored_traces=forms)
            foreseen = count_erasable(engine, choice)
        if dry_run:
            _tell(foreseen, choice, output=output, is_dry=True)
            return
        if not yes:
            what = f"{count_traces(foreseen['traces'])} and {foreseen['parked_message']} parked messages"
            confirm(what, verb="erase")
        erased = _erase(engine, choice, foreseen, settings=settings)
    _clean_broker(settings)
    _tell(erased, choice, output=output, is_dry=False)


def _read_choice(
    *, user: str | None, session: str | None, trace: str | None, app: str | None, before: datetime | None
) -> ErasureChoice:
    given = {"--user": user, "--session": session, "--trace": trace, "--app": app}
    for option, value in given.items():
        if value is not None and not value.strip():
            raise InputError(f"{option}: found a blank; expected an id or a name")
    if before is None and all(value is None for value in given.values()):
        raise InputError("nothing is named: expected --user, --session, --trace, --app or --before")
    if trace is not None and (user is not None or session is not None):
        raise InputError("--trace: names one trace; expected no --user and no --session beside it")
    day = None if before is None else before.date()
    if day is not None and day > datetime.now(UTC).date():
        raise InputError(f"--before {day}: found a day that is still to come; expected today or earlier")
    return ErasureChoice(
        user=user, session=session, trace=trace, app=None if app is None else read_app(app), before=day
    )


def _erase(
    engine: Engine, choice: ErasureChoice, foreseen: ErasureCounts, *, settings: Settings
) -> ErasureCounts:
    retention = settings.retention_days
    with show_progress("erasing", total=foreseen["traces"]) as tell:
        how = Erasing(
            now=datetime.now(UTC),
            keep_tombstones_days=max(retention.trace, retention.parked_message) + 1,
            on_traces=tell,
        )
        return erase(engine, choice, how)


def _clean_broker(settings: Settings) -> None:
    """Takes what was consumed out of the files of an embedded broker that runs."""
    running = None if settings.broker_url else find_running(settings.data_dir)
    if running is not None:
        try:
            rewrite_log(running.broker_url)
        except BrokerLostError as error:
            write_note(f"what was erased may still stand in the broker's file: {error}; call again")


def _tell(counts: ErasureCounts, choice: ErasureChoice, *, output: OutputForm, is_dry: bool) -> None:
    rows = {table: counts[table] for table in (*HOLDINGS, TRACES) if counts[table]}
    traces = rows.pop(TRACES, 0)
    if output is OutputForm.JSON:
        write_json({"dry_run": is_dry, "traces": traces, "rows": rows, "not_reached": UNREACHABLE})
        return
    console = make_console()
    done = "would be erased" if is_dry else "erased"
    console.print(show(f"{count_traces(traces)} and {rows.get('parked_message', 0)} parked messages {done}"))
    if not traces and not rows and (choice.names_persons or choice.trace is not None):
        left = "would be left" if is_dry else "is left"
        console.print(
            show(f"nothing is stored of it; a tombstone {left}, by which it is refused if it comes")
        )
    if rows:
        table = make_table("table", "rows", right=("rows",))
        for name, count in rows.items():
            table.add_row(name, str(count))
        console.print(table)
    if not is_dry and not rows and not traces:
        console.print(
            show("nothing of it was stored: docs/how-to/erase-personal-data.md says what is not reached")
        )
    elif not is_dry:
        console.print(show("\nnot reached from here:"))
        table = make_table("where", "what is there")
        for where, what in UNREACHABLE.items():
            table.add_row(show(where), show(what))
        console.print(table)
