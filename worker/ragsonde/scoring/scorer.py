"""A scorer: a formula under an instance name, with its options."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from ragsonde.scoring.formula import Direction, Evidence, Formula
from ragsonde.scoring.options import EMPTY_CONTEXT_SCORE, SCALE, THRESHOLD, Options

if TYPE_CHECKING:
    from ragsonde_schemas.assessment import Aspect
    from ragsonde_schemas.trace import Trace

_OPTIONS_HEX_DIGITS = 6


@dataclass(frozen=True)
class Scorer:
    """A configured scorer.

    Attributes:
        instance: the name its scores carry.
        formula: the row of the table it computes by.
        options: what the configuration sets; the rest has its default.
    """

    instance: str
    formula: Formula
    options: Options = field(default_factory=dict, hash=False)

    @property
    def formula_id(self) -> str:
        """The formula's name."""
        return self.formula.id

    @property
    def needs(self) -> frozenset[Aspect]:
        """Aspects without which there is no score, for a trace without a reference."""
        return self.formula.find_needs(self.options, False)

    @property
    def optional(self) -> frozenset[Aspect]:
        """Aspects that are used where they were assessed."""
        return self.formula.optional

    @property
    def direction(self) -> Direction:
        """Which way is better."""
        return self.formula.direction

    @property
    def scale(self) -> float:
        """What raw is multiplied with to give the value; above 0."""
        return SCALE.of(self.options)

    @property
    def threshold(self) -> float | None:
        """The raw score from which on a trace passes, None for none."""
        return THRESHOLD.of(self.options)

    @property
    def empty_context_score(self) -> float | None:
        """The raw score of a trace without contexts, None to skip it."""
        return EMPTY_CONTEXT_SCORE.of(self.options)

    def needs_for(self, trace: Trace) -> frozenset[Aspect]:
        """Aspects without which there is no score of this trace."""
        return self.formula.find_needs(self.options, trace.has_reference)

    def version_for(self, trace: Trace) -> str:
        """The version of this trace's score, e.g. `1`, `1+3fa2c1`, `1:answer`.

        Code version, then 6 hex digits of the options that change raw where any differs from its default,
        then the basis for formulas that judge against a reference or an answer.
        """
        if self.formula.evidence is not Evidence.REFERENCE_OR_ANSWER:
            return self._code_and_options
        return f"{self._code_and_options}:{'reference' if trace.has_reference else 'answer'}"

    @property
    def versions(self) -> tuple[str, ...]:
        """All versions that its scores can have."""
        if self.formula.evidence is not Evidence.REFERENCE_OR_ANSWER:
            return (self._code_and_options,)
        return tuple(f"{self._code_and_options}:{basis}" for basis in ("answer", "reference"))

    @cached_property
    def _code_and_options(self) -> str:
        changes: dict[str, object] = {}
        for option in self.formula.options:
            if option.changes_raw:
                changes |= option.changes(self.options)
        if not changes:
            return self.formula.code_version
        canonical = json.dumps(changes, sort_keys=True, separators=(",", ":"))
        digest = hashlib.sha256(canonical.encode()).hexdigest()
        return f"{self.formula.code_version}+{digest[:_OPTIONS_HEX_DIGITS]}"
