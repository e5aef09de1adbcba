"""The logistic heads that turn features into probabilities, and the cut-offs that turn these into verdicts.

The numbers stand in `weights.json`, with what they were fitted on and its licence.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from importlib.resources import files
from math import exp
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

QUERY_ONLY = "query_only"
QUERY_ANSWER = "query_answer"


@dataclass(frozen=True, slots=True)
class Head:
    """Non-negative weights: more in common never lowers the probability."""

    features: tuple[str, ...]
    weights: tuple[float, ...]
    bias: float

    def estimate(self, values: Sequence[float]) -> float:
        """The probability, 0..1."""
        pairs = zip(self.weights, values, strict=True)
        return 1.0 / (1.0 + exp(-self.bias - sum([weight * value for weight, value in pairs])))

    def find_strongest(self, values: Sequence[float]) -> int | None:
        """The place of the feature that adds most; None when none adds anything."""
        parts = [weight * value for weight, value in zip(self.weights, values, strict=True)]
        strongest = max(range(len(parts)), key=parts.__getitem__)
        return strongest if parts[strongest] > 0 else None


@dataclass(frozen=True, slots=True)
class CutOffs:
    """From which probability on; the first of a pair without, the second with an answer.

    Attributes:
        relevant: a context is relevant.
        high: its level is high where there is no answer (with one: where it is relevant).
        medium: its level is medium by the question alone, where there is an answer.
        low: its level is low by the question alone.
        relevant_sentence: a sentence is on the question's subject.
        sufficient: the best sentence suffices to begin an answer with.
        used: share of an answer sentence's own words that a context must hold to count as used.
        used_lead: how far from the best context for that sentence it may be.
    """

    relevant: tuple[float, float]
    high: float
    medium: float
    low: float
    relevant_sentence: tuple[float, float]
    sufficient: tuple[float, float]
    used: float
    used_lead: float


@dataclass(frozen=True, slots=True)
class Weights:
    """All fitted numbers.

    Attributes:
        version: names them: raised by hand, plus a digest of the numbers.
        context, sentence: the heads by name.
    """

    version: str
    context: dict[str, Head]
    sentence: dict[str, Head]
    cut_offs: CutOffs


def parse_weights(document: dict[str, Any]) -> Weights:
    """The weights of a document as `weights.json` holds it."""
    numbers = {key: document[key] for key in ("context", "sentence", "cut_offs")}
    digest = sha256(json.dumps(numbers, sort_keys=True).encode()).hexdigest()[:8]
    cut_offs: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value for key, value in numbers["cut_offs"].items()
    }
    return Weights(
        version=f"{document['version']}-{digest}",
        context={name: _parse_head(head) for name, head in numbers["context"].items()},
        sentence={name: _parse_head(head) for name, head in numbers["sentence"].items()},
        cut_offs=CutOffs(**cut_offs),
    )


@lru_cache(maxsize=1)
def load_weights() -> Weights:
    """The weights that ship with the package."""
    text = files("ragsonde.judging.lexical").joinpath("weights.json").read_text(encoding="utf-8")
    return parse_weights(json.loads(text))


def _parse_head(document: dict[str, Any]) -> Head:
    return Head(
        features=tuple(document["features"]), weights=tuple(document["weights"]), bias=float(document["bias"])
    )
