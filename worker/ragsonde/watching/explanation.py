"""What is stored of a fall with its alert: numbers and names, for the page, for sinks and for scripts.

Beside what is described here: `traces`, `changes`, and the keys of `AlertCircumstances` (`extraction`,
`contexts`, `check_set`, `answers`), each of which is absent where there is nothing to tell.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ragsonde.regression.evidence import count_evidence_days
from ragsonde_schemas.score_stream import block_at

if TYPE_CHECKING:
    from ragsonde.regression.baseline import Baseline
    from ragsonde.regression.explanation import Explanation


def describe_fall(found: Explanation, baseline: Baseline, *, log_evidence: float) -> dict[str, Any]:
    """A fall as JSON, without its traces and what was new near its beginning."""
    return {
        "since": block_at(found.since),
        "drop": found.drop,
        "drop_lower": found.drop_lower,
        "drop_upper": found.drop_upper,
        "mix_shift": found.mix_shift,
        "baseline_mean": baseline.mean,
        "baseline_kind": baseline.kind.value,
        "mean": found.mean,
        "n": found.traces,
        "evidence_days": count_evidence_days(log_evidence),
        "overdispersion": baseline.overdispersion,
        "worst_strata": [
            {"stratum": one.name, "drop": one.drop, "n": one.traces} for one in found.worst_strata
        ],
        **({} if baseline.floor is None else {"floor": baseline.floor}),
    }
