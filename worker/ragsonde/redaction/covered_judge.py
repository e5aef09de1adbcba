"""A judge whose words are redacted before anybody sees them."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from ragsonde.redaction.assessments import redact_assessment, redact_calls
from ragsonde_schemas.errors import JudgePausedError, JudgeUnavailableError

if TYPE_CHECKING:
    from ragsonde.ports import Judge, PaidJudge, Redaction
    from ragsonde_schemas.assessment import Aspect, Assessment
    from ragsonde_schemas.spending import WorstCase
    from ragsonde_schemas.trace import Trace


class CoveredJudge:
    """Another judge, under its name and fingerprint; what it is shown is redacted already.

    Args:
        inner: who judges.
        redaction: of what it says.
    """

    def __init__(self, inner: Judge, redaction: Redaction) -> None:
        self._inner = inner
        self._redaction = redaction
        self.name = inner.name
        self.fingerprint = inner.fingerprint
        self.is_free = inner.is_free

    def estimate(self, trace: Trace, aspects: frozenset[Aspect]) -> WorstCase:
        """As the other judge estimates."""
        return cast("PaidJudge", self._inner).estimate(trace, aspects)

    def assess(
        self, trace: Trace, aspects: frozenset[Aspect], *, deadline: float | None = None
    ) -> Assessment:
        """The other judge's verdicts, its reasons and raw replies redacted.

        Raises:
            JudgeUnavailableError, JudgePausedError: as the other judge, its words redacted.
        """
        try:
            assessment = self._inner.assess(trace, aspects, deadline=deadline)
        except (JudgeUnavailableError, JudgePausedError) as outage:
            outage.calls = redact_calls(outage.calls, self._redaction)
            outage.args = (self._redaction.cover(str(outage)),)
            raise
        return redact_assessment(assessment, self._redaction)
