"""What changed with a fall and may explain it: extraction, contexts, answers, the judge's check set."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from ragsonde.page.wording import say_score, say_share

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_OF = 1_000
"""Shares are kept as parts of 1, and said as of so many."""


class Fact(NamedTuple):
    """One of them: what it is about, what is known, and what that means; '' where it speaks for itself."""

    about: str
    words: tuple[str, ...]
    meaning: str = ""


def list_facts(told: Mapping[str, Any], *, scale: float) -> tuple[Fact, ...]:
    """What an explanation knows of the time around a fall; () where it knows nothing.

    Args:
        told: the explanation; `ragsonde_schemas.alert_explanation` has the shapes.
        scale: of the scorer.
    """
    facts: list[Fact] = []
    for key, tell in (
        ("extraction", _tell_extraction),
        ("contexts", _tell_contexts),
        ("answers", _tell_answers),
        ("check_set", partial(_tell_check_set, scale=scale)),
    ):
        # what another version of the program told in another shape is left out
        with suppress(AttributeError, KeyError, TypeError, ValueError):
            facts += list(tell(told.get(key)))
    return tuple(facts)


def _tell_extraction(found: Mapping[str, Any] | None) -> Iterator[Fact]:
    if found:
        moved = tuple(
            f"{one['field']} by the rule {one['rule']}: {_say_shares(one['before'], one['after'])} of traces"
            for one in found["moved"]
        )
        meaning = "Fields are read by other rules: what fell may be what is read, not what was retrieved."
        yield Fact("extraction", moved, meaning)


def _tell_contexts(found: Mapping[str, Any] | None) -> Iterator[Fact]:
    for key, about in (("count", "contexts of a trace"), ("characters", "characters of its contexts")):
        if found and key in found:
            before, after = found[key]["before"], found[key]["after"]
            words = f"{before['mean']:,.1f} on average before the fall, {after['mean']:,.1f} since"
            middle = f"the middle one {before['p50']:,.0f}, then {after['p50']:,.0f}"
            yield Fact(about, (words, middle))


def _tell_answers(found: Mapping[str, Any] | None) -> Iterator[Fact]:
    if found:
        words = [
            f"contexts fit the questions: {_say_pair(found['retrieval_before'], found['retrieval_after'])}",
            f"without an answer: {_say_shares(found['declined_before'], found['declined_after'])} of traces",
        ]
        if found["answer_before"] is not None and found["answer_after"] is not None:
            fit = _say_pair(found["answer_before"], found["answer_after"])
            words.insert(1, f"contexts fit question and answer: {fit}")
        meaning = (
            "Answers changed, retrieval probably not: look at the model that answers, and at its prompt."
        )
        yield Fact("answers", tuple(words), meaning)


def _tell_check_set(found: Mapping[str, Any] | None, *, scale: float) -> Iterator[Fact]:
    if found:
        pair = f"{say_score(found['before'] * scale)}, then {say_score(found['after'] * scale)}"
        words = f"the judge's mean of the same {found['n']:,} trace{'s' * (found['n'] != 1)}: {pair}"
        moved = "The judge itself scores lower or higher than before: the fall may be the judge's."
        stayed = "The judge scores the same traces as before: the fall is not the judge's."
        unknown = (
            "Whether the judge moved is not known: the check set is too small, or its scores differ too much."
        )
        steady = stayed if found.get("is_steady") else unknown
        yield Fact("check set", (words,), moved if found["has_moved"] else steady)


def _say_pair(before: float, after: float) -> str:
    return f"{say_score(before)}, then {say_score(after)}"


def _say_shares(before: float, after: float) -> str:
    shares = (say_share(round(part * _OF), _OF) for part in (before, after))
    return ", then ".join(shares)
