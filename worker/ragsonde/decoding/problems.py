"""Validation errors of the native message in words: path, found, expected."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ragsonde.decoding.wording import describe_value
from ragsonde.extraction.paths import format_path
from ragsonde_schemas.message import (
    CONTEXT_UNKNOWN,
    TraceMessage,
    WireContext,
    WireEvaluationWish,
    WireReference,
    WireTurn,
)

if TYPE_CHECKING:
    from pydantic import ValidationError
    from pydantic_core import ErrorDetails

    from ragsonde.decoding.json_text import Place

_FIELDS = frozenset(
    name
    for model in (TraceMessage, WireContext, WireReference, WireTurn, WireEvaluationWish)
    for name in model.model_fields
)
_EXPECTED = {
    "string_type": "a string",
    "list_type": "a list",
    "dict_type": "an object",
    "model_type": "an object",
    "float_type": "a number",
    "finite_number": "a finite number",
    "missing": "a string",
}
EXPECTED_TIME = "an ISO 8601 time such as 2026-01-31T12:00:00Z"


def list_problems(error: ValidationError, fields: dict[str, Any]) -> list[tuple[str, str]]:
    """Path and `found X, expected Y` of each problem, in order.

    Where a field may be of several kinds, pydantic reports a problem for each kind: those of one place become
    one problem, and a place that holds the place of another is left out.
    """
    by_place: dict[Place, list[ErrorDetails]] = {}
    for details in error.errors(include_url=False, include_context=True, include_input=False):
        place = tuple(part for part in details["loc"] if isinstance(part, int) or part in _FIELDS)
        by_place.setdefault(place, []).append(details)
    above = {place[:length] for place in by_place for length in range(len(place))}
    return [
        (format_path(*place), _describe(place, details, fields))
        for place, details in by_place.items()
        if place not in above
    ]


def _describe(place: Place, details: list[ErrorDetails], fields: dict[str, Any]) -> str:
    expected = " or ".join(dict.fromkeys(_describe_expected(item) for item in details))
    told = next((item["ctx"]["found"] for item in details if item["type"] == CONTEXT_UNKNOWN), None)
    return f"found {told or _describe_found(place, fields)}, expected {expected}"


def _describe_found(place: Place, fields: dict[str, Any]) -> str:
    value: Any = fields
    for part in place:
        if isinstance(value, dict) and part not in value:
            return "nothing"
        value = value[part]
    return describe_value(value)


def _describe_expected(details: ErrorDetails) -> str:
    kind = details["type"]
    limits = details.get("ctx", {})
    if kind.startswith("datetime"):
        return EXPECTED_TIME
    for name, words in (("ge", "at least"), ("gt", "more than"), ("le", "at most")):
        if name in limits:
            return f"a number of {words} {limits[name]:g}"
    return _EXPECTED.get(kind, details["msg"])
