"""Names what a user's function would be given, so that it is asked once for it."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ragsonde.extraction.findings import Findings
    from ragsonde.extraction.mapping_tree import Tree

_SEEN_FIELDS = (
    "format", "trace_id", "record_key", "app", "environment", "release", "variant", "tags", "session_id",
    "user_id", "query", "retrieval_query", "answer",
)  # fmt: skip


def hash_tree(tree: Tree) -> str:
    """Sha256, in hex, of a record's tree."""
    return _hash(tree.root)


def hash_findings(found: Findings, *, tree_hash: str) -> str:
    """Sha256, in hex, of all that a function sees of a record: the fields found so far, and the tree."""
    return _hash(
        [
            tree_hash,
            [getattr(found, field) for field in _SEEN_FIELDS],
            [[turn.role, turn.content] for turn in found.turns],
            found.reference.answer if found.reference else None,
            None if found.contexts is None else [list(context) for context in found.contexts],
        ]
    )


def _hash(value: object) -> str:
    canonical = json.dumps(value, sort_keys=True, separators=(",", ":"), default=str)
    return hashlib.sha256(canonical.encode("ascii")).hexdigest()
