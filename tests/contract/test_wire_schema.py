import json
from pathlib import Path

from ragsonde_schemas.message import TraceMessage
from ragsonde_schemas.wire import WIRE_SCHEMA_FILE, wire_schema

WIRE = Path(__file__).parents[2] / "schemas" / "wire"


def test_the_published_schema_is_the_models():
    """Write it again with `ragsonde export-schema` when the model has changed on purpose."""
    assert json.loads((WIRE / WIRE_SCHEMA_FILE).read_text()) == wire_schema()


def test_the_schema_names_every_field_and_demands_only_the_trace_id():
    schema = wire_schema()
    assert set(schema["properties"]) == set(TraceMessage.model_fields)
    assert schema["required"] == ["trace_id"]
    assert schema["additionalProperties"] is True
