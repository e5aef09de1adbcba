"""What a scorer makes of a trace and an assessment: a number, or the reason why there is none."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from ragsonde_schemas.errors import Cause
from ragsonde_schemas.value import Value


class Score(Value):
    """A number, and what explains it.

    Attributes:
        scorer: the instance's name.
        version: code version and, after "+", 6 hex of the options that change raw; for precision also the
            basis.
        raw: in 0..1; what series and alerts use.
        value: `raw` times the instance's scale, rounded as scorers' rules say.
        band: key of the band that `raw` lies in.
        passed: `raw >= threshold`, None where the instance has no threshold.
    """

    status: Literal["scored"] = "scored"
    scorer: str
    version: str
    raw: Annotated[float, Field(ge=0, le=1)]
    value: float
    band: str
    passed: bool | None = None
    reason: str
    details: dict[str, Any] = Field(default_factory=dict)


class Unscored(Value):
    """No number: `skipped` (nothing to score) or `error` (there should have been one), with its cause."""

    status: Literal["skipped", "error"]
    scorer: str
    version: str
    cause: Cause
    reason: str
    details: dict[str, Any] = Field(default_factory=dict)


Outcome = Score | Unscored
