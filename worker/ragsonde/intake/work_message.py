"""What is published on `ragsonde.work`: the key of what is due, as JSON.

An evaluation, a gathered trace, or a trace of the check set.
"""

from __future__ import annotations

from datetime import UTC, datetime

from pydantic import TypeAdapter

from ragsonde.intake.deliveries import compute_message_key
from ragsonde.intake.topology import WORK
from ragsonde_schemas.check import CheckKey
from ragsonde_schemas.envelope import Envelope
from ragsonde_schemas.evaluation import EvaluationKey
from ragsonde_schemas.open_record import OpenRecordKey

WorkKey = EvaluationKey | OpenRecordKey | CheckKey
"""No JSON object is two of them: each refuses the fields of the other."""

_KEYS: TypeAdapter[WorkKey] = TypeAdapter(WorkKey)


def write_key(key: WorkKey) -> bytes:
    """The body of a work message."""
    return key.model_dump_json().encode()


def read_key(envelope: Envelope) -> WorkKey:
    """The key in a work message.

    Raises:
        pydantic.ValidationError: it is none; the message is parked.
    """
    return _KEYS.validate_json(envelope.body)


def wrap_key(key: WorkKey) -> Envelope:
    """The work message that names what is due, so that a fault in it can be parked like any other."""
    body = write_key(key)
    return Envelope(
        body=body,
        body_bytes=len(body),
        content_type="application/json",
        message_key=compute_message_key(body),
        received_at=datetime.now(UTC),
        queue=WORK,
    )
