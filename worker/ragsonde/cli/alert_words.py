"""One alert in plain words, for whoever is woken by it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from ragsonde.cli.alert_circumstances import tell_circumstances
from ragsonde.cli.alert_table import name_stream, tell_state
from ragsonde.cli.program import name_command
from ragsonde.cli.terminal import make_console, make_table, show
from ragsonde.regression.fall_wording import is_number, say_chance, say_fall

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ragsonde_schemas.watched_fall import Fall

_SHOWN_TRACES = 10
_SMALL_SHIFT = 0.005
_PHI_NAMED = 1.5


def print_alert(alert: Fall) -> None:
    """All that is known of an alert, the most useful first."""
    console = make_console()
    style = "bold red" if alert.is_open and alert.is_page else "bold"
    console.print(show(f"alert {alert.number}: {name_stream(alert.stream)}", style))
    for line in list_lines(alert):
        console.print(show(line))
    traces = _list_objects(alert.explanation, "traces")
    if traces:
        console.print(show("\nworst traces of the fall:", "bold"))
        table = make_table("trace", "score", "occurred", "look at it", right=("score",), gap=2)
        for one in traces[:_SHOWN_TRACES]:
            trace_id = str(one.get("trace_id"))
            table.add_row(
                show(trace_id),
                _tell(one.get("raw")),
                tell_moment(one.get("occurred_at")),
                show(name_command(f"why {trace_id}")),
            )
        console.print(table)
    if alert.is_open:
        console.print(show("\nwhat to do:", "bold"))
        advice = _list_advice(alert)
        width = max(len(command) for command, _ in advice)
        for command, meaning in advice:
            console.print(show(f"  {command:{width}}  {meaning}"))


def list_lines(alert: Fall) -> Iterator[str]:
    """An alert in sentences; of what its explanation does not hold nothing is said."""
    told = alert.explanation
    yield from _tell_life(alert)
    yield from _tell_fall(alert, told)
    yield from _tell_parts(told)
    yield from tell_circumstances(told)
    changes = _list_objects(told, "changes") if "changes" in told else None
    if changes:
        yield "new within a day of the beginning:"
        for one in changes:
            kind = "release" if one.get("kind") == "release" else "scores as"
            yield f"  {tell_moment(one.get('at'))}  {kind} {one.get('name')}"
    elif changes is not None:
        yield "no release, and no version, judge or model of this scorer, was first seen within a day of it"
    recovery = told.get("recovery")
    if isinstance(recovery, dict):
        yield (
            f"recovered since {tell_moment(recovery.get('since'))}: mean {_tell(recovery.get('mean'))}, "
            f"{_tell(recovery.get('drop'))} of the fall is left, over {recovery.get('n')} traces"
        )


def tell_moment(value: object) -> str:
    """A stored moment as people read it, in UTC; what is none as it is."""
    try:
        return f"{datetime.fromisoformat(str(value)).astimezone(UTC):%Y-%m-%d %H:%M} UTC"
    except ValueError:
        return str(value)


def _tell_life(alert: Fall) -> Iterator[str]:
    state = tell_state(alert)
    paged = "" if alert.paged_at is None else f", a page since {tell_moment(alert.paged_at)}"
    yield f"{state}; told at the end of {tell_moment(alert.opened_at)}{paged}"
    if alert.acked_at is not None:
        yield f"known since {tell_moment(alert.acked_at)}"
    for moment, word in ((alert.accepted_at, "accepted as meant"), (alert.false_at, "called false")):
        if moment is not None:
            reason = f": {alert.reason}" if alert.reason else ""
            yield f"{word} at {tell_moment(moment)}{reason}"
    if alert.closed_at is not None:
        is_decided = alert.has_recovered or alert.accepted_at is not None or alert.false_at is not None
        why = "" if is_decided else f", not recovered: {alert.reason or 'its stream was put away'}"
        yield f"closed at {tell_moment(alert.closed_at)}{why}"


def _tell_fall(alert: Fall, told: Mapping[str, Any]) -> Iterator[str]:
    if "drop" in told:
        yield say_fall("scores", told, since=tell_moment(alert.since), write=_tell)
    if "mean" in told:
        kind = {"floor": "a floor of", "provisional": "a provisional baseline of"}
        before = kind.get(str(told.get("baseline_kind")), "a baseline of")
        against = f"{before} {_tell(told.get('baseline_mean'))}"
        yield f"mean {_tell(told['mean'])} of {told.get('n')} traces, against {against}"
    if "floor" in told:
        yield f"a person set a floor of {_tell(told['floor'])}: a mean below it is told too"
    if (chance := say_chance(told.get("evidence_days"))) is not None:
        yield f"when told: chance alone would show this about {chance}"
    phi = told.get("overdispersion")
    if is_number(phi) and phi >= _PHI_NAMED:
        yield (
            f"traces of an hour are alike here (phi {phi:.1f}): {phi:.1f} of them tell as much as one "
            "that stands alone, which the numbers above allow for"
        )


def _tell_parts(told: Mapping[str, Any]) -> Iterator[str]:
    shift = told.get("mix_shift")
    if is_number(shift):
        if abs(shift) < _SMALL_SHIFT:
            yield "all of it is within traces of the same kind: the mix of traces is as before"
        else:
            word = "harder" if shift > 0 else "easier"
            yield (
                f"beside it the plain mean moved by {-shift:+.3f} because traces are {word} than before: "
                "that part is no fall"
            )
    strata = _list_objects(told, "worst_strata")
    if strata:
        yield "where it fell most:"
        for one in strata:
            yield f"  {one.get('stratum')}: by {_tell(one.get('drop'))}, {one.get('n')} traces"


def _list_advice(alert: Fall) -> list[tuple[str, str]]:
    """Commands, each with what it is for."""
    number = alert.number
    ack = [(f"alerts ack {number}", "it is known: nobody is told again")] if alert.acked_at is None else []
    told = [
        (f"alerts verify {number} --since TIME", "after a repair: is it over?"),
        *ack,
        (f"alerts accept {number} --reason TEXT", "it is meant: hold scores to the level of now"),
        (f"alerts false {number} --reason TEXT", "there was no fall"),
    ]
    return [(name_command(arguments), meaning) for arguments, meaning in told]


def _list_objects(told: Mapping[str, Any], key: str) -> list[dict[str, Any]]:
    found = told.get(key)
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


def _tell(value: object) -> str:
    return f"{value:.3f}" if is_number(value) else "?"
