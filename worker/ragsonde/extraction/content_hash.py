"""The hash that tells a duplicate from a revision."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragsonde_schemas.trace import Reference, Turn

LAST_TURNS = 3
"""So many turns before the question are seen by judges, and hashed."""


def compute_content_hash(
    *,
    query: str | None,
    retrieval_query: str | None,
    turns: Sequence[Turn],
    contexts: Sequence[str] | None,
    answer: str | None,
    reference: Reference | None,
    has_failed: bool = False,
) -> str:
    """Sha256, in hex, of what judges see: equal for equal content, whatever the metadata.

    The hashed text is JSON with sorted keys, no blanks and ASCII escapes of query, retrieval_query, the last
    three turns as [role, content], the contexts' texts in retrieval order, answer and reference. Unknown
    contexts (null) and an empty retrieval ([]) differ. So does content of which a user's mapping or function
    could not find a part: what is found of it the next time is a revision, not a duplicate.
    """
    content: dict[str, object] = {
        "query": query,
        "retrieval_query": retrieval_query,
        "turns": [[turn.role, turn.content] for turn in turns[-LAST_TURNS:]],
        "contexts": None if contexts is None else list(contexts),
        "answer": answer,
        "reference": None
        if reference is None
        else {
            "answer": reference.answer,
            "contexts": list(reference.contexts),
            "context_ids": list(reference.context_ids),
        },
    }
    if has_failed:
        content["has_failed"] = True
    canonical = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(canonical.encode("ascii")).hexdigest()
