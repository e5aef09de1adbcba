"""Verdicts given earlier, in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ragsonde_schemas.assessment import Assessment


class FakeAssessmentCache:
    """Finds what was put into `kept`, by fingerprint and content hash."""

    def __init__(self) -> None:
        self.kept: dict[tuple[str, str], Assessment] = {}

    def find(self, fingerprint: str, content_hash: str) -> Assessment | None:
        return self.kept.get((fingerprint, content_hash))
