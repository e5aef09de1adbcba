"""Whom a parked message named when it came, as the column `names` of its row: digests and pseudonyms."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from ragsonde.storage.jsonb import clean_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ragsonde_schemas.body_names import BodyNames

DIGESTED = frozenset({"traces", "sessions"})
"""What stands under the key of an id may be anything, a text too: of these only digests are stored."""


def list_noted(names: BodyNames | None) -> dict[str, list[str]] | None:
    """The column's value: users as their pseudonyms, ids of traces and sessions as digests."""
    if names is None:
        return None
    return {
        "traces": sorted(digest_ids(names.traces)),
        "sessions": sorted(digest_ids(names.sessions)),
        "users": sorted(clean_text(one) or "" for one in names.users),
        "apps": sorted(clean_text(one) or "" for one in names.apps),
    }


def digest_ids(ids: Iterable[str]) -> frozenset[str]:
    """The ids as they stand in the column."""
    return frozenset(hashlib.sha256(one.encode(errors="replace")).hexdigest() for one in ids)
