"""Reads traces for evaluation here and now: decoded and extracted as the worker does it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ragsonde.api.messages import Message, read_messages, split_messages
from ragsonde.assembly.records import gather_records
from ragsonde.decoding.limits import DecodingLimits
from ragsonde.decoding.table import decode
from ragsonde.extraction.table import extract
from ragsonde_schemas.decoded import Receipt
from ragsonde_schemas.envelope import Envelope
from ragsonde_schemas.errors import DecodeError, InputError
from ragsonde_schemas.message import CONTENT_TYPE
from ragsonde_schemas.trace import Trace

if TYPE_CHECKING:
    from collections.abc import Iterable

    Source = str | bytes | Path | Iterable[Mapping[str, Any] | Trace]

FILE_LIMITS = DecodingLimits(body_bytes=128 * 1024 * 1024)
"""What a person names on the command line may be larger than what a queue brings."""

_ALL_TIMES_DAYS = 365_000
"""Nothing is stored here, so no time is too old to be believed."""


class Item(NamedTuple):
    """A trace, and where it was read."""

    place: str
    trace: Trace


class BadMessage(NamedTuple):
    """A message that is no trace, with the reason."""

    place: str
    problem: str

    def __str__(self) -> str:
        return f"{self.place}: {self.problem}"


def read_items(source: Source) -> tuple[list[Item], list[BadMessage]]:
    """The traces of a source in order, and what in it is none.

    Args:
        source: a path (`-`: standard input), JSON lines, native messages as mappings, or traces.

    Raises:
        InputError: there is nothing to read.
    """
    if isinstance(source, Path) or (isinstance(source, str) and not source.lstrip().startswith(("{", "["))):
        return decode_messages(read_messages(source))
    if isinstance(source, str | bytes):
        body = source.encode() if isinstance(source, str) else source
        return decode_messages(split_messages(body, name="data"))
    items: list[Item] = []
    bad: list[BadMessage] = []
    for number, given in enumerate(source, start=1):
        if isinstance(given, Trace):
            items.append(Item(f"item {number}", given))
            continue
        message = Message(f"item {number}", encode_mapping(given, place=f"item {number}"))
        found, wrong = decode_messages([message], content_type=CONTENT_TYPE)
        items += found
        bad += wrong
    return items, bad


def decode_messages(
    messages: Iterable[Message], *, content_type: str | None = None
) -> tuple[list[Item], list[BadMessage]]:
    """The traces in messages, in order, and the messages that are none."""
    items: list[Item] = []
    bad: list[BadMessage] = []
    for message in messages:
        try:
            items += [
                Item(message.place, trace) for trace in read_traces(message.body, content_type=content_type)
            ]
        except DecodeError as error:
            bad.append(BadMessage(message.place, f"{error} ({error.reason})"))
    return items, bad


def read_traces(body: bytes, *, content_type: str | None = None) -> tuple[Trace, ...]:
    """The traces in one message.

    Raises:
        DecodeError: it is no message of a known format, or no whole trace.
    """
    now = datetime.now(UTC)
    envelope = Envelope(
        body=body,
        body_bytes=len(body),
        content_type=content_type,
        message_key=hashlib.sha256(body).hexdigest(),
        received_at=now,
    )
    records = gather_records(decode(envelope, limits=FILE_LIMITS))
    receipt = Receipt(received_at=now)
    return tuple(extract(record, receipt=receipt, retention_days=_ALL_TIMES_DAYS) for record in records)


def encode_mapping(given: object, *, place: str) -> bytes:
    """A native message in bytes, as a producer would publish it.

    Raises:
        InputError: it is no mapping, or holds what JSON cannot.
    """
    if not isinstance(given, Mapping):
        raise InputError(
            f"{place}: found a {type(given).__name__}, expected a mapping (a native message) or a Trace"
        )
    try:
        return json.dumps(dict(given), ensure_ascii=False, default=_encode_time).encode(
            "utf-8", "surrogatepass"
        )
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(f"{place}: cannot be written as JSON: {error}") from error


def _encode_time(value: object) -> str:
    if isinstance(value, date):
        return value.isoformat()
    raise TypeError(f"found a {type(value).__name__}, expected JSON values")
