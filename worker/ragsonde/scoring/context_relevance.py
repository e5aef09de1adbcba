"""Weighted context relevance: how relevant the contexts are, less what was left unused or is lacking.

raw = clamp(sum(w) / N - unused_high * p_unused - min(missing * p_missing, cap), 0, 1); w: high 1, medium 0.7,
low 0.3, none 0. Formula and default penalties of Mastra's createContextRelevanceScorerLLM.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from math import fsum
from typing import TYPE_CHECKING

from ragsonde.scoring.assessed import pair_verdicts
from ragsonde.scoring.formula import Computed, always
from ragsonde.scoring.options import Option, describe, number_reader, suggest
from ragsonde.scoring.phrases import count, join_words, quote, quote_reasons, verb
from ragsonde.scoring.rounding import drop_noise, show2
from ragsonde_schemas.assessment import Aspect, Level
from ragsonde_schemas.errors import ConfigError

if TYPE_CHECKING:
    from ragsonde.scoring.options import Options
    from ragsonde_schemas.assessment import Assessment
    from ragsonde_schemas.trace import Trace

WEIGHTS = {Level.HIGH: 1.0, Level.MEDIUM: 0.7, Level.LOW: 0.3, Level.NONE: 0.0}

find_needs = always(Aspect.LEVEL, Aspect.USED)
OPTIONAL = frozenset({Aspect.MISSING})


@dataclass(frozen=True)
class Penalties:
    """What is subtracted.

    Attributes:
        unused_high: for each context of level high that the answer does not use.
        missing_item: for each item the contexts lack.
        missing_cap: the most that missing items cost together.
    """

    unused_high: float = 0.1
    missing_item: float = 0.15
    missing_cap: float = 0.5


_NAMES = {
    "unused_high": "unused_high",
    "missing_item": "missing_item",
    "missing_cap": "missing_cap",
    "unusedHighRelevanceContext": "unused_high",
    "missingContextPerItem": "missing_item",
    "maxMissingContextPenalty": "missing_cap",
}
_read_penalty = number_reader(lambda number: number >= 0, expected="a number of 0 or more")
_read_cap = number_reader(lambda number: 0 <= number <= 1, expected="a number from 0 to 1")


def read_penalties(value: object, *, place: str) -> Penalties:
    """The configured penalties, by our names or the original's; unset ones keep their defaults.

    Raises:
        ConfigError: with every problem found.
    """
    if not isinstance(value, Mapping):
        raise ConfigError(
            f"{place}: found {describe(value)}, expected a mapping of {', '.join(list(_NAMES)[:3])}"
        )
    numbers: dict[str, float] = {}
    problems: list[str] = []
    for given, number in value.items():
        name = _NAMES.get(given) if isinstance(given, str) else None
        if name is None:
            nearest = suggest(given, valid=_NAMES) if isinstance(given, str) else ""
            known = ", ".join(list(_NAMES)[:3])
            problems.append(f"{place}: {describe(given)} is no penalty{nearest} (known: {known})")
        elif name in numbers:
            problems.append(f"{place}.{name}: is given twice, once by its alias; keep one of them")
        elif number is not None:
            read = _read_cap if name == "missing_cap" else _read_penalty
            try:
                numbers[name] = read(number, place=f"{place}.{given}")
            except ConfigError as error:
                problems.extend(error.problems)
    if problems:
        raise ConfigError(*problems)
    return Penalties(**numbers)


PENALTIES = Option(
    "penalties",
    default=Penalties(),
    read=read_penalties,
    meaning="unused_high, missing_item, missing_cap: what unused and missing things cost",
)


def compute(trace: Trace, assessment: Assessment, options: Options) -> Computed:
    """The mean weight of the levels less the penalties, with every part of the sum."""
    pairs = pair_verdicts(trace, assessment)
    levels = [verdict.level or Level.NONE for _, verdict in pairs]
    unused_high = [
        context.number for context, verdict in pairs if verdict.level is Level.HIGH and not verdict.used
    ]
    missing = assessment.missing or ()
    penalties = PENALTIES.of(options)
    base = fsum(WEIGHTS[level] for level in levels) / len(pairs)
    unused_penalty = len(unused_high) * penalties.unused_high
    missing_penalty = min(len(missing) * penalties.missing_item, penalties.missing_cap)
    counts = Counter(levels)
    return Computed(
        raw=min(1.0, max(0.0, drop_noise(base - unused_penalty - missing_penalty))),
        details={
            "n_contexts": len(pairs),
            "base": drop_noise(base),
            "unused_high_penalty": drop_noise(unused_penalty),
            "missing_penalty": drop_noise(missing_penalty),
            "penalties": vars(penalties).copy(),
            "counts": {level.value: counts[level] for level in Level},
            "unused_high": unused_high,
            "n_unused_high": len(unused_high),
            "has_unused_high": bool(unused_high),
            "missing": "not_assessed" if assessment.missing is None else list(missing),
            "n_missing": len(missing),
            "has_missing": bool(missing),
        },
    )


def explain(trace: Trace, assessment: Assessment, computed: Computed, _options: Options) -> str:
    """Level and use of each context, then what each penalty took."""
    details = computed.details
    contexts = join_words(
        [
            f"{context.number} {verdict.level} {'used' if verdict.used else 'unused'}"
            for context, verdict in pair_verdicts(trace, assessment)
        ]
    )
    parts = [
        f"{count(details['n_contexts'], 'context')} of mean weight {show2(details['base'])} ({contexts})"
    ]
    penalties = details["penalties"]
    if details["has_unused_high"]:
        unused = details["unused_high"]
        noun = verb(len(unused), singular="context", plural="contexts")
        parts.append(
            f"high but unused {noun} {join_words(unused)}: -{show2(details['unused_high_penalty'])} "
            f"({penalties['unused_high']:g} each)"
        )
    if details["has_missing"]:
        parts.append(
            f"missing {quote(details['missing'])}: -{show2(details['missing_penalty'])} "
            f"({penalties['missing_item']:g} each, at most {penalties['missing_cap']:g})"
        )
    elif details["missing"] == "not_assessed":
        parts.append("missing items were not assessed")
    return "; ".join(parts) + quote_reasons(assessment.contexts)
