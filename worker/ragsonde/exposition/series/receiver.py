"""What comes in by HTTP."""

from __future__ import annotations

from ragsonde.exposition.closed_labels import (
    RECEIVED,
    RECEIVER_OUTCOMES,
)
from ragsonde.exposition.declaration import Declaration, Kind
from ragsonde.exposition.series.shapes import STAGE_BUCKETS

RECEIVER_REQUESTS = Declaration(
    name="receiver_requests_total",
    kind=Kind.COUNTER,
    help="Requests that were answered, by path (other: one that does not exist) and HTTP status.",
    labels=("path", "status"),
    born=RECEIVED,
)
RECEIVER_MESSAGES = Declaration(
    name="receiver_messages_total",
    kind=Kind.COUNTER,
    help="Posted messages: accepted (the broker confirmed), refused (unreadable), unconfirmed (send again).",
    labels=("outcome",),
    born=RECEIVER_OUTCOMES,
)
RECEIVER_SECONDS = Declaration(
    name="receiver_request_seconds",
    kind=Kind.HISTOGRAM,
    help="From a whole request to its answer, the broker's confirm included.",
    labels=("path",),
    unit="seconds",
    buckets=STAGE_BUCKETS,
)
