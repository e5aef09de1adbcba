"""The life of a fall: what was told and done, how it stands, and the commands that steer it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ragsonde.page.wording import say_age, say_drop, say_moment, say_score
from ragsonde_schemas.told_explanation import read_explanation

if TYPE_CHECKING:
    from datetime import datetime

    from ragsonde_schemas.watched_fall import Fall


class Step(NamedTuple):
    """Something that happened to a fall, when, and what was said."""

    what: str
    at: str
    age: str
    note: str = ""


def say_standing(fall: Fall) -> tuple[str, str]:
    """How a fall stands, in words, and its tone: `bad`, `fair`, `good` or ''."""
    what = "a page" if fall.paged_at is not None else "a warning"
    if fall.is_open:
        known = ", somebody knows of it" if fall.acked_at is not None else ""
        return f"{what}, open{known}", "bad" if fall.paged_at is not None else "fair"
    if fall.false_at is not None:
        return f"{what}, called false", ""
    if fall.accepted_at is not None:
        return f"{what}, accepted as the new normal", ""
    if fall.has_recovered:
        return f"{what}, recovered", "good"
    return f"{what}, put away, not recovered", ""


def list_steps(fall: Fall, *, scale: float, now: datetime) -> list[Step]:
    """What happened to a fall, the oldest first."""
    reason = fall.reason or ""
    moments = [
        ("began, by what is known", fall.since, ""),
        ("told as a page" if fall.paged_at == fall.opened_at else "told as a warning", fall.opened_at, ""),
        ("became a page", None if fall.paged_at == fall.opened_at else fall.paged_at, ""),
        ("acknowledged", fall.acked_at, ""),
        ("accepted as the new normal", fall.accepted_at, reason),
        ("called false", fall.false_at, reason),
        _say_end(fall, scale=scale),
    ]
    # what ends at the same moment stays in this order
    known = sorted(((at, what, note) for what, at, note in moments if at is not None), key=lambda one: one[0])
    return [Step(what, say_moment(at), say_age(at, now=now), note) for at, what, note in known]


def list_commands(fall: Fall) -> tuple[tuple[str, str], ...]:
    """The commands that steer a fall, each with what it does."""
    number = fall.number
    commands = []
    if fall.is_open:
        if fall.acked_at is None:
            commands.append((f"ragsonde alerts ack {number}", "you know of it: it is not told again"))
        commands.append(
            (
                f'ragsonde alerts accept {number} --reason "..."',
                "it is meant to be so: what came since it began is the new normal",
            )
        )
        commands.append((f"ragsonde alerts verify {number} --since TIME", "is it over since the repair?"))
    if fall.false_at is None and fall.accepted_at is None:
        what = "there was no fall: it is counted as a false one" + (", and closed" if fall.is_open else "")
        commands.append((f"ragsonde alerts false {number}", what))
    return tuple(commands)


def _say_end(fall: Fall, *, scale: float) -> tuple[str, datetime | None, str]:
    if fall.has_recovered:
        return "recovered", fall.closed_at, _say_recovery(fall, scale=scale)
    if fall.accepted_at is not None or fall.false_at is not None:
        return "closed", fall.closed_at, ""
    return "put away, not recovered", fall.closed_at, fall.reason or ""


def _say_recovery(fall: Fall, *, scale: float) -> str:
    found = read_explanation(fall.explanation).recovery
    if found is None:
        return ""
    words = f"mean {say_score(found.mean * scale)}"
    if found.drop is not None and found.drop > 0:
        words += f", {say_drop(found.drop * scale)} below the baseline"
    return words
