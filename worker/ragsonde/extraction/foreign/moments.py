"""Times as other tools write them: ISO 8601, numbers since 1970, Python's notation."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone
from typing import TYPE_CHECKING

from ragsonde.extraction.documents import read_score

if TYPE_CHECKING:
    from collections.abc import Iterable

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_NUMBER = re.compile(r"\d{9,20}(?:\.\d{1,20})?")
_SCALES = ((10**11, 10**9), (10**14, 10**6), (10**17, 10**3), (10**20, 1))
"""Below the first number a time counts in units of so many nanoseconds: s, ms, us, ns."""
_PYTHON = re.compile(
    r"datetime\.datetime\((\d{1,4}(?:, \d{1,6}){2,6})(?:, fold=1)?(?:, tzinfo=(.{0,200}))?\)", re.DOTALL
)
_SHIFT = re.compile(r"timedelta\((?:days=(-?\d{1,2}), )?seconds=(\d{1,6})\)")
_CLAIM_CHARACTERS = 60


def read_moment(value: object) -> datetime | str | None:
    """The time that `value` tells: aware, or naive for UTC; a text where it is no time, None for nothing.

    A number counts seconds, milliseconds, microseconds or nanoseconds since 1970, whichever gives a time
    between 1973 and 5138. LangChain writes a time as an object with Python's notation under `repr`.
    """
    if isinstance(value, dict):
        value = value.get("repr")
    if isinstance(value, str):
        return _read_text(value.strip()) if value.strip() else None
    if value is None or isinstance(value, bool) or value == 0:
        return None
    if isinstance(value, int | float):
        return _read_number(value) or str(value)[:_CLAIM_CHARACTERS]
    return "neither text nor number"


def read_instant(value: object) -> int:
    """The same time as nanoseconds since 1970, a number's to its last digit; 0 where `value` is no time."""
    if isinstance(value, str) and _NUMBER.fullmatch(value.strip()):
        value = _parse_number(value.strip())
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _scale(value) or 0
    moment = read_moment(value)
    return _count(moment) if isinstance(moment, datetime) else 0


def find_moment(values: Iterable[object]) -> datetime | str | None:
    """The first of `values` that is a time, else the first that claims to be one, else None."""
    moments = [moment for value in values if (moment := read_moment(value)) is not None]
    return next((moment for moment in moments if isinstance(moment, datetime)), next(iter(moments), None))


def count_nanoseconds(moment: datetime | str | None) -> int:
    """Nanoseconds since 1970; 0 for no time or an earlier one."""
    return max(_count(moment), 0) if isinstance(moment, datetime) else 0


def measure_milliseconds(start: object, end: object) -> float | None:
    """Milliseconds from one time to another; None where one is none or the second is before the first."""
    started, ended = count_nanoseconds(read_moment(start)), count_nanoseconds(read_moment(end))
    return (ended - started) / 1e6 if 0 < started <= ended else None


def scale_seconds(value: object) -> float | None:
    """Seconds as milliseconds; None for what is no duration."""
    seconds = read_score(value)
    return read_score(seconds * 1000) if seconds is not None and seconds >= 0 else None


def _read_text(text: str) -> datetime | str | None:
    if _NUMBER.fullmatch(text):
        return _read_number(_parse_number(text)) or text
    python = _PYTHON.fullmatch(text)
    try:
        if python is not None:
            return _build(python[1], python[2])
        return datetime.fromisoformat(re.sub(r" ?(?:UTC|GMT)$", "+00:00", text))
    except (ValueError, OverflowError):
        return text[:_CLAIM_CHARACTERS]


def _parse_number(text: str) -> float:
    return float(text) if "." in text else int(text)


def _read_number(number: float) -> datetime | None:
    nanoseconds = _scale(number)
    return None if nanoseconds is None else _EPOCH + timedelta(microseconds=nanoseconds // 1_000)


def _scale(number: float) -> int | None:
    """Nanoseconds that a number counts in its own unit; of a fraction as many microseconds as it tells."""
    for limit, unit in _SCALES:
        if 0 < number < limit:  # compared before it is multiplied: an integer may be too large for a double
            if isinstance(number, int):
                return number * unit
            return round(number * (unit / 1_000)) * 1_000
    return None


def _count(moment: datetime) -> int:
    aware = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    return (aware - _EPOCH) // _MICROSECOND * 1_000


def _build(numbers: str, zone: str | None) -> datetime:
    """A time from Python's notation; a zone that is neither UTC nor a shift is taken for UTC."""
    parts = [int(part) for part in numbers.split(", ")]
    shift = _SHIFT.search(zone or "")
    offset = timedelta(days=int(shift[1] or 0), seconds=int(shift[2])) if shift else timedelta()
    year, month, day, *rest = parts
    hour, minute, second, microsecond = (*rest, 0, 0, 0, 0)[:4]
    return datetime(year, month, day, hour, minute, second, microsecond, tzinfo=timezone(offset))
