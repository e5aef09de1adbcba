"""Faults of what is not a verdict at all."""

from __future__ import annotations

from ragsonde.scoring.options import describe
from ragsonde.scoring.rounding import is_finite_throughout
from ragsonde_schemas.assessment import Fault
from ragsonde_schemas.errors import Cause


def refuse(found: object, *, expected: str) -> Fault:
    """The fault that says what was found and what was expected: not_finite for NaN, else invalid_verdict."""
    if not is_finite_throughout(found):
        return Fault(cause=Cause.NOT_FINITE, message=f"found NaN or infinity, expected {expected}")
    return Fault(cause=Cause.INVALID_VERDICT, message=f"found {describe(found)}, expected {expected}")
