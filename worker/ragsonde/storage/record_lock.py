"""The name under which those who write to one record take turns."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ragsonde_schemas.trace import TraceKey


def hash_record(key: TraceKey) -> int:
    """A 64-bit name of the record for the advisory lock; two records with the same one merely take turns."""
    name = f"{key.app}\x1f{key.trace_id}\x1f{key.record_key}"
    return int.from_bytes(hashlib.blake2b(name.encode(), digest_size=8).digest(), "big", signed=True)
