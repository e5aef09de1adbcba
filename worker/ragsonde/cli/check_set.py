"""`ragsonde check-set`: recorded traces that judges see again every day, and how far judges have moved."""

from __future__ import annotations

from datetime import UTC, date, datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ragsonde.cli.connection_options import DatabaseUrlOption, DataDirOption
from ragsonde.cli.failures import ExitCode
from ragsonde.cli.meant_evaluations import refuse_unknown, refuse_unknown_app
from ragsonde.cli.options import ConfigOption, OutputForm, OutputOption
from ragsonde.cli.program import name_command
from ragsonde.cli.schema_check import open_database
from ragsonde.cli.terminal import count_traces, make_console, make_table, show, write_json, write_note
from ragsonde.pipeline.checking import choose_checks, measure_drift
from ragsonde.settings import read_settings
from ragsonde.storage.check_traces import (
    add_checks,
    drop_checks,
    list_candidates,
    list_checks,
    list_known_contents,
    read_check_moments,
    read_check_scores,
)
from ragsonde_schemas.app_name import read_app, show_app
from ragsonde_schemas.errors import InputError
from ragsonde_schemas.stream_labels import judge_label, scorer_label

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Engine

    from ragsonde.storage.check_traces import CheckTrace
    from ragsonde_schemas.check import Drift

EXAMPLES = (
    (
        "ragsonde check-set choose --app shop",
        "30 traces of the last days: low, middle and high scores, new ones",
    ),
    ("ragsonde check-set list", "what is in it, and how far each judge has moved since it saw it first"),
    ("ragsonde check-set drop --app shop --dry-run", "what would leave it"),
)

DEFAULT_SIZE = 30
DEFAULT_DAYS = 14


class Action(StrEnum):
    """What is done with the check set."""

    CHOOSE = "choose"
    LIST = "list"
    DROP = "drop"


def check_set(
    action: Annotated[Action, typer.Argument(help="choose: fill it; list: show it; drop: empty it.")],
    *,
    app: Annotated[str | None, typer.Option(help="Only this app; `default` is the unknown one.")] = None,
    n: Annotated[
        int, typer.Option(min=1, max=1_000, help="choose: how many the app's set shall hold.")
    ] = DEFAULT_SIZE,
    days: Annotated[
        int, typer.Option(min=1, max=90, help="choose: from so many days, today included.")
    ] = DEFAULT_DAYS,
    id_: Annotated[
        list[int] | None, typer.Option("--id", help="drop: only this number; may be repeated.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be done, and do nothing.")
    ] = False,
    config: ConfigOption = None,
    database_url: DatabaseUrlOption = None,
    data_dir: DataDirOption = None,
    output: OutputOption = OutputForm.TABLE,
) -> None:
    """Keep traces that judges see again every day, and say how far judges have moved.

    choose copies recorded traces with their texts: low, middle and high scores and the newest take turns, and
    the same traces give the same choice. What is in the set stays in it. From then on each judge that costs
    money judges all of them once a day, from the same budget and outside of all means.

    list also shows the change of each judge: the mean over the traces of the newest score minus the first one
    under the judge's fingerprint, with its standard error. The traces are always the same, so a change beyond
    twice that error says that the judge moved, not the application.

    drop takes traces out and erases their texts; what judges said of them is kept.
    """
    settings = read_settings(config, options={"database_url": database_url, "data_dir": data_dir})
    stored = None if app is None else read_app(app)
    with open_database(settings, command="check-set") as engine:
        match action:
            case Action.CHOOSE:
                _choose(engine, stored, n=n, days=days, is_dry=dry_run)
            case Action.LIST:
                _list(engine, stored, output=output)
            case Action.DROP:
                _drop(engine, stored, ids=id_ or None, is_dry=dry_run)


