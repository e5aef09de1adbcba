"""Parked messages for people and for scripts: a table of many, a page of one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ragsonde.cli.parked_advice import advise, describe_life
from ragsonde.cli.terminal import make_console, make_table, show

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragsonde_schemas.envelope import Envelope
    from ragsonde_schemas.history import ParkedMessage

SHOWN_BYTES = 2048
_HEX_COLUMNS = 16
_CUT_CHARACTERS = 3
"""A character of UTF-8 that was cut in two has left so many bytes at most."""


def print_parked(messages: Sequence[ParkedMessage]) -> None:
    """A table, a line a message."""
    table = make_table(
        "number", "reason", "parked", "queue", "bytes", "state", "found", right=("number", "bytes")
    )
    for one in messages:
        cells = (
            str(one.id),
            one.reason,
            f"{one.parked_at:%Y-%m-%d %H:%M:%S}",
            one.queue,
            str(one.body_bytes) if one.is_replayable else f"{one.body_bytes}, {one.kept_bytes} kept",
            describe_life(one),
            one.message,
        )
        table.add_row(*(show(" ".join(cell.split())) for cell in cells))
    make_console().print(table)


def print_message(message: ParkedMessage, envelope: Envelope) -> None:
    """All that is kept of a message; what it holds cannot steer the terminal."""
    facts = (
        ("parked message", f"{message.id}: {message.reason}"),
        ("found", message.message),
        ("where", message.where),
        ("what to do", advise(message)),
        ("state", describe_life(message)),
        ("queue", message.queue),
        ("received", f"{message.received_at:%Y-%m-%d %H:%M:%S} UTC"),
        ("parked", f"{message.parked_at:%Y-%m-%d %H:%M:%S} UTC"),
        (
            "published",
            "" if envelope.published_at is None else f"{envelope.published_at:%Y-%m-%d %H:%M:%S} UTC",
        ),
        ("message id", message.message_id or ""),
        ("content type", message.content_type or ""),
        ("encoding", envelope.content_encoding or ""),
        *((f"header {name}", value) for name, value in sorted(envelope.headers.items())),
        ("bytes", f"{message.body_bytes}, {message.kept_bytes} kept"),
    )
    console = make_console()
    for name, value in facts:
        if value:
            console.print(show(f"{name}: {' '.join(value.split())}"))
    shown = envelope.body[:SHOWN_BYTES]
    if shown:
        console.print(show(f"\nthe first {len(shown)} bytes:", "dim"))
    for line in describe_body(shown):
        console.print(show(line), soft_wrap=True)


def describe_body(body: bytes) -> list[str]:
    """A body as lines: text where it is UTF-8 (but for a character cut at its end), else bytes in hex."""
    text = read_text(body)
    if text is not None:
        return text.splitlines()
    return [
        f"{start:06x}  {row.hex(' '):<{3 * _HEX_COLUMNS}} {_list_letters(row)}"
        for start in range(0, len(body), _HEX_COLUMNS)
        if (row := body[start : start + _HEX_COLUMNS])
    ]


def read_text(body: bytes) -> str | None:
    """The text of a body; None where it is none."""
    for cut in range(min(_CUT_CHARACTERS, len(body)) + 1):
        try:
            return body[: len(body) - cut].decode()
        except UnicodeDecodeError:
            continue
    return None


def describe_message(message: ParkedMessage, envelope: Envelope) -> dict[str, Any]:
    """All that is kept of a message, for scripts; the body as text or as hex."""
    text = read_text(envelope.body)
    return {
        **describe_parked(message),
        "what_to_do": advise(message),
        "content_encoding": envelope.content_encoding,
        "headers": envelope.headers,
        "published_at": envelope.published_at and envelope.published_at.isoformat(),
        **({"body_hex": envelope.body.hex()} if text is None else {"body_text": text}),
    }


def describe_parked(message: ParkedMessage) -> dict[str, Any]:
    """A message without its body, for scripts."""
    return {**message.model_dump(mode="json"), "is_replayable": message.is_replayable}


def _list_letters(row: bytes) -> str:
    return "".join(chr(byte) if 0x20 <= byte < 0x7F else "." for byte in row)  # noqa: PLR2004 - printable ASCII
