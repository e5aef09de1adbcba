"""Whom a parked message named when it came, as the column `names` of its row: digests and pseudonyms."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING

from ragsonde.storage.jsonb import clean_text
from ragsonde_schemas.body_names import BodyNames

if TYPE_CHECKING:
    from collections.abc import Iterable

NOBODY = BodyNames()
MOST_TRACES = 1_000
"""As many as a message may have records."""

DIGESTED = frozenset({"traces", "sessions"})
"""What stands under the key of an id may be anything, a text too: of these only digests are stored."""
_WIRE_ID = re.compile(r"[0-9a-f]{32}")


def list_noted(names: BodyNames | None, *, body: BodyNames = NOBODY) -> dict[str, list[str]]:
    """The column's value: users as their pseudonyms, ids of traces and sessions as digests.

    Args:
        names: whom the message named when it came; None: nobody noted it.
        body: whom the stored body names. Only its traces are taken: its users may stand in it as they are.
    """
    given = names or NOBODY
    traces = given.traces | body.traces | frozenset(filter(_is_wire_id, body.strings))
    return {
        "traces": sorted(digest_ids(traces))[:MOST_TRACES],
        "sessions": sorted(digest_ids(given.sessions)),
        "users": sorted(clean_text(one) or "" for one in given.users),
        "apps": sorted(clean_text(one) or "" for one in given.apps),
    }


def name_noted(trace_id: str) -> list[dict[str, list[str]]]:
    """What the column contains, one of these, where a message names the trace."""
    forms = {trace_id, trace_id.lower()} if _is_wire_id(trace_id.lower()) else {trace_id}
    return [{"traces": [one]} for one in sorted(digest_ids(forms))]


def digest_ids(ids: Iterable[str]) -> frozenset[str]:
    """The ids as they stand in the column."""
    return frozenset(hashlib.sha256(one.encode(errors="replace")).hexdigest() for one in ids)


def _is_wire_id(text: str) -> bool:
    """True for a trace id of OTLP, which stands in protobuf under no key that could be seen."""
    return _WIRE_ID.fullmatch(text) is not None
