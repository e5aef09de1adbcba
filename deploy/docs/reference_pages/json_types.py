"""What a value may be, in words, from its JSON Schema."""

from __future__ import annotations

import json
from typing import Any

from reference_pages.markdown import quote

_WORDS = {
    "array": "list",
    "boolean": "true or false",
    "integer": "whole number",
    "null": "null",
    "number": "number",
    "object": "mapping",
    "string": "text",
}
_BOUNDS = (
    (("minimum", "ge"), ">= {}"),
    (("exclusiveMinimum", "gt"), "> {}"),
    (("maximum", "le"), "<= {}"),
    (("exclusiveMaximum", "lt"), "< {}"),
    (("minLength",), "at least {} long"),
    (("maxLength",), "at most {} long"),
    (("minItems",), "at least {}"),
    (("maxItems",), "at most {}"),
)
_OF_LISTS = {"minLength": "minItems", "maxLength": "maxItems"}
"""Pydantic names a list's bounds like a text's where something reads the value first."""


def name_type(schema: dict[str, Any], *, definitions: dict[str, Any]) -> str:
    """Such as `whole number, >= 1, <= 10` or `one of a, b`; the alternatives joined by "or"."""
    if "$ref" in schema:
        schema = definitions[schema["$ref"].rpartition("/")[2]]
    if "anyOf" in schema and "type" not in schema:
        names = [name_type(one, definitions=definitions) for one in schema["anyOf"]]
        return ("; or " if any("," in name for name in names) else " or ").join(dict.fromkeys(names))
    if "const" in schema:
        return quote(json.dumps(schema["const"]))
    if "enum" in schema:
        return f"one of {', '.join(quote(value) for value in schema['enum'])}"
    parts = [_name_plain(schema, definitions=definitions)]
    if schema.get("type") == "array":
        schema = {_OF_LISTS.get(key, key): value for key, value in schema.items()}
    parts += [
        words.format(f"{schema[key]:,}" if isinstance(schema[key], int) else f"{schema[key]:g}")
        for keys, words in _BOUNDS
        for key in keys
        if key in schema
    ]
    if "pattern" in schema:
        parts.append(f"of the form {quote(schema['pattern'])}")
    return ", ".join(parts)


def _name_plain(schema: dict[str, Any], *, definitions: dict[str, Any]) -> str:
    kind = schema.get("type")
    if kind is None:
        return "any value"
    if kind == "array":
        items = schema.get("items", {})
        inner = name_type(items, definitions=definitions)
        return f"list of ({inner})" if "anyOf" in items else f"list of {inner}"
    values = schema.get("additionalProperties")
    if kind == "object" and isinstance(values, dict) and values:
        return f"mapping of {name_type(values, definitions=definitions)}"
    if kind == "string" and schema.get("format") in {"path", "date-time"}:
        return "file or folder" if schema["format"] == "path" else "time, ISO 8601"
    return _WORDS[kind]
