"""Numbers, ages and names as people read them."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from markupsafe import Markup, escape

from ragsonde.scoring.meanings import CAUSES
from ragsonde_schemas.app_name import show_app

if TYPE_CHECKING:
    from ragsonde_schemas.errors import Cause
    from ragsonde_schemas.watched import Place

_PROBABILITY = re.compile(r" \(p [01]\.\d\d\)")
_UNITS = (("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1))


def say_age(moment: datetime, *, now: datetime) -> str:
    """`12 s ago`, `3 h ago`; a clock that is ahead of ours says `just now`."""
    seconds = (now - moment) / timedelta(seconds=1)
    for unit, size in _UNITS:
        if seconds >= size:
            return f"{int(seconds // size)} {unit} ago"
    return "just now"


def say_place(place: Place) -> str:
    """`support-bot, production`; without an environment the app alone."""
    return ", ".join(name for name in (show_app(place.app), place.environment) if name)


def say_moment(moment: datetime) -> str:
    """`2026-10-07 12:00:31 UTC`."""
    return f"{moment:%Y-%m-%d %H:%M:%S} UTC"


def say_share(part: int, whole: int) -> str:
    """`12 %` with a space that does not break; below one `0.4 %`, and never 0 or 100 where it is not."""
    if not whole:
        return "none"
    percent = 100 * part / whole
    if 0 < percent < 1 or 99 < percent < 100:  # noqa: PLR2004 - of a hundred
        return f"{min(99.9, max(0.1, round(percent, 1))):g}\u00a0%"
    return f"{percent:.0f}\u00a0%"


def say_part(share: float) -> str:
    """`in a sample of 2 %`; '' where all of it was looked at."""
    return "" if share >= 1 else f"in a sample of {say_share(round(share * 100_000), 100_000)}"


def say_score(value: float) -> str:
    """`0.00` to `1.00`, on whatever scale it is given: two places, wherever a score stands."""
    return f"{value:.2f}"


def say_drop(value: float) -> str:
    """`.12` of 1, `1.20` of 10: how far a mean fell; what is less than half a hundredth is not nothing."""
    places = 2 if abs(value) >= 0.005 or not value else 4  # noqa: PLR2004 - what two places can tell
    words = f"{value:.{places}f}"
    return words.replace("0.", ".", 1) if words.lstrip("-").startswith("0.") else words


def say_since(moment: datetime, *, now: datetime) -> str:
    """`14:05` of the same day (UTC), else `Oct 6, 14:05`; of another year with it."""
    if moment.date() == now.date():
        return f"{moment:%H:%M}"
    year = "" if moment.year == now.year else f" {moment.year}"
    return f"{moment:%b} {moment.day}{year}, {moment:%H:%M}"


def describe_cause(cause: Cause) -> str:
    """What a cause means; of a newer version's cause the word itself."""
    return CAUSES.get(cause, say_name(cause.value))


def drop_probability(reason: str) -> str:
    """A reason without the number by which the lexical judge decided: it means nothing to who reads it."""
    return _PROBABILITY.sub("", reason)


def say_name(word: str) -> str:
    """`not evaluable` for a state's or a cause's key."""
    return word.replace("_", " ")


def mark_code(text: str) -> Markup:
    """A text of the documentation as HTML: what stands between backticks is code."""
    return Markup("").join(
        Markup("<code>{}</code>").format(part) if number % 2 else escape(part)
        for number, part in enumerate(text.split("`"))
    )
