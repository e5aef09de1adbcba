"""What a formula is: how it computes, what it needs, and how people read it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from ragsonde.scoring.options import SHARED_OPTIONS, Option, Options
from ragsonde_schemas.assessment import Aspect, Assessment, Fault

if TYPE_CHECKING:
    from ragsonde.scoring.bands import Band
    from ragsonde_schemas.errors import Cause
    from ragsonde_schemas.trace import Trace


class Direction(StrEnum):
    """Which way is better."""

    HIGHER = "higher"
    TARGET = "target"
    """neither: compared with its own past"""


class Evidence(StrEnum):
    """What a trace must hold beside question and contexts."""

    QUESTION = "question"
    """nothing more; an answer is evidence where there is one"""
    ANSWER = "answer"
    REFERENCE_OR_ANSWER = "reference_or_answer"
    """the reference where there is one, else the answer; which of them is part of the version"""
    REFERENCE = "reference"


@dataclass(frozen=True)
class Computed:
    """A raw score in 0..1 with the details that explain it, as JSON values."""

    raw: float
    details: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Skip:
    """Nothing to score, as only the verdicts show: no number, and nobody's fault.

    Attributes:
        cause: one of those that are skipped.
        message: what there is none of.
    """

    cause: Cause
    message: str


@dataclass(frozen=True)
class Remedy:
    """What to try.

    Attributes:
        sign: what is seen.
        evidence: where the stored verdicts show it.
        action: what to change.
    """

    sign: str
    evidence: str
    action: str


@dataclass(frozen=True)
class Comparison:
    """How a formula differs from its neighbours.

    Attributes:
        question: what it answers.
        algorithm, relevance, position, usage, missing: one cell each of the comparison table.
        use_cases: when to choose it.
    """

    question: str
    algorithm: str
    relevance: str
    position: str
    usage: str
    missing: str
    use_cases: tuple[str, ...]


NeedsFinder = Callable[[Options, bool], frozenset[Aspect]]
"""From the options, and whether the trace has a reference, to the aspects without which there is no score."""


FaultFinder = Callable[[Assessment, Options], Fault | None]
"""From an assessment and the options to why there is no score, None where there is one."""

OptionsCheck = Callable[[Options], tuple[str, ...]]
"""From all options of an instance to what is wrong with them together."""


def always(*aspects: Aspect) -> NeedsFinder:
    """A needs finder for a formula whose needs never change."""
    needs = frozenset(aspects)
    return lambda _options, _has_reference: needs


@dataclass(frozen=True)
class Formula:
    """A row of the table of formulas.

    Attributes:
        id: its name in configuration and rows.
        aliases: names of the originals, accepted in configuration.
        display_name: for people.
        origin: where the formula comes from.
        compute: the raw score, a fault where there should have been one, or a skip where there is nothing to
            score; called only when `needs` are assessed.
        explain: the reason, from what was computed; without the leading number.
        find_needs: aspects it needs.
        optional: aspects it uses where they were assessed.
        code_version: raised when the same verdicts would give another raw score.
        is_rounded: `value` has two decimals.
        own_options: beside those that every formula has.
        find_own_fault: where given, it decides in place of the general check of `needs`.
        check_options: what the options must fulfil together.
        is_named: it is configured as `id:name`, any number of times.
        is_default: it is on where nothing is configured.
        example: a line under `scorers:` that configures it; '' where its id and no option is enough.
    """

    id: str
    aliases: tuple[str, ...]
    display_name: str
    origin: str
    compute: Callable[[Trace, Assessment, Options], Computed | Fault | Skip]
    explain: Callable[[Trace, Assessment, Computed, Options], str]
    find_needs: NeedsFinder
    evidence: Evidence
    bands: tuple[Band, ...]
    remedies: tuple[Remedy, ...]
    comparison: Comparison
    optional: frozenset[Aspect] = frozenset()
    direction: Direction = Direction.HIGHER
    code_version: str = "1"
    is_rounded: bool = True
    own_options: tuple[Option[Any], ...] = ()
    find_own_fault: FaultFinder | None = None
    check_options: OptionsCheck | None = None
    is_named: bool = False
    is_default: bool = False
    example: str = ""

    @property
    def needs(self) -> frozenset[Aspect]:
        """Aspects it needs with default options, for a trace without a reference."""
        return self.find_needs({}, False)

    @property
    def needs_with_reference(self) -> frozenset[Aspect]:
        """Aspects it needs with default options, for a trace with a reference."""
        return self.find_needs({}, True)

    @property
    def configuration(self) -> str:
        """A line under `scorers:` that turns it on."""
        return self.example or f"{self.id}: {{}}"

    @property
    def options(self) -> tuple[Option[Any], ...]:
        """All its options."""
        return (*SHARED_OPTIONS, *self.own_options)
