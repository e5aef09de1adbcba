"""Points in time as people write them: how long ago, or a day or time of UTC."""

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
            return now - int(span[1]) * _UNITS[span[2]]
        moment = datetime.fromisoformat(text.strip())
    except (ValueError, OverflowError):
        raise InputError(
            f"{option}: found {text!r}, expected how long ago (`24h`, `7d`) or a time (`2026-10-01T12:00`)"
        ) from None
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def reading_of(option: str) -> Callable[[str], datetime]:
    """What Typer reads an option with: a moment, counted back from when it is read.

    Args:
        option: of the command line, for the error.
    """

    def read(text: str) -> datetime:
        return read_moment(text, option=option, now=datetime.now(UTC))

    return read
