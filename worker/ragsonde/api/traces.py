"""Reads traces for evaluation here and now: decoded and extracted as the worker does it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ragsonde.api.messages import Message, read_messages, split_messages
from ragsonde.api.rules import Rules, own_rules
from ragsonde.assembly.records import gather_records
from ragsonde.decoding.limits import DecodingLimits
from ragsonde.decoding.table import decode
from ragsonde_schemas.decoded import Receipt
from ragsonde_schemas.envelope import Envelope
from ragsonde_schemas.errors import DecodeError, InputError
from ragsonde_schemas.message import CONTENT_TYPE
from ragsonde_schemas.trace import Trace

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ragsonde_schemas.decoded import Decoded, Record
    from ragsonde_schemas.span import Span

    Source = str | bytes | Path | Iterable[Mapping[str, Any] | Trace]

FILE_LIMITS = DecodingLimits(
    body_bytes=128 * 1024 * 1024, decompressed_bytes=256 * 1024 * 1024, records=1_000_000, spans=1_000_000
)
"""What a person names on the command line may be larger than what a queue brings."""


class Item(NamedTuple):
    """A trace, and where it was read."""

    place: str
    trace: Trace


class Placed(NamedTuple):
    """A record, and where it, or the first of its spans, was read."""

    place: str
    record: Record


class BadMessage(NamedTuple):
    """A message that is no trace, with the reason."""

    place: str
    problem: str

    def __str__(self) -> str:
        return f"{self.place}: {self.problem}"


def read_items(source: Source, *, rules: Rules | None = None) -> tuple[list[Item], list[BadMessage]]:
    """The traces of a source in order, and what in it is none.

    Args:
        source: a path (`-`: standard input), JSON lines, native messages as mappings, or traces.
        rules: how fields are found; by default without any configuration.

    Raises:
        InputError: there is nothing to read.
    """
    formats = (rules or own_rules()).formats
    if isinstance(source, Path) or (isinstance(source, str) and not source.lstrip().startswith(("{", "["))):
        return decode_messages(read_messages(source, formats=formats), rules=rules)
    if isinstance(source, str | bytes):
        body = source.encode() if isinstance(source, str) else source
        return decode_messages(split_messages(body, name="data", formats=formats), rules=rules)
    items: list[Item] = []
    bad: list[BadMessage] = []
    for number, given in enumerate(source, start=1):
        if isinstance(given, Trace):
            items.append(Item(f"item {number}", given))
            continue
        message = Message(f"item {number}", encode_mapping(given, place=f"item {number}"))
        found, wrong = decode_messages([message], content_type=CONTENT_TYPE, rules=rules)
        items += found
        bad += wrong
    return items, bad


def decode_messages(
    messages: Iterable[Message], *, content_type: str | None = None, rules: Rules | None = None
) -> tuple[list[Item], list[BadMessage]]:
    """The traces in messages, in order, and the messages that are none.

    Spans of one trace may be spread over the messages: nothing more will come, so all that there is of a
    trace is taken as the whole of it, and stands where the first of it was.

    Args:
        messages: of one source.
        content_type: of all of them, where it is known.
        rules: how fields are found; by default without any configuration.
    """
    rules = rules or own_rules()
    receipt = Receipt(received_at=datetime.now(UTC))
    placed, bad = gather_placed(messages, content_type=content_type, rules=rules)
    items: list[Item] = []
    for place, record in placed:
        try:
            items += [Item(place, trace) for trace in rules.read(record, receipt=receipt)]
        except DecodeError as error:
            bad.append(BadMessage(place, f"{error} ({error.reason})"))
    return items, bad


def gather_placed(
    messages: Iterable[Message], *, content_type: str | None = None, rules: Rules | None = None
) -> tuple[list[Placed], list[BadMessage]]:
    """The records in messages, in order, and the messages that hold none; spans as in `decode_messages`."""
    gathered = _Gathered(rules or own_rules())
    for message in messages:
        gathered.add(message, content_type=content_type)
    return gathered.finish()


def read_traces(
    body: bytes, *, content_type: str | None = None, rules: Rules | None = None
) -> tuple[Trace, ...]:
    """The traces in one message, none where its spans are of no RAG application.

    Raises:
        DecodeError: something in it is no message of a known format.
    """
    rules = rules or own_rules()
    receipt = Receipt(received_at=datetime.now(UTC))
    traces = (
        trace
        for record in read_records(body, content_type=content_type, rules=rules)
        for trace in rules.read(record, receipt=receipt)
    )
    return tuple(traces)


def read_records(
    body: bytes, *, content_type: str | None = None, rules: Rules | None = None
) -> tuple[Record, ...]:
    """The records in one message, its spans taken as all there is of their traces.

    Raises:
        DecodeError: something in it is no message of a known format.
    """
    decoded = _decode(body, content_type=content_type, rules=rules or own_rules())
    if decoded.faults:
        raise decoded.faults[0]
    by_trace: dict[str, list[Span]] = {}
    for span in decoded.spans:
        by_trace.setdefault(span.trace_id, []).append(span)
    wholes = (
        gather_records(spans, format_name=decoded.format, warnings=decoded.warnings)
        for spans in by_trace.values()
    )
    return (*decoded.records, *(record for records in wholes for record in records))


class _SpansOfTrace(NamedTuple):
    """The spans of one trace in a source, and where the first of them stood."""

    number: int
    place: str
    format: str
    spans: list[Span]


class _Gathered:
    """The records of a source, while it is read."""

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self._count = 0
        self._placed: list[tuple[int, Placed]] = []
        self._bad: list[BadMessage] = []
        self._spans: dict[str, _SpansOfTrace] = {}

    def add(self, message: Message, *, content_type: str | None) -> None:
        """Reads one message."""
        self._count += 1
        try:
            decoded = _decode(message.body, content_type=content_type, rules=self._rules)
        except DecodeError as error:
            self._refuse(message.place, error)
            return
        for fault in decoded.faults:
            self._refuse(message.place, fault)
        self._placed += [(self._count, Placed(message.place, record)) for record in decoded.records]
        for span in decoded.spans:
            start = _SpansOfTrace(self._count, message.place, decoded.format, [])
            self._spans.setdefault(span.trace_id, start).spans.append(span)

    def finish(self) -> tuple[list[Placed], list[BadMessage]]:
        """Everything that was read, in the order of the source."""
        for known in self._spans.values():
            records = gather_records(known.spans, format_name=known.format)
            self._placed += [(known.number, Placed(known.place, record)) for record in records]
        self._placed.sort(key=lambda numbered: numbered[0])
        return [placed for _, placed in self._placed], self._bad

    def _refuse(self, place: str, error: DecodeError) -> None:
        self._bad.append(BadMessage(place, f"{error} ({error.reason})"))


def _decode(body: bytes, *, content_type: str | None, rules: Rules) -> Decoded:
    envelope = Envelope(
        body=body,
        body_bytes=len(body),
        content_type=content_type,
        message_key=hashlib.sha256(body).hexdigest(),
        received_at=datetime.now(UTC),
    )
    return decode(envelope, limits=FILE_LIMITS, formats=rules.formats)


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
