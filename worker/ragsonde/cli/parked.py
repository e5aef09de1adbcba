"""`ragsonde parked`: messages that no worker could work on; show them, publish them again, drop them."""

from __future__ import annotations

import sys
from collections import Counter
from contextlib import ExitStack
from datetime import UTC, datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from ragsonde.cli.broker_connection import open_publisher
from ragsonde.cli.connection_options import BrokerUrlOption, DatabaseUrlOption, DataDirOption
from ragsonde.cli.connections import find_broker_url
from ragsonde.cli.failures import ExitCode
from ragsonde.cli.moments import MOMENT_HELP, read_moment
from ragsonde.cli.options import ConfigOption, OutputForm, OutputOption
from ragsonde.cli.parked_advice import INCOMPLETE
from ragsonde.cli.parked_page import describe_message, describe_parked, print_message, print_parked
from ragsonde.cli.program import name_command
from ragsonde.cli.replaying import Done, Replays, find_returned
from ragsonde.cli.schema_check import open_database
from ragsonde.cli.terminal import make_console, show, track, write_json, write_note
from ragsonde.settings import read_settings
from ragsonde.storage.parked_choice import ParkedChoice, select_parked
from ragsonde.storage.parking_store import read_envelope
from ragsonde.storage.replaying import drop_parked
from ragsonde_schemas.app_name import read_app
from ragsonde_schemas.errors import InputError, ParkReason

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Engine

    from ragsonde.settings import Settings
    from ragsonde_schemas.history import ParkedMessage

EXAMPLES = (
    ("ragsonde parked list --since 24h", "what was parked in the last day and waits for you"),
    ("ragsonde parked show 12", "one of them: why, where, what to do, its first bytes"),
    ("ragsonde parked replay --reason internal_error --dry-run", "what would be published again"),
    ("ragsonde parked replay --reason internal_error --rate 50 --yes", "publish it, 50 a second at most"),
    ("ragsonde parked replay 12 --wait 10", "one of them; say whether it is parked again"),
    ("ragsonde parked drop --reason invalid_json --until 7d", "junk that is older than a week"),
)
MANY = 20
"""More than so many are replayed or dropped only after a yes."""
_LISTED = 50


class Action(StrEnum):
    """What is done with parked messages."""

    LIST = "list"
    SHOW = "show"
    REPLAY = "replay"
    DROP = "drop"


def parked(
    action: Annotated[
        Action,
        typer.Argument(
            help="list: the newest ones; show: one of them; replay: publish again; drop: out of the list."
        ),
    ],
    ids: Annotated[list[int] | None, typer.Argument(metavar="[NUMBER]...", help="Only these.")] = None,
    *,
    reason: Annotated[
        list[ParkReason] | None, typer.Option(help="Only what was parked for this; may be repeated.")
    ] = None,
    since: Annotated[
        str | None, typer.Option(metavar="WHEN", help=f"Parked since then: {MOMENT_HELP}.")
    ] = None,
    until: Annotated[str | None, typer.Option(metavar="WHEN", help="Parked before then.")] = None,
    app: Annotated[
        str | None, typer.Option(metavar="NAME", help="Only what names this app, where it can be read.")
    ] = None,
    queue: Annotated[str | None, typer.Option(metavar="NAME", help="Only what came from this queue.")] = None,
    trace: Annotated[str | None, typer.Option(metavar="TRACE_ID", help="Only what names this trace.")] = None,
    takes_all: Annotated[
        bool, typer.Option("--all", help="Also what was replayed or dropped already.")
    ] = False,
    limit: Annotated[
        int | None, typer.Option(min=1, help=f"At most so many; list shows {_LISTED} without it.")
    ] = None,
    rate: Annotated[float | None, typer.Option(min=0.001, help="replay: most messages a second.")] = None,
    wait: Annotated[
        float | None,
        typer.Option(
            min=0.1,
            max=600,
            metavar="SECONDS",
            help="replay: look for so long whether any is parked again; exit code 1 then.",
        ),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be done, and do nothing.")
    ] = False,
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help=f"Do not ask before more than {MANY} are replayed or dropped.")
    ] = False,
    config: ConfigOption = None,
    broker_url: BrokerUrlOption = None,
    database_url: DatabaseUrlOption = None,
    data_dir: DataDirOption = None,
    output: OutputOption = OutputForm.TABLE,
) -> None:
    """Show the messages that no worker could work on, publish them again, or drop them.

    replay publishes to the queue that each came from, confirmed, the oldest first. What has been scored
    already is a duplicate then, so replaying twice is harmless. Of a work message that names a failed
    evaluation, the evaluation is opened again. What is parked for the same reason once more is in the list
    again.

    drop takes messages out of the list; their bytes go with retention_days.parked_message.

    Exit code 1 when nothing matches, or something could not be replayed.
    """
    settings = read_settings(
        config, options={"broker_url": broker_url, "database_url": database_url, "data_dir": data_dir}
    )
    now = datetime.now(UTC)
    choice = ParkedChoice(
        ids=tuple(ids or ()),
        reasons=tuple(reason or ()),
        since=None if since is None else read_moment(since, option="--since", now=now),
        until=None if until is None else read_moment(until, option="--until", now=now),
        queue=queue,
        trace_id=trace,
        app=None if app is None else _read_app(app),
        takes_all=takes_all or action is Action.SHOW,
    )
    with open_database(settings, command="parked") as engine:
        if action is Action.SHOW:
            _show(engine, choice, output=output)
            return
        if action is not Action.LIST and choice == ParkedChoice(takes_all=takes_all) and limit is None:
            raise InputError(
                f"{action}: nothing is named; expected numbers, --reason, --since, --until, --app, --queue, "
                "--trace or --limit"
            )
        most = _LISTED if action is Action.LIST and limit is None else limit
        messages = select_parked(engine, choice, limit=most, is_oldest_first=action is not Action.LIST)
        if action is Action.LIST:
            _list(messages, is_cut=limit is None and len(messages) == _LISTED, output=output)
        elif not messages:
            _end_without_any(takes_all=takes_all)
        elif dry_run:
            _foretell(messages, action=action, output=output)
        else:
            _ask(len(messages), action=action, is_agreed=yes)
            if action is Action.REPLAY:
                _replay(
                    engine,
                    messages,
                    settings=settings,
                    rate=rate,
                    wait=wait,
                    takes_all=takes_all,
                    output=output,
                )
            else:
                _drop(engine, messages, output=output)


