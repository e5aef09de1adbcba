"""`ragsonde why`: what happened to a trace, in plain words."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Annotated

import typer

from ragsonde.cli.asking_again import ask_again, tell_answers
from ragsonde.cli.connection_options import DatabaseUrlOption, DataDirOption
from ragsonde.cli.failures import ExitCode
from ragsonde.cli.options import ConfigOption, OutputForm, OutputOption
from ragsonde.cli.program import name_command
from ragsonde.cli.schema_check import open_database
from ragsonde.cli.stored_ids import find_stored_forms
from ragsonde.cli.story import Line, tell_history
from ragsonde.cli.terminal import make_console, show, write_json
from ragsonde.settings import read_settings
from ragsonde.storage.history import find_similar_ids, read_history
from ragsonde_schemas.app_name import DEFAULT_APP, read_app, show_app
from ragsonde_schemas.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sqlalchemy import Engine

    from ragsonde.cli.asking_again import Answer
    from ragsonde.settings import Settings
    from ragsonde_schemas.history import TraceHistory

EXAMPLES = (
    ("ragsonde why 4bf92f3577b34da6a3ce929d0e0e4736", "the whole story of a trace"),
    ("ragsonde why order-42 --app shop --output json", "for scripts"),
    ("ragsonde why order-42 --ask gpt", "what judge gpt says of it now, with a reason for each context"),
)


def why(
    *,
    trace_id: Annotated[
        str, typer.Argument(metavar="TRACE_ID", help="The trace's id, as its producer gave it.")
    ],
    app: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help=f"Only this app's traces; `{DEFAULT_APP}` for those that name none."
        ),
    ] = None,
    ask: Annotated[
        str | None,
        typer.Option(
            metavar="JUDGE",
            help="Have this judge look at the stored trace now, with reasons; it may cost a call.",
        ),
    ] = None,
    config: ConfigOption = None,
    database_url: DatabaseUrlOption = None,
    data_dir: DataDirOption = None,
    output: OutputOption = OutputForm.TABLE,
) -> None:
    """Say what happened to a trace: states, attempts, verdicts, scores, parked messages.

    Exit code 1 when nothing is known of it; stored ids that contain it, and other apps that have a trace of
    that id, are named then. What a judge says to --ask is shown and not stored: it is in no mean, no series
    and no budget. A message that brought the same content again is told nowhere: it is only counted, in
    duplicates_total.
    """
    if not trace_id.strip():
        raise InputError("TRACE_ID is empty; expected the id of a trace, or a part of it")
    settings = read_settings(config, options={"database_url": database_url, "data_dir": data_dir})
    stored_app = None if app is None else read_app(app)
    with open_database(settings, command="why") as engine:
        history = read_history(engine, trace_id, app=stored_app)
        if not history.revisions:
            trace_id, history = _find_redacted(engine, history, stored_app, settings=settings)
        other_apps = () if app is None or history.revisions else _find_apps(engine, trace_id)
        is_known = bool(history.revisions or (not other_apps and (history.parked or history.spans)))
        similar_ids = () if is_known or other_apps else find_similar_ids(engine, trace_id, app=stored_app)
    if ask is not None and is_known and history.revisions:
        _show_answers(ask_again(history, ask, settings=settings), output)
        return
    if output is OutputForm.JSON:
        write_json({**history.model_dump(mode="json"), "similar_ids": similar_ids, "other_apps": other_apps})
    else:
        told = (
            _tell_other_apps(trace_id, app or "", other_apps)
            if other_apps
            else tell_history(history, similar_ids=similar_ids)
        )
        console = make_console()
        for line in told:
            console.print(show(line.text, line.style))
    if not is_known:
        raise typer.Exit(ExitCode.BELOW)


def _find_redacted(
    engine: Engine, history: TraceHistory, app: str | None, *, settings: Settings
) -> tuple[str, TraceHistory]:
    """The id under which a trace is stored whose own was redacted, with its history; else what is given."""
    for stored_id in find_stored_forms(engine, history.trace_id, settings=settings):
        stored = read_history(engine, stored_id, app=app)
        if stored.revisions or stored.spans or (stored.parked and not history.parked):
            return stored_id, stored
    return history.trace_id, history


def _show_answers(answers: list[Answer], output: OutputForm) -> None:
    if output is OutputForm.JSON:
        write_json({"asked": [answer.dump() for answer in answers]})
        return
    console = make_console()
    for line in tell_answers(answers):
        console.print(show(line.text, line.style))


def _find_apps(engine: Engine, trace_id: str) -> tuple[str, ...]:
    """The apps that have a trace of that id, as people name them."""
    history: TraceHistory = read_history(engine, trace_id)
    return tuple(sorted({show_app(revision.key.app) for revision in history.revisions}))


def _tell_other_apps(trace_id: str, app: str, other_apps: Sequence[str]) -> Iterator[Line]:
    yield Line(
        f"{trace_id}: app {show_app(read_app(app))} has no trace of that id; it is known in another app:"
    )
    for name in other_apps:
        yield Line(f"  {name_command(f'why {shlex.quote(trace_id)} --app {shlex.quote(name)}')}")
