"""Bands: how a raw score is read in words."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Band:
    """A stretch of raw scores with one reading; it ends where the next higher band begins.

    Attributes:
        lower: the edge, included unless `is_edge_included` says otherwise.
        key: what is stored, e.g. `very_poor`.
        words: what people read.
    """

    lower: float
    key: str
    words: str
    is_edge_included: bool = True

    def holds(self, raw: float) -> bool:
        """True when a raw score is not below the band."""
        return raw >= self.lower if self.is_edge_included else raw > self.lower


def find_band(bands: tuple[Band, ...], *, raw: float) -> Band:
    """The band a raw score lies in; `bands` are ordered from the highest to the lowest."""
    return next((band for band in bands if band.holds(raw)), bands[-1])


LOW = Band(0.0, "low", "low: little of it is relevant", is_edge_included=False)
NOTHING_RELEVANT = Band(0.0, "nothing_relevant", "nothing relevant")

SHARE_BANDS = (
    Band(1.0, "optimal", "optimal: everything is relevant"),
    Band(0.7, "good", "good: most of it is relevant"),
    Band(0.4, "mixed", "mixed: relevant and irrelevant together"),
    LOW,
    NOTHING_RELEVANT,
)
