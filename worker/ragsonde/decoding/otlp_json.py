"""OTLP traces in JSON: `resourceSpans[].scopeSpans[].spans[]`.

By the OTLP specification ids are hex there; exporters that print protobuf as JSON write base64: told apart by
their length. 64-bit integers are strings, enums numbers or names. Attributes given as a plain object are read
too.
"""

from __future__ import annotations

import base64
import binascii
import re
from typing import TYPE_CHECKING, Any

from ragsonde.decoding.span_limits import check_indices, check_span_count
from ragsonde.decoding.wording import describe_value
from ragsonde.extraction.paths import format_path
from ragsonde.extraction.texts import describe_mending
from ragsonde_schemas.decoded import Decoded
from ragsonde_schemas.errors import DecodeError, ParkReason
from ragsonde_schemas.span import Span, SpanEvent

if TYPE_CHECKING:
    from ragsonde.decoding.json_text import JsonDocument
    from ragsonde.decoding.limits import DecodingLimits

FORMAT = "otlp_json"
_ENVELOPE_KEY = "resourceSpans"
_HEX = re.compile(r"[0-9a-fA-F]+")
_INTEGER = re.compile(r"-?\d{1,20}")
_KINDS = {
    "SPAN_KIND_UNSPECIFIED": 0,
    "SPAN_KIND_INTERNAL": 1,
    "SPAN_KIND_SERVER": 2,
    "SPAN_KIND_CLIENT": 3,
    "SPAN_KIND_PRODUCER": 4,
    "SPAN_KIND_CONSUMER": 5,
}
_ERRORS = frozenset({2, "2", "STATUS_CODE_ERROR"})
_Place = tuple[str | int, ...]


def is_otlp_json(value: object) -> bool:
    """True for an object that holds `resourceSpans`."""
    return isinstance(value, dict) and _ENVELOPE_KEY in value


def decode_otlp_json(document: JsonDocument, limits: DecodingLimits) -> Decoded:
    """The spans of one export, of any traces, in the order they came in.

    Raises:
        DecodeError: INVALID_MESSAGE that names path, found and expected; BAD_TRACE_ID; OVER_LIMIT.
    """
    spans: list[Span] = []
    for place, resource_spans in _objects(_object(document.value, ()), _ENVELOPE_KEY, ()):
        resource_place = (*place, "resource")
        resource = _attributes(_object(resource_spans.get("resource") or {}, resource_place), resource_place)
        for scope_place, scope_spans in _objects(resource_spans, "scopeSpans", place):
            scope = _object(scope_spans.get("scope") or {}, (*scope_place, "scope"))
            name, version = (_text(scope, key, (*scope_place, "scope")) for key in ("name", "version"))
            for span_place, span in _objects(scope_spans, "spans", scope_place):
                spans.append(_read_span(span, span_place, resource, (name, version)))
                check_span_count(len(spans), limits=limits)
    if not spans:
        raise DecodeError(
            ParkReason.INVALID_MESSAGE, "found no span, expected at least one", where=_ENVELOPE_KEY
        )
    check_indices(spans, limits=limits)
    return Decoded(format=FORMAT, spans=tuple(spans), warnings=describe_mending(document.mended))


def _read_span(span: dict[str, Any], place: _Place, resource: dict[str, Any], scope: tuple[str, str]) -> Span:
    status = _object(span.get("status") or {}, (*place, "status"))
    code = status.get("code")
    return Span(
        trace_id=_read_trace_id(span, place),
        span_id=_read_id(span.get("spanId"), place=(*place, "spanId"), byte_count=8),
        parent_span_id=_read_parent(span.get("parentSpanId"), place=(*place, "parentSpanId")),
        name=_text(span, "name", place),
        kind=_read_kind(span.get("kind"), place=(*place, "kind")),
        start_ns=_read_time(span, "startTimeUnixNano", place),
        end_ns=_read_time(span, "endTimeUnixNano", place),
        attributes=_attributes(span, place),
        events=tuple(
            _read_event(event, event_place) for event_place, event in _objects(span, "events", place)
        ),
        resource=resource,
        scope_name=scope[0],
        scope_version=scope[1],
        is_error=isinstance(code, int | str) and code in _ERRORS,
    )


def _read_event(event: dict[str, Any], place: _Place) -> SpanEvent:
    return SpanEvent(
        _text(event, "name", place), _read_time(event, "timeUnixNano", place), _attributes(event, place)
    )


