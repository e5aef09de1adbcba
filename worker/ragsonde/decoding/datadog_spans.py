"""Datadog LLM Observability's spans, as its intake takes them.

`data.attributes.spans[]` of the public API, the bare `{ml_app, spans}` that its tracer sends, or one span. A
span's `meta` and `tags` are flattened by one level into attributes `datadog.<key>` and `datadog.tags.<name>`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ragsonde.decoding.foreign_documents import NATIVE_FIELDS
from ragsonde.decoding.identifiers import names_no_parent, read_name
from ragsonde.decoding.instants import read_instant
from ragsonde.decoding.json_fields import (
    read_each,
    read_integer,
    read_list,
    read_object,
    take_object,
    take_objects,
    take_text,
)
from ragsonde.decoding.span_limits import check_span_count, drop_high_indices
from ragsonde.extraction.texts import describe_mending
from ragsonde_schemas.decoded import Decoded
from ragsonde_schemas.errors import ParkReason
from ragsonde_schemas.span import Span

if TYPE_CHECKING:
    from ragsonde.decoding.json_text import Damage, JsonDocument, Place
    from ragsonde.decoding.limits import DecodingLimits

FORMAT = "datadog_spans"
_PREFIX = "datadog"
_MESSAGE_KEYS = ("ml_app", "session_id", "service")
_BARE_KEYS = frozenset({"ml_app", "_dd.stage", "_dd.tracer_version"})


def is_datadog_spans(value: object) -> bool:
    """True for a message of the intake, a list of spans one of which has an object `meta`, and for a span."""
    if _is_span(value):
        return True
    _, fields = _find_spans(value)
    if not fields or not fields["spans"]:
        return False
    if not _BARE_KEYS.isdisjoint(fields):
        return True
    return any(isinstance(span, dict) and isinstance(span.get("meta"), dict) for span in fields["spans"])


def decode_datadog_spans(document: JsonDocument, limits: DecodingLimits) -> Decoded:
    """The spans of one message, in the order they came in; those that cannot be read as faults.

    Raises:
        DecodeError: the first fault, where there is no good span: BAD_TRACE_ID or INVALID_MESSAGE that names
            path, found and expected. OVER_LIMIT.
    """
    if _is_span(document.value):
        return _decode_span(document, limits)
    place, fields = _find_spans(document.value)
    check_span_count(len(fields["spans"]), limits=limits)
    resource = {f"{_PREFIX}.{key}": fields[key] for key in _MESSAGE_KEYS if fields.get(key) is not None}
    tags = _read_tags(fields, place)
    damaged = _find_damaged(document, (*place, "spans"))

    def read(span: object, span_place: Place) -> Span:
        if span_place in damaged:
            raise damaged[span_place].to_error()
        return _read_span(read_object(span, span_place), span_place, resource, tags)

    spans, faults = read_each(take_objects(fields, "spans", place), read)
    if not spans:
        raise document.refusal or faults[0]
    return Decoded(
        format=FORMAT,
        spans=drop_high_indices(spans, limits=limits),
        faults=tuple(faults),
        warnings=describe_mending(document.mended),
    )


def _is_span(value: object) -> bool:
    """True for a span outside of any message."""
    return (
        isinstance(value, dict)
        and "span_id" in value
        and (isinstance(value.get("meta"), dict) or "start_ns" in value)
        and NATIVE_FIELDS.isdisjoint(value)
    )


def _decode_span(document: JsonDocument, limits: DecodingLimits) -> Decoded:
    if document.refusal is not None:
        raise document.refusal
    span = _read_span(document.value, (), {}, {})
    warnings = describe_mending(document.mended)
    return Decoded(format=FORMAT, spans=drop_high_indices((span,), limits=limits), warnings=warnings)


def _find_spans(value: object) -> tuple[Place, dict[str, Any]]:
    """The object that holds the list of spans, and its place; empty where there is none."""
    place: Place = ()
    for key in ("data", "attributes"):
        if isinstance(value, dict) and isinstance(value.get(key), dict):
            value, place = value[key], (*place, key)
    if isinstance(value, dict) and isinstance(value.get("spans"), list):
        return place, value
    return (), {}


def _find_damaged(document: JsonDocument, spans_place: Place) -> dict[Place, Damage]:
    """The first part of each span that cannot be kept, by the span's place; one elsewhere is raised."""
    damaged: dict[Place, Damage] = {}
    depth = len(spans_place)
    for part in document.damage:
        if part.place[:depth] != spans_place:
            raise part.to_error()
        damaged.setdefault(part.place[: depth + 1], part)
    return damaged


def _read_span(
    span: dict[str, Any], place: Place, resource: dict[str, Any], message_tags: dict[str, str]
) -> Span:
    start = read_instant(span.get("start_ns"))
    meta = take_object(span, "meta", place)
    parent = span.get("parent_id")
    return Span(
        trace_id=read_name(span.get("trace_id"), (*place, "trace_id"), reason=ParkReason.BAD_TRACE_ID),
        span_id=read_name(span.get("span_id"), (*place, "span_id")),
        parent_span_id=None if names_no_parent(parent) else read_name(parent, (*place, "parent_id")),
        name=take_text(span, "name", place),
        kind=0,
        start_ns=start,
        end_ns=start + read_integer(span.get("duration"), (*place, "duration")),
        attributes=_flatten(span, meta, {**message_tags, **_read_tags(span, place)}),
        events=(),
        resource=resource,
        scope_name=_PREFIX,
        scope_version="",
        is_error=span.get("status") == "error" or span.get("error") == 1,
    )


def _flatten(span: dict[str, Any], meta: dict[str, Any], tags: dict[str, str]) -> dict[str, Any]:
    attributes = {f"{_PREFIX}.{key}": value for key, value in meta.items()}
    if "kind" not in meta and "span.kind" in meta:
        attributes[f"{_PREFIX}.kind"] = meta["span.kind"]
    attributes.update({f"{_PREFIX}.tags.{name}": value for name, value in tags.items()})
    metrics = span.get("metrics")
    if isinstance(metrics, dict):
        attributes.update({f"{_PREFIX}.metrics.{key}": value for key, value in metrics.items()})
    attributes.update({f"{_PREFIX}.{key}": span[key] for key in _MESSAGE_KEYS if span.get(key) is not None})
    return attributes


def _read_tags(fields: dict[str, Any], place: Place) -> dict[str, str]:
    """`name:value` of each tag, also where they are an object; of equal names the first holds."""
    tags = fields.get("tags")
    if tags is None:
        return {}
    if isinstance(tags, dict):
        return {name: value if isinstance(value, str) else str(value) for name, value in tags.items()}
    read: dict[str, str] = {}
    for tag in read_list(tags, (*place, "tags")):
        if isinstance(tag, str):
            name, _, value = tag.partition(":")
            read.setdefault(name, value)
    return read
