"""Points in time and spans as people write them: how long (ago), or a day or time of UTC."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from ragsonde_schemas.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

_SPAN = re.compile(r"(\d{1,5})\s*(m|h|d|w)")
_UNITS = {
    "m": timedelta(minutes=1),
    "h": timedelta(hours=1),
    "d": timedelta(days=1),
    "w": timedelta(weeks=1),
}
_FIRST_YEAR, _LAST_YEAR = 2, 9998
"""A year less than the calendar has: days are counted back and forth from a moment."""
MOMENT_HELP = "`24h`, `7d` ago, or a day or time of UTC: `2026-10-01`, `2026-10-01T12:00`"


def read_moment(text: str, *, option: str, now: datetime) -> datetime:
    """The point in time that a person means, aware, UTC.

    Args:
        text: `90m`, `24h`, `7d`, `2w` ago, or ISO 8601; without a zone it is UTC.
        option: of the command line, for the error.
        now: from which a span counts back.

    Raises:
        InputError: it is neither, or out of the calendar.
    """
    try:
        if span := _SPAN.fullmatch(text.strip().lower()):
            moment = now - int(span[1]) * _UNITS[span[2]]
        else:
            moment = datetime.fromisoformat(text.strip())
        found = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):
        found = None
    if found is None or not _FIRST_YEAR <= found.year <= _LAST_YEAR:
        raise InputError(
            f"{option}: found {text!r}, expected how long ago (`24h`, `7d`) or a time (`2026-10-01T12:00`) "
            f"of the years {_FIRST_YEAR} to {_LAST_YEAR}"
        )
    return found


def read_span(text: str, *, option: str) -> timedelta:
    """The span that a person means: `90m`, `2h`, `7d`.

    Raises:
        InputError: it is none.
    """
    if span := _SPAN.fullmatch(text.strip().lower()):
        return int(span[1]) * _UNITS[span[2]]
    raise InputError(f"{option}: found {text!r}, expected how long: `30m`, `2h`, `1d`")


def reading_of(option: str) -> Callable[[str], datetime]:
    """What Typer reads an option with: a moment, counted back from when it is read.

    Args:
        option: of the command line, for the error.
    """

    def read(text: str) -> datetime:
        return read_moment(text, option=option, now=datetime.now(UTC))

    return read
