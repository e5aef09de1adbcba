"""`ragsonde alerts`: falls of scores that were told, and what to do about them."""

from __future__ import annotations

from datetime import UTC, datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from ragsonde.cli.alert_decisions import accept, ack, call_false, verify
from ragsonde.cli.alert_table import count_budget, describe_alert, describe_budget, print_alerts
from ragsonde.cli.alert_words import print_alert
from ragsonde.cli.connection_options import DatabaseUrlOption, DataDirOption
from ragsonde.cli.meant_evaluations import refuse_unknown, refuse_unknown_place
from ragsonde.cli.moments import MOMENT_HELP, reading_of
from ragsonde.cli.options import ConfigOption, OutputForm, OutputOption
from ragsonde.cli.schema_check import open_database
from ragsonde.cli.terminal import write_json
from ragsonde.settings import read_settings
from ragsonde.storage.stream_names import list_named_streams
from ragsonde.storage.told_alerts import MOST_NUMBER, find_alert, list_alerts
from ragsonde.watching.steering import refuse_unknown_alert
from ragsonde_schemas.app_name import read_app
from ragsonde_schemas.errors import InputError
from ragsonde_schemas.watched_fall import FallState

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from ragsonde.settings import Settings

EXAMPLES = (
    ("ragsonde alerts list", "what is open, what was, and how many pages were false"),
    ("ragsonde alerts show 3", "the whole of one, in plain words: begin here when you were paged"),
    ("ragsonde alerts ack 3", "it is known: nobody is told again, the evidence runs on"),
    (
        'ragsonde alerts accept 3 --reason "shorter answers since 2.4"',
        "it was meant: from now on scores are held to what they are since the fall",
    ),
    (
        'ragsonde alerts false 3 --reason "a load test"',
        "there was no fall: it is counted, closed, and the evidence begins anew",
    ),
    (
        "ragsonde alerts verify 3 --since 2026-10-01T14:00",
        "is it over since the repair: exit code 0 yes, 1 not, 3 too few",
    ),
)


class Action(StrEnum):
    """What is done."""

    LIST = "list"
    SHOW = "show"
    ACK = "ack"
    ACCEPT = "accept"
    FALSE = "false"
    VERIFY = "verify"


def alerts(
    action: Annotated[Action, typer.Argument(help="What is done.")],
    number: Annotated[
        int | None, typer.Argument(min=1, max=MOST_NUMBER, help="Of the alert; all but list.")
    ] = None,
    *,
    app: Annotated[
        str | None, typer.Option(help="list: only this app; `default` is the unknown one.")
    ] = None,
    environment: Annotated[str | None, typer.Option(help="list: only this environment.")] = None,
    only_open: Annotated[bool, typer.Option("--open", help="list: only what is open.")] = False,
    since: Annotated[
        datetime | None,
        typer.Option(
            parser=reading_of("--since"),
            metavar="WHEN",
            help=f"list: leave out what was closed before; verify: look at traces since then: {MOMENT_HELP}.",
        ),
    ] = None,
    reason: Annotated[
        str | None, typer.Option(help="accept: why it is meant, needed; false: what it was.")
    ] = None,
    config: ConfigOption = None,
    database_url: DatabaseUrlOption = None,
    data_dir: DataDirOption = None,
    output: OutputOption = OutputForm.TABLE,
) -> None:
    """Show falls of scores that were told, and say what is to become of them.

    list shows the open ones first, and below them how many pages of the last 365 days were called false.
    show says all that is known of one.

    ack: it is known. Nobody is told of it again, the evidence runs on, and recovery ends it.

    accept: it is meant. The alert is closed, and the stream is held to what it scores since the fall: a
    further fall is told. Strata, hours and spread stay those of the baseline before, moved to the new level,
    so that this works from the first trace; below 500 traces since the fall it only warns, and may page once
    there are as many.

    false: there was no fall. It is counted, closed, and the evidence begins anew.

    verify: how traces since --since score, against the baseline of the alert; without it since the alert was
    acknowledged, else since it was told. Give the moment of the repair: traces of the fall before it count
    too. With the same moment it may be asked as often as you like; `2h` is another one each time. Exit code
    0: recovered, 1: not yet, 3: too few traces, how many more are needed is told.

    What is done is done once, wholly or not at all, beside a monitor that runs.
    """
    settings = read_settings(config, options={"database_url": database_url, "data_dir": data_dir})
    as_json = output is OutputForm.JSON
    _refuse_options(action, number=number, reason=reason, has_since=since is not None)
    with open_database(settings, command="alerts") as engine:
        if number is None:
            named = None if app is None else read_app(app)
            found = list_alerts(
                engine,
                app=named,
                environment=environment,
                since=since,
                state=FallState.OPEN if only_open else FallState.ALL,
            )
            if not found:
                _refuse_unknown(engine, app=named, environment=environment)
            now = datetime.now(UTC)
            budget = count_budget(engine, settings.regression, now=now, app=named, environment=environment)
            if as_json:
                write_json({"alerts": [describe_alert(one) for one in found], **describe_budget(budget)})
            else:
                print_alerts(found, budget)
        elif action is Action.SHOW:
            alert = find_alert(engine, number)
            if alert is None:
                refuse_unknown_alert(number)
            if as_json:
                write_json(describe_alert(alert))
            else:
                print_alert(alert)
        elif action is Action.VERIFY:
            raise typer.Exit(verify(engine, number, since=since, as_json=as_json))
        else:
            _decide(engine, action, number, reason=reason, settings=settings, as_json=as_json)


def _refuse_unknown(engine: Engine, *, app: str | None, environment: str | None) -> None:
    if app is not None:
        refuse_unknown_place(engine, app=app, environment=environment)
    elif environment is not None:
        known = {one.environment for one in list_named_streams(engine)}
        if known:
            refuse_unknown("--environment", environment, known=known, what="no such environment")


def _decide(
    engine: Engine, action: Action, number: int, *, reason: str | None, settings: Settings, as_json: bool
) -> None:
    if action is Action.ACK:
        ack(engine, number, as_json=as_json)
    elif action is Action.ACCEPT:
        accept(engine, number, reason=reason or "", options=settings.regression, as_json=as_json)
    else:
        call_false(engine, number, reason=reason, options=settings.regression, as_json=as_json)


def _refuse_options(action: Action, *, number: int | None, reason: str | None, has_since: bool) -> None:
    if action is Action.LIST and number is not None:
        raise InputError(f"found {number}: list takes no number; `ragsonde alerts show {number}` shows one")
    if action is not Action.LIST and number is None:
        raise InputError(
            f"{action.value}: the number of an alert is missing; `ragsonde alerts list` shows them"
        )
    if action is Action.ACCEPT and not (reason or "").strip():
        raise InputError(
            "accept: --reason is missing: expected why the fall is meant, for whoever reads it later"
        )
    if reason is not None and action not in {Action.ACCEPT, Action.FALSE}:
        raise InputError(f"{action.value}: takes no --reason; expected it with accept or false only")
    if has_since and action not in {Action.LIST, Action.VERIFY}:
        raise InputError(f"{action.value}: takes no --since; expected it with list or verify only")
