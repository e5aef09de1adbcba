"""When a trace happened: the producer's word where it can be true, else the best guess."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from ragsonde_schemas.decoded import Receipt

AHEAD_AT_MOST = timedelta(days=1)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LAST_MILLISECOND = 253_402_300_799_999
_UUID7 = re.compile(r"[0-9a-f]{8}-?[0-9a-f]{4}-?7[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}", re.IGNORECASE)
_ULID = re.compile(r"[0-7][0-9A-HJKMNP-TV-Z]{25}", re.IGNORECASE)
_CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


class Occurrence(NamedTuple):
    """When a trace happened.

    Attributes:
        at: aware, UTC.
        is_guessed: the producer gave no time that can be used.
        claimed: the producer's time as text, where it was not used.
        rule: which source gave `at`.
    """

    at: datetime
    is_guessed: bool
    claimed: str | None
    rule: str


def find_occurrence(
    claimed: datetime | str | None, *, ids: tuple[str | None, ...], receipt: Receipt, retention_days: int
) -> Occurrence:
    """The time of a trace.

    The claimed time holds unless it is missing, older than the retention or more than a day ahead of the
    receipt; then the time inside the first UUIDv7 or ULID of `ids`, else the transport's timestamp, each
    under the same condition, else the time of receipt.

    Args:
        claimed: aware, or naive for UTC; a string is a claim that is no time at all.
        ids: the trace's own ids, the likeliest to carry a time first.
        receipt: when the delivery came.
        retention_days: how long rows are kept.
    """
    now = _make_aware(receipt.received_at)
    if isinstance(claimed, datetime) and _can_be_true(claimed, now=now, retention_days=retention_days):
        return Occurrence(_to_utc(claimed), is_guessed=False, claimed=None, rule="producer")
    refused = claimed.isoformat() if isinstance(claimed, datetime) else claimed
    guesses = [("id", read_time_in_id(name)) for name in ids if name]
    for rule, guess in (*guesses, ("published_at", receipt.published_at)):
        if guess is not None and _can_be_true(guess, now=now, retention_days=retention_days):
            return Occurrence(_to_utc(guess), is_guessed=True, claimed=refused, rule=rule)
    return Occurrence(_to_utc(now), is_guessed=True, claimed=refused, rule="received_at")


def read_time_in_id(name: str) -> datetime | None:
    """The time inside a UUIDv7 (RFC 9562) or ULID, aware; None where `name` is neither."""
    if _UUID7.fullmatch(name):
        milliseconds = int(name.replace("-", "")[:12], 16)
    elif _ULID.fullmatch(name):
        milliseconds = 0
        for character in name[:10].upper():
            milliseconds = milliseconds * 32 + _CROCKFORD.index(character)
    else:
        return None
    if milliseconds > _LAST_MILLISECOND:
        return None
    return _EPOCH + timedelta(milliseconds=milliseconds)


def read_nanoseconds(nanoseconds: int) -> datetime | str | None:
    """The time so many nanoseconds after 1970, aware; None for 0, text where no calendar reaches."""
    if nanoseconds == 0:
        return None
    if not 0 < nanoseconds <= _LAST_MILLISECOND * 1_000_000:
        return f"{nanoseconds} ns since 1970"
    return _EPOCH + timedelta(microseconds=nanoseconds // 1000)


def _can_be_true(time: datetime, *, now: datetime, retention_days: int) -> bool:
    age = now - _make_aware(time)
    return age >= -AHEAD_AT_MOST and age.days < retention_days


def _make_aware(time: datetime) -> datetime:
    return time if time.tzinfo is not None else time.replace(tzinfo=UTC)


def _to_utc(time: datetime) -> datetime:
    return _make_aware(time).astimezone(UTC)