def _choose(engine: Engine, app: str | None, *, n: int, days: int, is_dry: bool) -> None:
    if app is None:
        raise InputError("--app is missing: expected the app whose traces are chosen")
    now = datetime.now(UTC)
    known = list_known_contents(engine, app=app)
    found = list_candidates(engine, app=app, now=now, days=days)
    if not found and not known:
        refuse_unknown_app(engine, app)
        raise InputError(
            f"--app {show_app(app)}: no scored trace of the last {days} days with its texts; expected the "
            "name of an app that is evaluated, or more --days"
        )
    new = [one for one in found if one.content_hash not in known]
    chosen = choose_checks(new, count=max(0, n - len(known)))
    added = len(chosen) if is_dry else add_checks(engine, chosen, now=now)
    done = "would be added to" if is_dry else "added to"
    _say(f"{count_traces(added)} {done} the check set of {show_app(app)}, which held {len(known)}")
    if len(known) + added < n:
        _say(f"{n} were asked for: the last {days} days hold no more scored contents")


def _list(engine: Engine, app: str | None, *, output: OutputForm) -> None:
    _check_app(engine, app)
    traces = list_checks(engine, app=app)
    ids = {one.id for one in traces}
    drifts = measure_drift(one for one in read_check_scores(engine, since=date.min) if one.check_id in ids)
    moments = read_check_moments(engine)
    if output is OutputForm.JSON:
        described = [_describe(one, moments=moments) for one in drifts]
        write_json({"traces": [one.model_dump(mode="json") for one in traces], "drift": described})
        return
    if not traces:
        _say(f"the check set is empty; fill it with {name_command('check-set choose --app APP')}")
        return
    _print_traces(traces)
    _print_drifts(drifts, moments=moments)


def _drop(engine: Engine, app: str | None, *, ids: Sequence[int] | None, is_dry: bool) -> None:
    if app is None and ids is None:
        raise InputError("nothing is named: expected --app, --id or both")
    _check_app(engine, app)
    if is_dry:
        dropped = sum(ids is None or one.id in ids for one in list_checks(engine, app=app))
    else:
        dropped = drop_checks(engine, app=app, ids=ids)
    if not dropped:
        write_note("nothing matches: the check set holds no such trace")
        raise typer.Exit(ExitCode.BELOW)
    _say(f"{count_traces(dropped)} {'would be dropped' if is_dry else 'dropped'}")


def _check_app(engine: Engine, app: str | None) -> None:
    """Nothing where the app has traces in the set, none is named, or the set is empty.

    Raises:
        InputError: the set holds other apps only.
    """
    known = {show_app(one.app) for one in list_checks(engine)}
    if app is not None and known:
        refuse_unknown("--app", show_app(app), known=known, what="none of its traces is in the check set")


def _say(text: str) -> None:
    make_console().print(show(text))


def _print_traces(traces: Sequence[CheckTrace]) -> None:
    table = make_table("number", "app", "trace", "chosen", right=("number",))
    for one in traces:
        chosen = one.chosen_at.strftime("%Y-%m-%d %H:%M")
        table.add_row(*map(show, (str(one.id), show_app(one.app), one.trace_id, chosen)))
    make_console().print(table)


def _print_drifts(drifts: Sequence[Drift], *, moments: dict[tuple[str, str], datetime]) -> None:
    if not drifts:
        _say("\nno judge has seen it on two days yet")
        return
    headings = ("judge", "scorer", "traces", "first", "now", "change", "std error", "last judged")
    table = make_table(*headings, right=headings[2:7])
    for one in drifts:
        moment = moments.get((one.judge, one.fingerprint))
        cells = (
            judge_label(one.judge, one.fingerprint),
            scorer_label(one.scorer, one.version),
            str(one.n),
            f"{one.reference:.3f}",
            f"{one.now:.3f}",
            f"{one.difference:+.3f}",
            "-" if one.stderr is None else f"{one.stderr:.3f}",
            "-" if moment is None else moment.strftime("%Y-%m-%d %H:%M"),
        )
        table.add_row(*map(show, cells))
    console = make_console()
    console.print()
    console.print(table)


def _describe(drift: Drift, *, moments: dict[tuple[str, str], datetime]) -> dict[str, Any]:
    moment = moments.get((drift.judge, drift.fingerprint))
    return {**drift.model_dump(mode="json"), "last_judged_at": moment and moment.isoformat()}
