"""`ragsonde baseline`: what scores are held to, and how a person chooses it."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Annotated

import typer

from ragsonde.cli.baseline_table import describe_shown, print_baselines, tell_choices
from ragsonde.cli.connection_options import DatabaseUrlOption, DataDirOption
from ragsonde.cli.failures import ExitCode
from ragsonde.cli.meant_evaluations import refuse_unknown_place
from ragsonde.cli.moments import MOMENT_HELP, reading_of
from ragsonde.cli.options import ConfigOption, OutputForm, OutputOption
from ragsonde.cli.schema_check import open_database
from ragsonde.cli.terminal import make_console, show, write_json
from ragsonde.regression.fall_bounds import LOWEST_LEVEL
from ragsonde.settings import read_settings
from ragsonde.storage.chosen_baselines import MOST_NUMBER, list_baselines, list_held
from ragsonde.storage.database_clock import read_database_time
from ragsonde.storage.engine import translating_losses
from ragsonde.watching.baseline_choosing import Names, drop_baseline, pin_baselines, set_floors
from ragsonde_schemas.app_name import read_app
from ragsonde_schemas.errors import InputError

EXAMPLES = (
    ("ragsonde baseline list", "what each stream is held to, and the smallest fall that can be seen"),
    (
        'ragsonde baseline pin --app shop --since 2026-10-01 --until 2026-10-08 --reason "new index"',
        "hold scores, from now on, to what they were in that week",
    ),
    (
        "ragsonde baseline pin --app shop --scorer faithfulness --since 7d --until 1d --reason x --dry-run",
        "what would be pinned",
    ),
    (
        'ragsonde baseline floor --app shop --scorer faithfulness --mean .7 --reason "promised to customers"',
        "tell when the mean falls below .7, whatever it was before",
    ),
    ('ragsonde baseline drop 12 --reason "the new index is gone"', "back to what comes by itself"),
)

_Day = datetime | None


class Action(StrEnum):
    """What is done."""

    LIST = "list"
    PIN = "pin"
    DROP = "drop"
    FLOOR = "floor"


_TAKEN = {
    Action.LIST: {"--app", "--all"},
    Action.PIN: {
        "--app",
        "--environment",
        "--scorer",
        "--judge",
        "--since",
        "--until",
        "--reason",
        "--dry-run",
    },
    Action.DROP: {"--reason"},
    Action.FLOOR: {"--app", "--environment", "--scorer", "--judge", "--mean", "--reason"},
}
_NEEDED = {
    Action.LIST: (),
    Action.PIN: ("--app", "--since", "--until", "--reason"),
    Action.DROP: ("--reason",),
    Action.FLOOR: ("--app", "--scorer", "--mean", "--reason"),
}


def baseline(
    action: Annotated[Action, typer.Argument(help="What is done.")],
    number: Annotated[
        int | None, typer.Argument(min=1, max=MOST_NUMBER, help="drop: of the baseline.")
    ] = None,
    *,
    app: Annotated[str | None, typer.Option(help="Whose scores; `default` is the unknown app.")] = None,
    environment: Annotated[str | None, typer.Option(help="pin, floor: only this environment.")] = None,
    scorer: Annotated[
        str | None, typer.Option(help="pin, floor: only this scorer, by its name or as list shows it.")
    ] = None,
    judge: Annotated[str | None, typer.Option(help="pin, floor: only this judge, likewise.")] = None,
    since: Annotated[
        _Day,
        typer.Option(parser=reading_of("--since"), metavar="WHEN", help=f"pin: from then on: {MOMENT_HELP}."),
    ] = None,
    until: Annotated[
        _Day, typer.Option(parser=reading_of("--until"), metavar="WHEN", help="pin: and before that.")
    ] = None,
    mean: Annotated[
        float | None,
        typer.Option(min=LOWEST_LEVEL, max=1.0, help="floor: a mean that scores should not be below."),
    ] = None,
    reason: Annotated[
        str | None, typer.Option(help="pin, drop, floor: for whoever reads it later; needed.")
    ] = None,
    past: Annotated[bool, typer.Option("--all", help="list: also what does not stand any more.")] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="pin: say what would be pinned, do nothing.")
    ] = False,
    config: ConfigOption = None,
    database_url: DatabaseUrlOption = None,
    data_dir: DataDirOption = None,
    output: OutputOption = OutputForm.TABLE,
) -> None:
    """Show what scores are held to, and choose it yourself.

    Each stream (scorer, judge, app, environment) gets a baseline by itself, of its first days. One that you
    choose wins while it stands; drop lets what came by itself take over again.

    pin holds scores, from the next five minutes on, to what they were from --since to --until. It needs 500
    traces there; seven whole days know nights and weekends too. Exit code 1: no stream has as many.

    floor sets a mean that scores should not be below. Where there is no baseline of a stream's own, below
    500 traces, it stands alone. Beside a baseline it adds to it: a mean below the floor is told as a fall is,
    and a fall is told above it too. It holds for later versions of the scorer and models of the judge; each
    basis of a scorer, as `context_precision:answer`, has its own.

    All is done once, wholly or not at all, beside a monitor that runs; what was before stays in the list.
    """
    given: dict[str, object] = {
        "--app": app,
        "--environment": environment,
        "--scorer": scorer,
        "--judge": judge,
        "--since": since,
        "--until": until,
        "--mean": mean,
        "--reason": reason,
        "--all": past or None,
        "--dry-run": dry_run or None,
    }
    _refuse_options(action, number, given=given)
    settings = read_settings(config, options={"database_url": database_url, "data_dir": data_dir})
    as_json = output is OutputForm.JSON
    names = Names(read_app(app or ""), environment, scorer, judge)
    why = (reason or "").strip()
    with open_database(settings, command="baseline") as engine:
        now = read_database_time(engine)
        if action is Action.LIST:
            with translating_losses(), engine.connect() as connection:
                found = list_baselines(connection, app=None if app is None else read_app(app), with_past=past)
                held = list_held(connection, [one.stored.number or 0 for one in found if one.is_floor])
            if as_json:
                write_json([describe_shown(one, held=held) for one in found])
            else:
                print_baselines(found, held=held, with_past=past)
        elif action is Action.PIN and since is not None and until is not None:
            if since >= until:
                raise InputError(
                    f"--until {until:%Y-%m-%d %H:%M}: expected later than --since {since:%Y-%m-%d %H:%M}"
                )
            refuse_unknown_place(engine, app=names.app, environment=environment)
            options = settings.regression
            choices = pin_baselines(
                engine, names, since=since, until=until, reason=why, options=options, now=now, is_dry=dry_run
            )
            tell_choices(choices, is_dry=dry_run, as_json=as_json)
            if all(one.baseline is None for one in choices):
                raise typer.Exit(ExitCode.BELOW)
        elif action is Action.FLOOR and mean is not None:
            refuse_unknown_place(engine, app=names.app, environment=environment)
            choices = set_floors(engine, names, mean=mean, reason=why, now=now)
            tell_choices(choices, is_dry=False, as_json=as_json)
        elif number is not None:
            shown = drop_baseline(engine, number, reason=why, now=now)
            if as_json:
                write_json({"baseline": number, "kind": shown.stored.baseline.kind.value})
            else:
                make_console().print(show(f"baseline {number} is dropped"))


def _refuse_options(action: Action, number: int | None, *, given: dict[str, object]) -> None:
    if action is Action.DROP and number is None:
        raise InputError("drop: the number of a baseline is missing; `ragsonde baseline list` shows them")
    if action is not Action.DROP and number is not None:
        raise InputError(f"found {number}: {action.value} takes no number; expected options only")
    for option, value in given.items():
        if value is not None and option not in _TAKEN[action]:
            raise InputError(
                f"{action.value}: takes no {option}; `ragsonde baseline --help` shows what it takes"
            )
    for option in _NEEDED[action]:
        value = given[option]
        if value is None or not str(value).strip():
            raise InputError(f"{action.value}: {option} is missing")
