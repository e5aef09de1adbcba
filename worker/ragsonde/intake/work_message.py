"""What is published on `ragsonde.work`: the key of what is due, as JSON.

An evaluation, a gathered trace, or a trace of the check set.
"""

from __future__ import annotations

from datetime import UTC, datetime

from pydantic import TypeAdapter

from ragsonde.intake.deliveries import compute_message_key
from ragsonde.intake.topology import BACKFILL, TRACES, WORK
from ragsonde_schemas.check import CheckKey
from ragsonde_schemas.envelope import Envelope
from ragsonde_schemas.evaluation import EvaluationKey
from ragsonde_schemas.open_record import OpenRecordKey

FILE_MESSAGE = "application/vnd.ragsonde.file"
"""Content type of a message of a backfill's file: no key but what a producer would have sent. Its message id
is the number of the backfill. It holds only for what lay in our own queue of backfills."""
_LONGEST_NUMBER = 18
"""Digits; what has more is the number of nothing."""

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


def read_backfill(envelope: Envelope) -> tuple[int, Envelope]:
    """The backfill whose file a message is of, and the message as a producer would have sent it.

    Raises:
        ValueError: it names none; only ragsonde publishes such messages.
    """
    named = envelope.message_id or ""
    if not (named.isascii() and named.isdigit() and len(named) <= _LONGEST_NUMBER):
        raise ValueError(f"found {named[:40]!r}, expected the number of a backfill")
    return int(named), envelope.model_copy(update={"message_id": None, "content_type": None})


def find_replay(envelope: Envelope, *, is_dead_letter: bool) -> Envelope | None:
    """A parked message as it is to be published again; None where it is a work message, named by its key.

    A message of a backfill's file that was taken in is known by its lack of a content type, as ours have one:
    its backfill is not known any more, and it is a producer's message from now on. A dead letter has never
    been taken in, and goes back as it came.
    """
    is_of_file = envelope.queue == BACKFILL and envelope.content_type in {None, FILE_MESSAGE}
    if is_of_file and not (is_dead_letter and envelope.content_type == FILE_MESSAGE):
        return envelope.model_copy(update={"queue": TRACES, "message_id": None, "content_type": None})
    return envelope if is_of_file or envelope.queue not in {WORK, BACKFILL} else None


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
