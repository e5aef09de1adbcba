"""One call from a trace and a recorded assessment to an outcome."""

from __future__ import annotations

from ragsonde.scoring.outcomes import score
from ragsonde.scoring.table import build_scorers
from ragsonde.scoring.verdicts import read_assessment


def score_one(name, trace, recorded, **options):
    """The outcome of one formula with these options."""
    (scorer,) = build_scorers({name: options})
    return score(scorer, trace, read_assessment(recorded, trace))


def by_number(key, values):
    """`{"1": {key: value}, ...}`."""
    return {str(number): {key: value} for number, value in enumerate(values, start=1)}
