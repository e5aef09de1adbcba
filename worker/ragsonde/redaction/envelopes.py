"""Messages as they may be parked, and as logs may name them."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from ragsonde.decoding.body_names import read_names
from ragsonde.redaction.bodies import protect_body
from ragsonde.redaction.user_ids import is_starred
from ragsonde_schemas.body_names import BodyNames
from ragsonde_schemas.errors import ExtractionError

if TYPE_CHECKING:
    from ragsonde.decoding.limits import DecodingLimits
    from ragsonde.ports import ParkingStore, Redaction
    from ragsonde.redaction.privacy import Privacy
    from ragsonde_schemas.envelope import Envelope
    from ragsonde_schemas.errors import ParkReason


class ProtectedParking:
    """A parking store that is given nothing that may not be kept.

    Args:
        inner: keeps the messages.
        privacy: what may be kept.
        limits: how much of a compressed body is looked into.
    """

    def __init__(self, inner: ParkingStore, *, privacy: Privacy, limits: DecodingLimits) -> None:
        self._inner = inner
        self._privacy = privacy
        self._limits = limits

    def park(self, envelope: Envelope, *, reason: ParkReason, message: str, where: str) -> bool:
        """Stores a message as `ports.ParkingStore` says, with its body, headers and names redacted.

        Of one whose body is whole, `body_bytes` is the size that is kept.
        """
        kept = protect_body(envelope, self._privacy, limits=self._limits)
        redaction = self._privacy.redaction
        is_whole = len(envelope.body) == envelope.body_bytes
        changes: dict[str, object] = {"body": kept.body, "content_encoding": kept.content_encoding}
        changes["names"] = hide_names(envelope, self._privacy, limits=self._limits)
        if is_whole and kept.body:
            changes["body_bytes"] = len(kept.body)
        if redaction is not None:
            envelope = name_harmlessly(envelope, self._privacy)
            changes["headers"] = {name: redaction.cover(text) for name, text in envelope.headers.items()}
            changes["content_type"] = envelope.content_type and redaction.cover(envelope.content_type)
            message, where = redaction.cover(message), redaction.cover(where)
        is_new = self._inner.park(
            envelope.model_copy(update=changes),
            reason=reason,
            message=f"{message}; {kept.remark}" if kept.remark else message,
            where=where,
        )
        if is_new and kept.counts:
            self._privacy.on_redacted(kept.counts)
        return is_new


def hide_names(envelope: Envelope, privacy: Privacy, *, limits: DecodingLimits) -> BodyNames:
    """Whom a message names as it came, in the forms in which a trace of it would be stored.

    Raises:
        DatabaseLostError: the keys cannot be read.
    """
    ring = privacy.user_keys.read()
    found = read_names(envelope.body, encoding=envelope.content_encoding, limit=limits.decompressed_bytes)
    traces, sessions = found.traces, found.sessions
    if privacy.redaction is not None:
        traces, sessions = (_redact_names(names, privacy.redaction) for names in (traces, sessions))
    return BodyNames(
        traces=traces,
        users=frozenset(ring.hide(one) for one in found.users if one.strip() and not is_starred(one)),
        sessions=sessions,
        apps=found.apps,
    )


def _redact_names(names: frozenset[str], redaction: Redaction) -> frozenset[str]:
    try:
        return frozenset(redaction.replace_names(sorted(names)).value)
    except ExtractionError:
        return frozenset()


def name_harmlessly(envelope: Envelope, privacy: Privacy) -> Envelope:
    """The message, named by its content where its own id would name a person: ids go into logs and keys."""
    redaction = privacy.redaction
    names = (envelope.message_key, envelope.message_id or "")
    if redaction is None or all(redaction.cover(name) == name for name in names):
        return envelope
    digest = hashlib.sha256(envelope.body).hexdigest()
    return envelope.model_copy(update={"message_key": digest, "message_id": None})
