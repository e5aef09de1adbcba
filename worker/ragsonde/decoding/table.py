"""Which format a delivery is in, and its decoder: two tables, read from top to bottom.

The content type decides where it names a format. Else the bytes tell what they are (see `sniffing`), and a
JSON value's own keys tell which message it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragsonde.decoding import (
    datadog_spans,
    dify_message,
    haystack_output,
    langfuse_export,
    langsmith_run,
    litellm_payload,
    llamaindex_response,
    mastra_run,
    mlflow_trace,
    native,
    otlp_json,
    otlp_protobuf,
    trulens_row,
)
from ragsonde.decoding.batches import Reading, decode_lines
from ragsonde.decoding.damaged_json import read_damaged_json
from ragsonde.decoding.formats import BinaryFormat, Formats, JsonFormat
from ragsonde.decoding.json_text import BYTE_ORDER_MARK, JsonDocument
from ragsonde.decoding.limits import DecodingLimits
from ragsonde.decoding.sniffing import (
    PROTOBUF_FIRST_BYTE,
    BodyKind,
    find_body_kind,
    find_compression,
    opens_json,
)
from ragsonde.decoding.unpacking import unpack
from ragsonde.decoding.wording import describe_value, list_names
from ragsonde_schemas.errors import DecodeError, ParkReason
from ragsonde_schemas.message import CONTENT_TYPE

if TYPE_CHECKING:
    from ragsonde_schemas.decoded import Decoded
    from ragsonde_schemas.envelope import Envelope

__all__ = ["DEFAULT_FORMATS", "DEFAULT_LIMITS", "BinaryFormat", "Formats", "JsonFormat", "decode"]

DEFAULT_LIMITS = DecodingLimits()
_OTHER_SIGNALS = {
    "resourceLogs": "OTLP logs",
    "resource_logs": "OTLP logs",
    "resourceMetrics": "OTLP metrics",
    "resource_metrics": "OTLP metrics",
}

JSON_FORMATS = (
    JsonFormat(
        otlp_json.FORMAT, frozenset(), otlp_json.is_otlp_json, otlp_json.decode_otlp_json, reads_damaged=True
    ),
    JsonFormat(
        mlflow_trace.FORMAT, frozenset(), mlflow_trace.is_mlflow_trace, mlflow_trace.decode_mlflow_trace
    ),
    JsonFormat(trulens_row.FORMAT, frozenset(), trulens_row.is_trulens_row, trulens_row.decode_trulens_row),
    JsonFormat(
        datadog_spans.FORMAT,
        frozenset(),
        datadog_spans.is_datadog_spans,
        datadog_spans.decode_datadog_spans,
        reads_damaged=True,
    ),
    JsonFormat(
        langsmith_run.FORMAT,
        frozenset(),
        langsmith_run.is_langsmith_run,
        langsmith_run.decode_langsmith_run,
        reads_damaged=True,
        find_part=langsmith_run.find_run,
    ),
    JsonFormat(
        litellm_payload.FORMAT,
        frozenset(),
        litellm_payload.is_litellm_payload,
        litellm_payload.decode_litellm_payload,
        reads_damaged=True,
    ),
    JsonFormat(
        langfuse_export.FORMAT,
        frozenset(),
        langfuse_export.is_langfuse_export,
        langfuse_export.decode_langfuse_export,
        reads_damaged=True,
        find_part=langfuse_export.find_observation,
    ),
    JsonFormat(
        mastra_run.FORMAT,
        frozenset(),
        mastra_run.is_mastra_run,
        mastra_run.decode_mastra_run,
        reads_damaged=True,
    ),
    JsonFormat(
        dify_message.FORMAT,
        frozenset(),
        dify_message.is_dify_message,
        dify_message.decode_dify_message,
        reads_damaged=True,
    ),
    JsonFormat(
        llamaindex_response.FORMAT,
        frozenset(),
        llamaindex_response.is_llamaindex_response,
        llamaindex_response.decode_llamaindex_response,
        reads_damaged=True,
    ),
    JsonFormat(
        haystack_output.FORMAT,
        frozenset(),
        haystack_output.is_haystack_output,
        haystack_output.decode_haystack_output,
        reads_damaged=True,
    ),
    JsonFormat(native.FORMAT, frozenset({CONTENT_TYPE}), native.is_native, native.decode_native),
)
"""The most specific first; the native message, whose keys are the most common words, last."""

BINARY_FORMATS = (
    BinaryFormat(
        otlp_protobuf.FORMAT,
        frozenset({"application/x-protobuf", "application/protobuf", "application/vnd.google.protobuf"}),
        lambda body: body[0] == PROTOBUF_FIRST_BYTE,
        otlp_protobuf.decode_otlp_protobuf,
    ),
)

DEFAULT_FORMATS = Formats(json=JSON_FORMATS, binary=BINARY_FORMATS)


def decode(
    envelope: Envelope, *, limits: DecodingLimits = DEFAULT_LIMITS, formats: Formats = DEFAULT_FORMATS
) -> Decoded:
    """What a delivery holds: one record or many, whole or in spans.

    Of several records in one delivery (a JSON array, JSON lines, spans) those that cannot be read are faults
    beside the others.

    Raises:
        DecodeError: whatever is wrong with all of it; nothing else is raised for any bytes.
    """
    _check_size(envelope, limits=limits)
    body = _decompress(envelope, limits=limits)
    content_type = (envelope.content_type or "").split(";")[0].strip().lower()
    named = formats.find(content_type)
    if isinstance(named, BinaryFormat):
        return named.decode(body, limits)
    kind = find_body_kind(body, content_type=content_type, is_json=named is not None)
    if kind is BodyKind.BYTES or _is_of_others(body, formats):
        return _decode_bytes(body, limits=limits, formats=formats)
    known = formats.json if named is None else (named,)

    def decode_one(document: JsonDocument) -> Decoded:
        row = named or next((row for row in known if row.recognises(document.value)), None)
        if document.refusal is not None and (row is None or not row.reads_damaged):
            raise document.refusal
        if row is None:
            raise _describe_unknown(document.value, known)
        return row.decode(document, limits)

    reading = Reading(known, decode_one, limits)
    if kind is BodyKind.JSON_LINES:
        return decode_lines(body, reading)
    return reading.read(read_damaged_json(body, nesting_levels=limits.nesting_levels))


def _is_of_others(body: bytes, formats: Formats) -> bool:
    """True for a body that a binary format of others takes, though a line of it may be JSON."""
    others = (row for row in formats.binary if row not in BINARY_FORMATS)
    return not opens_json(body) and any(row.recognises(body) for row in others)


def _check_size(envelope: Envelope, *, limits: DecodingLimits) -> None:
    size = max(envelope.body_bytes, len(envelope.body))
    if size > limits.body_bytes:
        message = f"found {size} bytes, expected at most {limits.body_bytes}"
        raise DecodeError(ParkReason.OVERSIZE, f"{message}; publish fewer or shorter contexts")
    _check_not_blank(envelope.body)


def _check_not_blank(body: bytes, *, where: str = "") -> None:
    if not body.removeprefix(BYTE_ORDER_MARK).strip():
        found = "blanks only" if body else "no byte"
        raise DecodeError(ParkReason.EMPTY_BODY, f"found {found}{where}, expected a message")


def _decompress(envelope: Envelope, *, limits: DecodingLimits) -> bytes:
    body, compression = unpack(
        envelope.body, encoding=envelope.content_encoding, limit=limits.decompressed_bytes
    )
    if compression is None:
        return body
    _check_not_blank(body, where=f" after {compression} decompression")
    inner = find_compression(body, encoding=None)
    if inner is not None:
        message = f"found {inner} inside {compression}, expected one level of compression"
        raise DecodeError(ParkReason.INVALID_COMPRESSION, f"{message}; compress once")
    return body


def _decode_bytes(body: bytes, *, limits: DecodingLimits, formats: Formats) -> Decoded:
    for binary in formats.binary:
        if binary.recognises(body):
            return binary.decode(body, limits)
    raise DecodeError(
        ParkReason.UNKNOWN_FORMAT,
        f"found bytes that start with {body[:4].hex(' ')}, expected a JSON object in UTF-8 or an OTLP traces "
        "export in protobuf",
    )


def _describe_unknown(value: object, known: tuple[JsonFormat, ...]) -> DecodeError:
    """The error that refuses a value that is of none of the known formats."""
    found = describe_value(value)
    if isinstance(value, dict):
        found = f"an object with keys {list_names(list(value))}" if value else "an object without keys"
        signal = next((name for key, name in _OTHER_SIGNALS.items() if key in value), None)
        if signal is not None:
            return DecodeError(ParkReason.UNKNOWN_FORMAT, f"found {found}: {signal}; only traces are read")
    return DecodeError(
        ParkReason.UNKNOWN_FORMAT,
        f"found {found}, expected a ragsonde trace message (trace_id, query, contexts, answer) or one of "
        f"another format ({', '.join(row.name for row in known if row.name != native.FORMAT)})",
    )
