"""Rows of TruLens's event table: one span a row, its attributes in columns.

`record_attributes`, `resource_attributes`, `record` and `trace` are objects, or JSON in strings as SQLite
keeps them. Ids are decimal. The rows of one record of TruLens are one trace, whatever trace they ran in.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ragsonde.decoding.identifiers import (
    SPAN_ID_BYTES,
    TRACE_ID_BYTES,
    convert_decimal,
    names_no_parent,
    read_name,
)
from ragsonde.decoding.instants import read_instant
from ragsonde.decoding.json_fields import describe_wrong
from ragsonde.decoding.span_limits import drop_high_indices
from ragsonde.extraction.embedded_json import read_embedded
from ragsonde.extraction.texts import describe_mending
from ragsonde_schemas.decoded import Decoded
from ragsonde_schemas.errors import ParkReason
from ragsonde_schemas.span import Span

if TYPE_CHECKING:
    from ragsonde.decoding.json_text import JsonDocument
    from ragsonde.decoding.limits import DecodingLimits

FORMAT = "trulens_row"
_SCOPE = "trulens"
_RECORD_ID = "ai.observability.record_id"
_COLUMNS = frozenset({"record_attributes", "trace"})
_ERRORS = frozenset({2, "2", "STATUS_CODE_ERROR", "ERROR"})


def is_trulens_row(value: object) -> bool:
    """True for an object with the event table's columns `record_attributes` and `trace`."""
    return isinstance(value, dict) and value.keys() >= _COLUMNS


def decode_trulens_row(document: JsonDocument, limits: DecodingLimits) -> Decoded:
    """The span of one row.

    Raises:
        DecodeError: BAD_TRACE_ID, INVALID_MESSAGE that names the column.
    """
    row = document.value
    record, attributes, resource, trace, scope = (
        _read_column(row, column)
        for column in ("record", "record_attributes", "resource_attributes", "trace", "scope")
    )
    parent = trace.get("parent_id") or record.get("parent_span_id")
    name, scope_name, status = record.get("name"), scope.get("name"), record.get("status")
    span = Span(
        trace_id=_read_trace_id(attributes, resource, trace),
        span_id=_read_span_id(trace.get("span_id"), "span_id"),
        parent_span_id=None if names_no_parent(parent) else _read_span_id(parent, "parent_id"),
        name=name if isinstance(name, str) else "",
        kind=kind if isinstance(kind := record.get("kind"), int) else 0,
        start_ns=read_instant(row.get("start_timestamp")),
        end_ns=read_instant(row.get("timestamp")),
        attributes=attributes,
        events=(),
        resource=resource,
        scope_name=scope_name if isinstance(scope_name, str) else _SCOPE,
        scope_version="",
        is_error=isinstance(status, int | str) and status in _ERRORS,
    )
    return Decoded(
        format=FORMAT,
        spans=drop_high_indices((span,), limits=limits),
        warnings=describe_mending(document.mended),
    )


def _read_column(row: dict[str, Any], column: str) -> dict[str, Any]:
    value = row.get(column)
    if isinstance(value, str):
        value = read_embedded(value) if value.strip() else None
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise describe_wrong(row[column], (column,), "an object, or one in JSON")
    return value


def _read_trace_id(attributes: dict[str, Any], resource: dict[str, Any], trace: dict[str, Any]) -> str:
    for source, place in ((attributes, "record_attributes"), (resource, "resource_attributes")):
        if source.get(_RECORD_ID):
            return read_name(source[_RECORD_ID], (place, _RECORD_ID), reason=ParkReason.BAD_TRACE_ID)
    name = read_name(trace.get("trace_id"), ("trace", "trace_id"), reason=ParkReason.BAD_TRACE_ID)
    return convert_decimal(name, byte_count=TRACE_ID_BYTES)


def _read_span_id(value: object, column: str) -> str:
    return convert_decimal(read_name(value, ("trace", column)), byte_count=SPAN_ID_BYTES)
