"""Backfills by command: started, shown, paused, resumed, cancelled, waited for."""

from __future__ import annotations

from datetime import UTC, datetime
from enum import StrEnum
from typing import TYPE_CHECKING

import typer

from ragsonde.cli.backfill_progress import describe_backfill, require_backfill, tell_backfill, wait_for_end
from ragsonde.cli.backfill_start import begin, describe_forecast, forecast, look_through, tell_forecast
from ragsonde.cli.failures import ExitCode
from ragsonde.cli.meant_evaluations import refuse_unknown_app
from ragsonde.cli.terminal import make_console, show, write_json, write_note
from ragsonde.storage.backfills import SOURCES, change_state
from ragsonde_schemas.backfill import BackfillState
from ragsonde_schemas.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Engine

    from ragsonde.pipeline.assignments import Assignment
    from ragsonde_schemas.backfill import Backfill, BackfillRequest


class Action(StrEnum):
    """What is done."""

    START = "start"
    FILES = "files"
    LIST = "list"
    SHOW = "show"
    PAUSE = "pause"
    RESUME = "resume"
    CANCEL = "cancel"
    COMPARE = "compare"
    ACTIVATE = "activate"


_TARGETS = {
    Action.PAUSE: BackfillState.PAUSED,
    Action.RESUME: BackfillState.RUNNING,
    Action.CANCEL: BackfillState.CANCELLED,
}
_SOURCES = {**SOURCES, BackfillState.RUNNING: (BackfillState.PAUSED,)}
"""From where people may change it: that one over files goes on after all is for the monitor to see."""


def start(
    engine: Engine,
    request: BackfillRequest,
    *,
    assignment: Assignment,
    is_dry: bool,
    waits: bool,
    as_json: bool,
) -> None:
    """Tells what a backfill would do, and unless it is a dry run starts it.

    Raises:
        InputError: dollars cannot be counted, or there is no such app.
        DatabaseLostError: it may be started or not.
        typer.Exit: there is nothing to do, or it was waited for and did not end as done.
    """
    foreseen = look_through(engine, request, assignment=assignment)
    if foreseen.is_nothing and not foreseen.without_texts:
        refuse_unknown_app(engine, request.app)
    told = forecast(engine, request, foreseen, assignment=assignment, now=datetime.now(UTC))
    if not as_json:
        for line in tell_forecast(told, request):
            make_console().print(show(line))
    if foreseen.is_nothing:
        write_note("nothing to do: no trace of the range is one of these; --since takes more days")
        if as_json:
            write_json({"dry_run": is_dry, **describe_forecast(told, request), "backfill": None})
        raise typer.Exit(ExitCode.BELOW)
    number = None if is_dry else begin(engine, request, foreseen)
    if as_json and not (waits and number is not None):
        write_json({"dry_run": is_dry, **describe_forecast(told, request), "backfill": number})
    elif number is not None and not as_json:
        make_console().print(show(f"backfill {number} started; `ragsonde backfill show {number}`", "bold"))
    if waits and number is not None:
        report_end(engine, number, as_json=as_json)


def steer(
    engine: Engine,
    action: Action,
    numbers: Sequence[int],
    *,
    is_dry: bool,
    waits: bool,
    as_json: bool,
) -> None:
    """Shows, pauses, resumes or cancels backfills, and says so.

    Raises:
        InputError: there is no such backfill, or it is in a state from which that cannot be done.
        DatabaseLostError: Postgres is away.
        typer.Exit: one was waited for and did not end as done.
    """
    found = [require_backfill(engine, number) for number in numbers]
    for one in found:
        target = _TARGETS.get(action)
        if target is not None:
            _change(engine, one, action, target=target, is_dry=is_dry)
        if waits and action in {Action.SHOW, Action.RESUME}:
            report_end(engine, one.id, as_json=as_json)
            continue
        now = require_backfill(engine, one.id)
        if as_json:
            write_json(describe_backfill(now))
        elif target is None:
            for line in tell_backfill(now):
                make_console().print(show(line))
        else:
            put_back = f", {one.tally.outstanding} evaluations are left as they were" * (
                action is Action.CANCEL
            )
            verb = f"would be {target.value}" if is_dry else f"is {target.value}"
            make_console().print(show(f"backfill {one.id} {verb}{put_back}"))


def report_end(engine: Engine, number: int, *, as_json: bool) -> None:
    """Waits for a backfill and shows how it ended.

    Raises:
        typer.Exit: not as done.
    """
    ended = wait_for_end(engine, number)
    if as_json:
        write_json(describe_backfill(ended))
    else:
        for line in tell_backfill(ended):
            make_console().print(show(line))
    if ended.state is not BackfillState.DONE:
        raise typer.Exit(ExitCode.BELOW)


def _change(engine: Engine, one: Backfill, action: Action, *, target: BackfillState, is_dry: bool) -> None:
    """Brings a backfill into a state, or only looks whether it may be; nothing where it is in it.

    Raises:
        InputError: from the state that it is in it cannot be brought there.
    """
    sources = _SOURCES[target]
    if is_dry:
        state = one.state
    elif change_state(engine, one.id, target, now=datetime.now(UTC), sources=sources):
        return
    else:
        state = require_backfill(engine, one.id).state
    if state is not target and not (is_dry and state in sources):
        raise InputError(f"backfill {one.id}: is {state.value}, so there is nothing to {action.value}")


def read_numbers(words: Sequence[str] | None) -> list[int]:
    """The numbers of backfills.

    Raises:
        InputError: there is none, or a word is no number.
    """
    if not words:
        raise InputError("the number of a backfill is missing; `ragsonde backfill list` shows them")
    for word in words:
        if not (word.isascii() and word.isdigit()):
            raise InputError(
                f"found {word}, expected the number of a backfill; `ragsonde backfill list` shows them"
            )
    return [int(word) for word in words]


def refuse_words(words: Sequence[str] | None) -> None:
    """Nothing where there is no word.

    Raises:
        InputError: there is one.
    """
    if words:
        raise InputError(
            f"found {words[0]}: start and list take neither number nor file; expected options only"
        )