def _read_trace_id(span: dict[str, Any], place: _Place) -> str:
    return _read_id(
        span.get("traceId"), place=(*place, "traceId"), byte_count=16, reason=ParkReason.BAD_TRACE_ID
    )


def _read_parent(value: object, *, place: _Place) -> str | None:
    if value is None or value == "" or (isinstance(value, str) and not value.strip("0")):
        return None
    return _read_id(value, place=place, byte_count=8)


def _read_id(
    value: object, *, place: _Place, byte_count: int, reason: ParkReason = ParkReason.INVALID_MESSAGE
) -> str:
    """Lower-case hex of an id written in hex or base64."""
    if isinstance(value, str):
        if len(value) == 2 * byte_count and _HEX.fullmatch(value) and value.strip("0"):
            return value.lower()
        if len(value) == -(-byte_count // 3) * 4:
            raw = _decode_base64(value)
            if raw is not None and len(raw) == byte_count and any(raw):
                return raw.hex()
    expected = f"expected {2 * byte_count} hex digits that are not all zero"
    raise DecodeError(reason, f"found {describe_value(value)}, {expected}", where=format_path(*place))


def _decode_base64(text: str) -> bytes | None:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None


def _read_kind(value: object, *, place: _Place) -> int:
    if isinstance(value, str) and value in _KINDS:
        return _KINDS[value]
    return _read_integer(value, place=place)


def _read_time(fields: dict[str, Any], key: str, place: _Place) -> int:
    return _read_integer(fields.get(key), place=(*place, key))


def _read_integer(value: object, *, place: _Place) -> int:
    """A 64-bit integer, written as a string or a number; absent is 0."""
    if value is None:
        return 0
    if isinstance(value, str) and _INTEGER.fullmatch(value):
        return int(value)
    if isinstance(value, int | float) and not isinstance(value, bool) and value == int(value):
        return int(value)
    raise _wrong(value, place, "an integer, as a string of digits")


def _attributes(fields: dict[str, Any], place: _Place) -> dict[str, Any]:
    return _read_pairs(fields.get("attributes"), (*place, "attributes"))


def _read_pairs(pairs: object, place: _Place) -> dict[str, Any]:
    """A list of key and value, or a plain object; of equal keys the last one holds."""
    if pairs is None:
        return {}
    if isinstance(pairs, dict):
        return {key: _read_value(value, (*place, key)) for key, value in pairs.items()}
    if not isinstance(pairs, list):
        raise _wrong(pairs, place, "a list")
    attributes: dict[str, Any] = {}
    for index, pair in enumerate(pairs):
        key = pair.get("key") if isinstance(pair, dict) else None
        if not isinstance(key, str):
            raise _wrong(pair, (*place, index), "an object with a string `key`")
        attributes[key] = _read_value(pair.get("value"), (*place, index, "value"))
    return attributes


def _read_value(value: object, place: _Place) -> object:
    """The plain value of an AnyValue; what is none of its kinds is taken as it is."""
    if not isinstance(value, dict) or len(value) != 1:
        return value or None
    ((kind, inner),) = value.items()
    match kind:
        case "stringValue" | "boolValue" | "bytesValue" | "doubleValue":
            return inner
        case "intValue":
            return _read_integer(inner, place=(*place, kind))
        case "arrayValue":
            items = _object(inner or {}, (*place, kind)).get("values") or []
            if not isinstance(items, list):
                raise _wrong(items, (*place, kind, "values"), "a list")
            return [_read_value(item, (*place, kind, "values", index)) for index, item in enumerate(items)]
        case "kvlistValue":
            return _read_pairs(_object(inner or {}, (*place, kind)).get("values"), (*place, kind, "values"))
        case _:
            return value


def _objects(fields: dict[str, Any], key: str, place: _Place) -> list[tuple[_Place, dict[str, Any]]]:
    """The objects of the list under `key`, each with its place; absent is empty."""
    items = fields.get(key)
    if items is None:
        return []
    if not isinstance(items, list):
        raise _wrong(items, (*place, key), "a list")
    return [((*place, key, index), _object(item, (*place, key, index))) for index, item in enumerate(items)]


def _object(value: object, place: _Place) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise _wrong(value, place, "an object")
    return value


def _text(fields: dict[str, Any], key: str, place: _Place) -> str:
    value = fields.get(key)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise _wrong(value, (*place, key), "a string")
    return value


def _wrong(value: object, place: _Place, expected: str) -> DecodeError:
    message = f"found {describe_value(value)}, expected {expected}"
    return DecodeError(ParkReason.INVALID_MESSAGE, message, where=format_path(*place))
