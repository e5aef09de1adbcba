"""Who is told of what was committed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragsonde_schemas.errors import Cause, ParkReason
    from ragsonde_schemas.evaluation import (
        Admission,
        EvaluationKey,
        EvaluationResult,
        PlannedEvaluation,
    )
    from ragsonde_schemas.judge_call import JudgeCall
    from ragsonde_schemas.ledger import MessageEnd
    from ragsonde_schemas.open_record import (
        ClosingReason,
        FilterCause,
        LateEffect,
    )
    from ragsonde_schemas.trace import Trace


class ScoreSink(Protocol):
    """Is told of what was committed; must not raise."""

    def on_admitted(self, trace: Trace, admission: Admission, planned: Sequence[PlannedEvaluation]) -> None:
        """A delivery's trace was committed (or found to be a duplicate)."""
        ...

    def on_calls(self, key: EvaluationKey, calls: tuple[JudgeCall, ...]) -> None:
        """A run has asked a provider: told once a run, whatever becomes of its result. Calls cost money."""
        ...

    def on_finished(self, trace: Trace, key: EvaluationKey, result: EvaluationResult) -> None:
        """An evaluation was committed in a state other than superseded; its calls are told by `on_calls`."""
        ...

    def on_backfilled(self, trace: Trace, key: EvaluationKey, result: EvaluationResult) -> None:
        """As `on_finished`, of an evaluation that a backfill began: what occurred earlier is not of now."""
        ...

    def on_superseded(self, result: EvaluationResult) -> None:
        """An evaluation was committed as superseded: its outcomes are stored and do not count."""
        ...

    def on_cache_read(self, key: EvaluationKey, *, is_hit: bool) -> None:
        """Verdicts given earlier were looked for."""
        ...

    def on_shed(self, key: EvaluationKey, cause: Cause) -> None:
        """An evaluation was left out because its judge's budget is spent."""
        ...

    def on_withdrawn(self, scores: int) -> None:
        """A record was withdrawn: so many of its scores are stored and do not count any more."""
        ...

    def on_postponed(self, judge: str, cause: Cause) -> None:
        """An evaluation went back to waiting."""
        ...

    def on_received(self, format_name: str) -> None:
        """A message was decoded as `format_name` (`unknown` where it could not be)."""
        ...

    def on_settled(self, end: MessageEnd) -> None:
        """A received message is done; `end` holds for it as a whole."""
        ...

    def on_parked(self, reason: ParkReason) -> None:
        """A message was parked."""
        ...

    def on_parked_again(self, reason: ParkReason) -> None:
        """A message that is parked for this reason already came once more."""
        ...

    def on_filtered(self, cause: FilterCause) -> None:
        """A trace was read and is not stored."""
        ...

    def on_closed(self, reason: ClosingReason) -> None:
        """A trace's spans were taken as complete, its records are committed."""
        ...

    def on_late_spans(self, effect: LateEffect) -> None:
        """A trace got spans after it had been closed, or more than are kept."""
        ...

    def on_mapped_to_nothing(self, field: str) -> None:
        """The mapping or function for a field found null, so that the next in order held."""
        ...

    def on_stage(self, stage: str, seconds: float) -> None:
        """A stage of the path took so long."""
        ...
