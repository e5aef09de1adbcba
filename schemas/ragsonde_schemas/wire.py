"""The JSON Schema that is published for producers, generated from the model."""

from __future__ import annotations

from typing import Any

from ragsonde_schemas.message import CONTENT_TYPE, TraceMessage

WIRE_SCHEMA_FILE = "trace.v1.json"
"""Its file name in `schemas/wire`."""


def wire_schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of the native message, version 1."""
    schema = TraceMessage.model_json_schema(mode="validation")
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"ragsonde trace message, version 1 ({CONTENT_TYPE})",
        **{key: value for key, value in schema.items() if key != "title"},
    }
