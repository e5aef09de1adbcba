"""Traces and envelopes for tests, made by the real decoder and extraction."""

from __future__ import annotations

import json
from datetime import UTC, datetime

from ragsonde.decoding.table import decode
from ragsonde.extraction.table import build_trace, find_fields
from ragsonde.intake.deliveries import compute_message_key
from ragsonde_schemas.decoded import Receipt
from ragsonde_schemas.envelope import Envelope

NOW = datetime(2026, 6, 15, 12, 0, tzinfo=UTC)

REFUND = {
    "trace_id": "refund-1",
    "app": "shop",
    "environment": "production",
    "occurred_at": "2026-06-15T11:59:58Z",
    "query": "How long does a refund take?",
    "contexts": [
        "A refund is issued within 14 days after the returned parcel arrives at our warehouse.",
        "Shipping inside the EU takes three to five working days.",
    ],
    "answer": "A refund is issued within 14 days after the returned parcel arrives.",
}


def make_envelope(body=None, *, received_at=NOW, redelivered=False, **fields):
    """An envelope around bytes, or around REFUND with some fields changed."""
    raw = body if body is not None else json.dumps({**REFUND, **fields}).encode()
    return Envelope(
        body=raw,
        body_bytes=len(raw),
        message_key=compute_message_key(raw),
        received_at=received_at,
        redelivered=redelivered,
    )


def make_trace(*, received_at=NOW, **fields):
    """REFUND as a trace, with some fields changed."""
    envelope = make_envelope(received_at=received_at, **fields)
    (record,) = decode(envelope).records
    (found,) = find_fields(record)
    return build_trace(found, receipt=Receipt(received_at=received_at, published_at=None), retention_days=90)
