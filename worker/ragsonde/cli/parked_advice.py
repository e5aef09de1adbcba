"""What to do about a parked message, for people, by the reason for which it was parked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragsonde_schemas.errors import ParkReason

if TYPE_CHECKING:
    from ragsonde_schemas.history import ParkedMessage

_PRODUCER = "mend its producer and let it send the message again; drop this one"

ADVICE: dict[ParkReason, str] = {
    ParkReason.EMPTY_BODY: _PRODUCER,
    ParkReason.OVERSIZE: "have the producer send less, or raise max_body_bytes, then replay",
    ParkReason.INVALID_UTF8: _PRODUCER,
    ParkReason.INVALID_JSON: _PRODUCER,
    ParkReason.INVALID_PROTOBUF: _PRODUCER,
    ParkReason.INVALID_COMPRESSION: _PRODUCER,
    ParkReason.UNKNOWN_FORMAT: "docs/reference/formats.md says what is read; where a newer version or a "
    "plugin does read it, install that and replay; else drop it",
    ParkReason.UNSUPPORTED_SCHEMA_VERSION: "upgrade ragsonde until it knows this schema, then replay",
    ParkReason.INVALID_MESSAGE: "the record or span with the fault was not stored; others of the message, "
    "if it has any, were. Where a mapping or a newer version can read it, replay: what was stored is a "
    f"duplicate then; else {_PRODUCER}",
    ParkReason.BAD_TRACE_ID: _PRODUCER,
    ParkReason.OVER_LIMIT: "raise the limit that it names, then replay",
    ParkReason.REPEATED_CRASH: "the process died when it worked on this: find out why (memory, a library) "
    "before you replay, as it starts anew with three tries",
    ParkReason.INTERNAL_ERROR: "a fault of ragsonde, or of something that it stands on: the log event "
    "delivery_failed or trace_failed has the traceback; when it is mended, replay",
    ParkReason.DEAD_LETTER: "the broker gave it up after 20 deliveries that nobody ended: when workers are "
    "well again, replay",
}

INCOMPLETE = "only a part of it is kept, so it cannot be replayed: have its producer send it again"

NOTHING = "nothing: that it came is all that is known, and it goes with retention_days.parked_message"


def advise(message: ParkedMessage) -> str:
    """What to do about it."""
    if message.is_erased:
        return NOTHING
    advice = ADVICE[message.reason]
    return advice if message.is_replayable else f"{advice.removesuffix(', then replay')}; {INCOMPLETE}"


def tell_parked(message: ParkedMessage) -> tuple[str, ...]:
    """The story of a parked message, a heading and its lines."""
    received = f"{message.received_at:%Y-%m-%d %H:%M:%S} UTC"
    lines = [
        f"parked message {message.id}: {message.reason}",
        f"  {message.message}",
        f"  {message.body_bytes} bytes from {message.queue}, received {received}",
    ]
    if message.is_erased:
        lines.append(f"  to do: {NOTHING}")
    elif message.dropped_at is not None:
        lines.append(f"  dropped {message.dropped_at:%Y-%m-%d %H:%M:%S} UTC: somebody decided to leave it")
    elif message.replayed_at is not None:
        lines.append(
            f"  published again {message.replayed_at:%Y-%m-%d %H:%M:%S} UTC ({_count(message.replays)}), and "
            "not parked for this again: it is on its way, is told above, or brought what was stored already, "
            "which is only counted"
        )
    else:
        if message.replays:
            lines.append(f"  published again ({_count(message.replays)}), and parked for the same once more")
        lines.append(f"  to do: {advise(message)}")
    return tuple(lines)


def describe_life(message: ParkedMessage) -> str:
    """Where it stands: it waits for a person, was replayed, dropped, or erased."""
    times = _count(message.replays)
    if message.is_erased:
        return "erased"
    if message.dropped_at is not None:
        return f"dropped {message.dropped_at:%Y-%m-%d %H:%M}"
    if message.replayed_at is not None:
        return f"replayed {times}, last {message.replayed_at:%Y-%m-%d %H:%M}"
    return f"waits, replayed {times} before" if message.replays else "waits"


def _count(replays: int) -> str:
    return "once" if replays == 1 else f"{replays} times"
