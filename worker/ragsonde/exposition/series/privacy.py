"""What is kept out of what is stored."""

from __future__ import annotations

from ragsonde.exposition.declaration import Declaration, Kind

REDACTIONS = Declaration(
    name="redactions_total",
    kind=Kind.COUNTER,
    help="Places in received messages that redaction replaced, by kind; hook: texts that your own function "
    "changed.",
    labels=("kind",),
)
