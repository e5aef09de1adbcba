"""A question of the user's own that a judge answers with a rating."""

from __future__ import annotations

import hashlib
import json
from functools import cached_property

from ragsonde_schemas.value import Value

_DIGEST_HEX_DIGITS = 12


class Rubric(Value):
    """What a judge is told of one rubric.

    Attributes:
        name: names it in configuration and recorded assessments; the judge is not told.
        question: as configured.
        ratings: what may be answered: "1" to "5", or labels, in the order in which they are told.
        is_scale: the ratings are a scale from the worst to the best.
    """

    name: str
    question: str
    ratings: tuple[str, ...]
    is_scale: bool

    @cached_property
    def digest(self) -> str:
        """12 hex digits of what the judge is told: other words may bring another rating."""
        told = json.dumps([self.question, self.ratings, self.is_scale], separators=(",", ":"))
        return hashlib.sha256(told.encode()).hexdigest()[:_DIGEST_HEX_DIGITS]
