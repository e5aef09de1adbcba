"""Verdicts given earlier, in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ragsonde_schemas.assessment import Assessment


class FakeAssessmentCache:
    """Finds what is in `kept`, by fingerprint and content hash; nothing of a fallback or with faults."""

    def __init__(self) -> None:
        self.kept: dict[tuple[str, str], Assessment] = {}

    def find(self, fingerprint: str, content_hash: str) -> Assessment | None:
        found = self.kept.get((fingerprint, content_hash))
        is_usable = found is not None and found.answered_fingerprint is None and not found.faults
        return found if is_usable else None
