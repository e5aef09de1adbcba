"""What is published on `ragsonde.work`: the key of an evaluation that is due."""

from __future__ import annotations

import hashlib
import json
import uuid
from datetime import UTC, datetime
from typing import Any

from ragsonde.intake.topology import WORK
from ragsonde_schemas.envelope import Envelope
from ragsonde_schemas.evaluation import EvaluationKey

_NAMESPACE = uuid.UUID("0b1e6c0e-57fb-5f3f-9b49-1a1f1d4b7e52")


def write_key(key: EvaluationKey) -> dict[str, Any]:
    """The key as JSON values, the one argument of `ragsonde.evaluate`."""
    return key.model_dump(mode="json")


def read_key(value: object) -> EvaluationKey:
    """The key in a work message's argument.

    Raises:
        pydantic.ValidationError: it is none; the message is parked.
    """
    return EvaluationKey.model_validate(value)


def name_task(key: EvaluationKey) -> str:
    """A task id that is the same each time this evaluation is published."""
    return str(uuid.uuid5(_NAMESPACE, key.model_dump_json()))


def wrap_work(value: object) -> Envelope:
    """A work message's argument as an envelope, so that it can be parked like any other."""
    body = json.dumps(value, default=repr).encode()
    return Envelope(
        body=body,
        body_bytes=len(body),
        content_type="application/json",
        message_key=hashlib.sha256(body).hexdigest(),
        received_at=datetime.now(UTC),
        queue=WORK,
    )
