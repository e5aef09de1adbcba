"""MLflow's trace JSON: `info`, and the spans under `data`.

Version 3 writes `info.trace_id`, `info.trace_metadata` and protobuf's JSON for spans, ids in base64; version
2 `info.request_id`, `info.request_metadata` and spans with ids in `context`, in hex with `0x` before it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ragsonde.decoding.identifiers import (
    SPAN_ID_BYTES,
    TRACE_ID_BYTES,
    find_id,
    names_no_parent,
    read_name,
    read_parent,
)
from ragsonde.decoding.instants import read_instant
from ragsonde.decoding.json_attributes import JsonAttributeReader
from ragsonde.decoding.json_fields import read_each, read_object, take_object, take_objects, take_text
from ragsonde.decoding.span_limits import check_any_span, check_span_count, drop_high_indices
from ragsonde.extraction.span_tree import SpanTree
from ragsonde.extraction.texts import describe_mending
from ragsonde_schemas.decoded import Decoded, WholeTrace
from ragsonde_schemas.errors import DecodeError, ParkReason
from ragsonde_schemas.span import Span, SpanEvent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragsonde.decoding.json_text import JsonDocument, Place
    from ragsonde.decoding.limits import DecodingLimits

FORMAT = "mlflow_trace"
_SCOPE = "mlflow"
_INFO_KEYS = frozenset(
    {"trace_id", "request_id", "trace_metadata", "request_metadata", "trace_location", "experiment_id"}
)
_MAPS = {"trace_metadata": "trace_metadata", "request_metadata": "trace_metadata", "tags": "tags"}
"""What `info` holds as a map, or as a list of key and value, and under which name it is kept."""
_DATA_KEYS = ("request", "response")


def is_mlflow_trace(value: object) -> bool:
    """True for an object with MLflow's `info` and a list of spans in `data`."""
    if not isinstance(value, dict):
        return False
    info, inner = value.get("info"), value.get("data")
    return (
        isinstance(info, dict)
        and not _INFO_KEYS.isdisjoint(info)
        and isinstance(inner, dict)
        and isinstance(inner.get("spans"), list)
    )


def decode_mlflow_trace(document: JsonDocument, limits: DecodingLimits) -> Decoded:
    """The whole trace; what `info` says is in its root's attributes, as `mlflow.info.<key>`.

    Raises:
        DecodeError: BAD_TRACE_ID; INVALID_MESSAGE of the first span, where there is no good one; OVER_LIMIT.
    """
    info, inner = document.value["info"], document.value["data"]
    check_span_count(len(inner["spans"]), limits=limits)
    reader = JsonAttributeReader()
    trace_id = _read_trace_id(info, inner["spans"])
    spans, faults = read_each(
        take_objects(inner, "spans", ("data",)),
        lambda span, place: _read_span(read_object(span, place), place, trace_id, reader),
    )
    check_any_span(spans, faults, where="data.spans")
    described = _describe_trace(info, inner, reader)
    warnings = (*describe_mending(document.mended), *reader.warnings)
    whole = _build_whole(drop_high_indices(spans, limits=limits), described, warnings=warnings)
    return Decoded(format=FORMAT, records=(whole,), faults=tuple(faults))


def _read_trace_id(info: dict[str, Any], spans: list[Any]) -> str:
    for key in ("trace_id", "request_id"):
        if info.get(key) is not None:
            return read_name(info[key], ("info", key), reason=ParkReason.BAD_TRACE_ID)
    first = spans[0] if spans and isinstance(spans[0], dict) else {}
    context = first.get("context")
    named = first.get("trace_id", context.get("trace_id") if isinstance(context, dict) else None)
    found = find_id(_strip_prefix(named), byte_count=TRACE_ID_BYTES)
    return found or read_name(named, ("info", "trace_id"), reason=ParkReason.BAD_TRACE_ID)


def _read_span(span: dict[str, Any], place: Place, trace_id: str, reader: JsonAttributeReader) -> Span:
    context = take_object(span, "context", place)
    parent_key = "parent_id" if "parent_id" in span else "parent_span_id"
    parent = span.get(parent_key)
    return Span(
        trace_id=trace_id,
        span_id=_read_span_id(span.get("span_id", context.get("span_id")), (*place, "span_id")),
        parent_span_id=None if _names_root(parent, place) else _read_span_id(parent, (*place, parent_key)),
        name=take_text(span, "name", place),
        kind=0,
        start_ns=read_instant(span.get("start_time_unix_nano", span.get("start_time"))),
        end_ns=read_instant(span.get("end_time_unix_nano", span.get("end_time"))),
        attributes=reader.take(span, place),
        events=tuple(
            _read_event(read_object(event, event_place), event_place, reader)
            for event_place, event in take_objects(span, "events", place)
        ),
        resource={},
        scope_name=_SCOPE,
        scope_version="",
        is_error=_says_error(span),
    )


def _names_root(parent: object, place: Place) -> bool:
    """True for an absent parent and for one of zeros only, whatever form they are in."""
    if names_no_parent(parent):
        return True
    try:
        return read_parent(_strip_prefix(parent), place) is None
    except DecodeError:
        return False


def _read_span_id(value: object, place: Place) -> str:
    """Hex where the id is one of OpenTelemetry's, else as it came."""
    return find_id(_strip_prefix(value), byte_count=SPAN_ID_BYTES) or read_name(value, place)


def _strip_prefix(value: object) -> object:
    return value.removeprefix("0x").removeprefix("0X") if isinstance(value, str) else value


def _read_event(event: dict[str, Any], place: Place, reader: JsonAttributeReader) -> SpanEvent:
    moment = event.get("time_unix_nano", event.get("timestamp"))
    return SpanEvent(take_text(event, "name", place), read_instant(moment), reader.take(event, place))


def _says_error(span: dict[str, Any]) -> bool:
    status = span.get("status", span.get("status_code"))
    code = status.get("code", status.get("status_code")) if isinstance(status, dict) else status
    return isinstance(code, int | str) and code in {2, "ERROR", "STATUS_CODE_ERROR"}


def _describe_trace(
    info: dict[str, Any], inner: dict[str, Any], reader: JsonAttributeReader
) -> dict[str, Any]:
    """What the document says of the whole trace, as attributes."""
    attributes: dict[str, Any] = {}
    for key, value in info.items():
        if key in _MAPS:
            if isinstance(value, dict | list):
                kept = attributes.setdefault(f"mlflow.info.{_MAPS[key]}", {})
                kept.update(reader.read_pairs(value, ("info", key)))
        else:
            attributes[f"mlflow.info.{key}"] = value
    attributes.update({f"mlflow.data.{key}": inner[key] for key in _DATA_KEYS if key in inner})
    return attributes


def _build_whole(
    spans: Sequence[Span], described: dict[str, Any], *, warnings: tuple[str, ...]
) -> WholeTrace:
    """The trace under its earliest root; without one, under the earliest span whose parent is not there."""
    tree = SpanTree(spans)
    root = next(iter((*tree.roots, *tree.orphans, *tree.spans)))
    whole_root = root._replace(attributes={**root.attributes, **described})
    return WholeTrace(
        format=FORMAT,
        root=whole_root,
        spans=tuple(whole_root if span is root else span for span in tree.spans),
        warnings=warnings,
    )
