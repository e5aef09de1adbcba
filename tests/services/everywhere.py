"""Looks for a text in all that a database holds: what was erased or replaced must be nowhere."""

from __future__ import annotations

import base64
import gzip
import json
import zlib
from collections.abc import Mapping
from typing import TYPE_CHECKING

import zstandard
from sqlalchemy import inspect, text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sqlalchemy import Engine

_WHOLE_TABLES = """
SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = current_schema() AND c.relkind IN ('r', 'p') AND NOT c.relispartition
"""


def search_everywhere(engine: Engine, needle: str) -> list[str]:
    """The columns, as `table.column`, that hold the needle in any row of any table, sorted; [] for none.

    Read are the tables that the database has, not those that the code knows. Letters of either case are the
    same, in bytes those of ASCII. A value is also read as JSON and as base64,
    and bytes as UTF-8, as UTF-16 and as what gzip, zlib or zstd packed.
    """
    found: set[str] = set()
    with engine.connect() as connection:
        preparer = inspect(engine).dialect.identifier_preparer
        for table in connection.execute(text(_WHOLE_TABLES)).scalars().all():
            rows = connection.execute(text(f"SELECT * FROM {preparer.quote(table)}"))  # noqa: S608 - a name
            for row in rows.mappings():
                found |= {f"{table}.{column}" for column, value in row.items() if holds(value, needle)}
    return sorted(found)


def holds(value: object, needle: str) -> bool:
    """True when the needle is in a value, or in anything inside it."""
    return any(_has(part, needle) for part in _list_parts(value))


def _list_parts(value: object) -> Iterator[str | bytes]:
    match value:
        case str() | bytes():
            yield value
        case memoryview():
            yield bytes(value)
        case Mapping():
            for key, inner in value.items():
                yield from _list_parts(key)
                yield from _list_parts(inner)
        case list() | tuple():
            for inner in value:
                yield from _list_parts(inner)
        case None:
            return
        case _:
            yield str(value)


def _has(part: str | bytes, needle: str) -> bool:
    if isinstance(part, str) and needle.lower() in part.lower():
        return True
    raw = part.encode(errors="surrogatepass") if isinstance(part, str) else part
    return any(form in body.lower() for body in (raw, *_unpack(raw)) for form in _list_forms(needle.lower()))


def _list_forms(needle: str) -> set[bytes]:
    utf8 = needle.encode()
    return {
        utf8,
        json.dumps(needle)[1:-1].encode(),
        needle.encode("utf-16-le"),
        needle.encode("utf-16-be"),
    }


def _unpack(raw: bytes) -> Iterator[bytes]:
    ways: tuple[Callable[[bytes], bytes], ...] = (
        gzip.decompress,
        zlib.decompress,
        lambda packed: zstandard.ZstdDecompressor().decompressobj().decompress(packed),
        lambda packed: base64.b64decode(packed, validate=True),
    )
    for unpack in ways:
        try:
            yield unpack(raw)
        except (OSError, EOFError, ValueError, zlib.error, zstandard.ZstdError):
            continue
