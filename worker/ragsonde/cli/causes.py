"""What each cause of "not scored" means, for people on the command line."""

from __future__ import annotations

from ragsonde.api.report import TARGET_FAILED
from ragsonde.scoring.meanings import CAUSES

MEANINGS: dict[str, str] = {
    **{cause.value: meaning for cause, meaning in CAUSES.items()},
    TARGET_FAILED: "`ragsonde evaluate --target`: the application raised, or answered nothing usable",
}
"""By cause, in the order of `Cause`; one line each."""
