"""The page of the native message, written from its published schema."""

from __future__ import annotations

import json
from typing import Any

from ragsonde_schemas.message import CONTENT_TYPE
from ragsonde_schemas.wire import WIRE_SCHEMA_FILE, wire_schema
from reference_pages.json_types import name_type
from reference_pages.markdown import draw_table, join_lines, quote

EXAMPLE = {
    "trace_id": "order-42",
    "app": "shop",
    "environment": "production",
    "release": "2026.11.3",
    "occurred_at": "2026-11-30T09:30:12Z",
    "query": "How long does a refund take?",
    "contexts": [
        {"id": "shipping-3", "content": "We ship to every country of the EU.", "score": 0.71},
        {"id": "refunds-1", "content": "A refund is issued within 14 days.", "score": 0.69},
    ],
    "answer": "A refund is issued within 14 days.",
    "reference": "Within 14 days.",
    "tags": ["refunds"],
}
_PLACES = {
    "WireTurn": "messages[]",
    "WireContext": "contexts[]",
    "WireReference": "reference",
    "WireEvaluationWish": "evaluation",
}
"""Where the objects inside of a message stand."""
_OPENING = f"""\
# The native message

Written by `make reference` from the JSON Schema that is published as `schemas/wire/{WIRE_SCHEMA_FILE}`;
`ragsonde export-schema` prints it. Version 1, content type `{CONTENT_TYPE}`, or `application/json`. Only
`trace_id` must be there. What other producers send is in [formats](formats.md).

```json
{json.dumps(EXAMPLE, indent=2)}
```

- **No contexts**: absent or null is unknown (`skipped(no_context)`); `[]` says that retrieval found nothing
  (`skipped(empty_retrieval)`). One text is a list of one. A blank context keeps its rank and is never
  relevant.
- **Types** are strict: a number is no text. What is wrong is told with its path, and the message is parked.
- **Unknown keys** are kept beside the trace and not used; the receiver warns of them.
- **Again and late**: the same content is the same trace; other content is a further revision, three at
  most.
"""


def write_page() -> str:
    """The page, as Markdown."""
    schema = wire_schema()
    definitions = schema["$defs"]
    parts = [_OPENING, f"## The message\n\n{_draw(schema, definitions=definitions)}"]
    for name, place in _PLACES.items():
        inner = definitions[name]
        opening = join_lines(inner["description"])
        parts.append(f"## {place}\n\n{opening}\n\n{_draw(inner, definitions=definitions)}")
    return "\n".join(parts)


def _draw(schema: dict[str, Any], *, definitions: dict[str, Any]) -> str:
    required = schema.get("required", ())
    return draw_table(
        ("key", "value", "must be there", "what it is"),
        (
            (
                quote(key),
                name_type(one, definitions=definitions),
                "yes" if key in required else "",
                one["description"],
            )
            for key, one in schema["properties"].items()
        ),
    )
