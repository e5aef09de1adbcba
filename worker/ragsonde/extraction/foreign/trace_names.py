"""What a trace is called where its tool may give it no id, or none that can be kept."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any, NamedTuple

from ragsonde.extraction.documents import read_name
from ragsonde_schemas.message import TRACE_ID_MAX_CHARACTERS

if TYPE_CHECKING:
    from collections.abc import Iterable

DERIVED = "trace_id_derived"
"""The warning: the id is the content's own."""

_DIGITS = 32


class TraceName(NamedTuple):
    """A trace's id and what is to be said about it."""

    trace_id: str
    warnings: tuple[str, ...] = ()


def find_trace_name(document: dict[str, Any], candidates: Iterable[object]) -> TraceName:
    """The first of `candidates` that can be a trace's id, else one that equal documents share.

    Derived is the beginning, 32 digits, of the sha256 in hex of the document as JSON with sorted keys, no
    blanks and ASCII escapes.
    """
    for candidate in candidates:
        name = read_name(candidate)
        if name is not None and len(name) <= TRACE_ID_MAX_CHARACTERS and name.isprintable():
            return TraceName(name)
    canonical = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return TraceName(hashlib.sha256(canonical.encode("ascii")).hexdigest()[:_DIGITS], (DERIVED,))
