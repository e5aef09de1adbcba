"""The search that other tests trust when they say that something is nowhere."""

from __future__ import annotations

import gzip
import json

import pytest
from sqlalchemy import text

from services.everywhere import search_everywhere

pytestmark = pytest.mark.integration

NEEDLE = "anna.müller@example.org"


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("text", f"written by {NEEDLE.upper()} yesterday"),
        ("text[]", ["first", NEEDLE]),
        ("jsonb", json.dumps({"a": [{NEEDLE: 1}]}, ensure_ascii=False)),
        ("json", '{"a": ["anna.m\\u00fcller@example.org"]}'),
        ("bytea", b"\x00\x01" + NEEDLE.encode() + b"\xff"),
        ("bytea", b'"anna.m\\u00fcller@example.org"'),
        ("bytea", gzip.compress(NEEDLE.encode(), mtime=0)),
        ("bytea", NEEDLE.encode("utf-16-le")),
    ],
)
def test_a_text_is_found_in_a_table_of_any_name_and_a_column_of_any_kind(own_engine, kind, value):
    with own_engine.begin() as connection:
        connection.execute(text(f'CREATE TABLE "Of Somebody" (id int, "what it says" {kind})'))
        connection.execute(text('INSERT INTO "Of Somebody" VALUES (1, :value)'), {"value": value})

    assert search_everywhere(own_engine, NEEDLE) == ["Of Somebody.what it says"]
    assert search_everywhere(own_engine, "somebody.else@example.org") == []
