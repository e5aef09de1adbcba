"""Backfills as people and scripts see them: a list, one in full, and one that is waited for."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from ragsonde.cli.terminal import make_console, make_table, show
from ragsonde.storage.backfills import read_backfill
from ragsonde_schemas.app_name import show_app
from ragsonde_schemas.errors import InputError
from ragsonde_schemas.stream_labels import judge_label

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sqlalchemy import Engine

    from ragsonde_schemas.backfill import Backfill

WAIT_SECONDS = 1.0

_HEADINGS = (
    "number",
    "state",
    "judge",
    "app",
    "traces of",
    "done",
    "scored",
    "failed",
    "left",
    "calls",
    "usd",
)


def require_backfill(engine: Engine, number: int) -> Backfill:
    """The backfill of that number.

    Raises:
        InputError: there is none.
        DatabaseLostError: Postgres is away.
    """
    found = read_backfill(engine, number)
    if found is None:
        raise InputError(f"backfill {number}: there is none; `ragsonde backfill list` shows them all")
    return found


def print_list(backfills: Sequence[Backfill]) -> None:
    """A line a backfill."""
    console = make_console()
    if not backfills:
        console.print(show("there is no backfill"))
        return
    table = make_table(*_HEADINGS, right=(_HEADINGS[0], *_HEADINGS[5:]))
    for one in backfills:
        tally = one.tally
        cells = (
            str(one.id),
            one.state.value,
            _name_judge(one),
            "all" if one.request.app is None else show_app(one.request.app),
            f"{one.request.since} to {one.request.until}",
            f"{one.share_done:.0%}",
            *(str(count) for count in (tally.scored, tally.failed, tally.left, tally.calls)),
            f"{tally.cost_usd:.4f}",
        )
        table.add_row(*map(show, cells))
    console.print(table)


def tell_backfill(one: Backfill) -> list[str]:
    """All that is known of a backfill, a sentence a line."""
    request, tally = one.request, one.tally
    lines = [f"backfill {one.id}: {one.state.value}" + (f", {one.message}" if one.message else "")]
    app = "all apps" if request.app is None else f"app {show_app(request.app)}"
    where = app if request.environment is None else f"{app}, {request.environment}"
    lines.append(f"traces of {request.since} to {request.until}, {where}, by judge {_name_judge(one)}")
    if request.only_failed:
        lines.append("what failed" + (f" with {request.cause}" if request.cause else "") + ", once more")
    if request.scorer is not None:
        lines.append(f"the score of {request.scorer}, where it was judged without")
    limits = [f"{request.rate_per_second:g} a second", f"share {request.sample:.4g}"]
    for name, most in (
        ("traces", request.most_traces),
        ("calls", request.most_calls),
        ("usd", request.most_usd),
    ):
        if most is not None:
            limits.append(f"at most {most:g} {name}")
    lines.append(", ".join(limits))
    by_whom = f" by {one.created_by}" if one.created_by else ""
    lines.append(f"started {one.created_at:%Y-%m-%d %H:%M}{by_whom}, {one.foreseen} evaluations foreseen")
    lines.append(
        f"{one.looked_at} traces looked at, {one.planned} evaluations planned: "
        f"{tally.outstanding} outstanding ({tally.running} running), {tally.scored} scored, "
        f"{tally.not_evaluable} not evaluable, {tally.failed} failed, {tally.left} left"
    )
    lines.append(
        f"{tally.calls} calls, {tally.tokens_in} tokens in, {tally.tokens_out} out, {tally.cost_usd:.4f} usd"
    )
    return lines


def describe_backfill(one: Backfill) -> dict[str, Any]:
    """The same for scripts."""
    return {**one.model_dump(mode="json"), "share_done": one.share_done}


def wait_for_end(engine: Engine, number: int, *, pause: Callable[[float], None] = time.sleep) -> Backfill:
    """The backfill when it has ended or somebody has paused it; a bar shows how far it is.

    Raises:
        DatabaseLostError: Postgres went away; the backfill goes on without us.
    """
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(
        *columns, console=console, transient=True, redirect_stdout=False, disable=not console.is_terminal
    ) as progress:
        task = progress.add_task(f"backfill {number}", total=None)
        while True:
            one = require_backfill(engine, number)
            ended = one.tally.evaluated + one.tally.left
            progress.update(task, completed=ended, total=max(one.planned, one.foreseen))
            if one.state.value != "running" and not one.tally.outstanding:
                return one
            if one.state.value == "paused":
                return one
            pause(WAIT_SECONDS)


def _name_judge(one: Backfill) -> str:
    if one.request.judge is None:
        return "as live"
    return judge_label(one.request.judge, one.request.fingerprint or "")