def _read_app(app: str) -> str:
    stored = read_app(app)
    if not stored:
        raise InputError("--app: expected an app's name; what names none cannot be looked for")
    return stored


def _show(engine: Engine, choice: ParkedChoice, *, output: OutputForm) -> None:
    if len(choice.ids) != 1:
        raise InputError(f"show: found {len(choice.ids)} numbers, expected one: `ragsonde parked show 12`")
    found = select_parked(engine, choice)
    envelope = read_envelope(engine, parked_id=choice.ids[0])
    if not found or envelope is None:
        write_note(f"no parked message has the number {choice.ids[0]}, or its retention is over")
        raise typer.Exit(ExitCode.BELOW)
    if output is OutputForm.JSON:
        write_json(describe_message(found[0], envelope))
    else:
        print_message(found[0], envelope)


def _list(messages: Sequence[ParkedMessage], *, is_cut: bool, output: OutputForm) -> None:
    if output is OutputForm.JSON:
        write_json([describe_parked(one) for one in messages])
    elif messages:
        print_parked(messages)
    else:
        _say("nothing is parked that matches and waits; --all shows also what was replayed or dropped")
    if is_cut:
        write_note(f"the newest {_LISTED} are shown; --limit shows more")


def _end_without_any(*, takes_all: bool) -> None:
    more = "" if takes_all else "; --all takes also what was replayed or dropped already"
    write_note(f"nothing matches{more}")
    raise typer.Exit(ExitCode.BELOW)


def _foretell(messages: Sequence[ParkedMessage], *, action: Action, output: OutputForm) -> None:
    able = [one for one in messages if action is Action.DROP or one.is_replayable]
    unable = len(messages) - len(able)
    if output is OutputForm.JSON:
        write_json({"dry_run": True, str(action): [one.id for one in able], "refused": unable})
        return
    print_parked(messages)
    _say(f"{len(able)} would be {'dropped' if action is Action.DROP else 'published again'}")
    if unable:
        _say(f"{unable} could not: {INCOMPLETE}")


def _ask(number: int, *, action: Action, is_agreed: bool) -> None:
    """Returns where it is few, or somebody agrees.

    Raises:
        InputError: nobody is there to ask.
        typer.Abort: no.
    """
    if number <= MANY or is_agreed:
        return
    if not sys.stdin.isatty():
        raise InputError(f"{action}: {number} messages; expected --yes where nobody can be asked")
    typer.confirm(f"{action} {number} messages?", abort=True, err=True)


def _replay(
    engine: Engine,
    messages: Sequence[ParkedMessage],
    *,
    settings: Settings,
    rate: float | None,
    wait: float | None,
    takes_all: bool,
    output: OutputForm,
) -> None:
    counts: Counter[Done] = Counter()
    published: list[int] = []
    with ExitStack() as stack:
        publisher = open_publisher(find_broker_url(settings), stack)
        replays = Replays(engine, publisher, queued_seconds=settings.lease_seconds, takes_all=takes_all).run(
            messages, rate=rate
        )
        for one in track(replays, total=len(messages), description="replaying"):
            counts[one.done] += 1
            if one.done is Done.PUBLISHED:
                published.append(one.message.id)
            if one.told:
                write_note(f"message {one.message.id}: {one.done}: {one.told}")
    returned = [] if wait is None else find_returned(engine, published, seconds=wait)
    if output is OutputForm.JSON:
        told = {str(done): counts[done] for done in Done}
        write_json(told if wait is None else {**told, "parked_again": returned})
    else:
        _say(", ".join(f"{counts[done]} {done}" for done in Done if counts[done] or done is Done.PUBLISHED))
        if published:
            _say(_tell_outcome(returned, wait=wait))
    if counts[Done.REFUSED] or returned:
        raise typer.Exit(ExitCode.BELOW)


def _tell_outcome(returned: Sequence[int], *, wait: float | None) -> str:
    if wait is None:
        return (
            "what a worker still cannot work on is parked again for the same reason, and back in "
            f"`{name_command('parked list')}`; --wait SECONDS looks for it here"
        )
    if returned:
        numbers = ", ".join(map(str, returned))
        return f"{len(returned)} parked again for the same reason within {wait:g} seconds: {numbers}"
    return f"none parked again for the same reason within {wait:g} seconds"


def _drop(engine: Engine, messages: Sequence[ParkedMessage], *, output: OutputForm) -> None:
    dropped = drop_parked(engine, [one.id for one in messages], now=datetime.now(UTC))
    if output is OutputForm.JSON:
        write_json({"dropped": dropped})
    else:
        _say(f"{dropped} dropped")


def _say(text: str) -> None:
    make_console().print(show(text))
