"""Messages as they may be parked, and as logs may name them."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from ragsonde.redaction.bodies import protect_body

if TYPE_CHECKING:
    from collections.abc import Callable

    from ragsonde.decoding.limits import DecodingLimits
    from ragsonde.ports import ParkingStore, Redaction
    from ragsonde.redaction.privacy import Privacy
    from ragsonde_schemas.envelope import Envelope
    from ragsonde_schemas.errors import ParkReason

    OnRedacted = Callable[[dict[str, int]], None]


class ProtectedParking:
    """A parking store that is given nothing that may not be kept.

    Args:
        inner: keeps the messages.
        privacy: what may be kept.
        limits: how much of a compressed body is looked into.
        on_redacted: told how many places were replaced, by kind.
    """

    def __init__(
        self,
        inner: ParkingStore,
        *,
        privacy: Privacy,
        limits: DecodingLimits,
        on_redacted: OnRedacted = lambda _counts: None,
    ) -> None:
        self._inner = inner
        self._privacy = privacy
        self._limits = limits
        self._on_redacted = on_redacted

    def park(self, envelope: Envelope, *, reason: ParkReason, message: str, where: str) -> bool:
        """Stores a message as `ports.ParkingStore` says, with its body, headers and names redacted.

        Of one whose body is whole, `body_bytes` is the size that is kept.
        """
        kept = protect_body(envelope, self._privacy, limits=self._limits)
        redaction = self._privacy.redaction
        is_whole = len(envelope.body) == envelope.body_bytes
        changes: dict[str, object] = {"body": kept.body, "content_encoding": kept.content_encoding}
        if is_whole and kept.body:
            changes["body_bytes"] = len(kept.body)
        if redaction is not None:
            envelope = cover_names(envelope, redaction)
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
            self._on_redacted(kept.counts)
        return is_new


def cover_names(envelope: Envelope, redaction: Redaction) -> Envelope:
    """A message that its id does not name a person by: where it would, its content names it instead."""
    names = (envelope.message_key, envelope.message_id or "")
    if all(redaction.cover(name) == name for name in names):
        return envelope
    digest = hashlib.sha256(envelope.body).hexdigest()
    return envelope.model_copy(update={"message_key": digest, "message_id": None})
