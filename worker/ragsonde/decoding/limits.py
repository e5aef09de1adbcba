"""How much of a delivery is read before it is refused."""

from __future__ import annotations

from dataclasses import dataclass

from ragsonde.extraction.nesting import NESTING_LEVELS


@dataclass(frozen=True, slots=True, kw_only=True)
class DecodingLimits:
    """Caps against hostile sizes; over one of them a message is parked with the reason.

    Attributes:
        body_bytes: of the whole payload as it was delivered.
        decompressed_bytes: of a compressed payload once it is decompressed.
        records: in one message, where it is an array or JSON lines.
        nesting_levels: of lists and objects inside each other, in JSON and in attributes.
        spans: in one message.
        contexts: in one native message.
        list_items: in any other list of a native message.
        flattened_index: highest index of a list flattened into attributes.
    """

    body_bytes: int = 1_048_576
    decompressed_bytes: int = 16 * 1_048_576
    records: int = 1_000
    nesting_levels: int = NESTING_LEVELS
    spans: int = 10_000
    contexts: int = 1_000
    list_items: int = 10_000
    flattened_index: int = 10_001
