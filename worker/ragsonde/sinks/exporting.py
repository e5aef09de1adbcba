"""The score sink that also sends results out; what it cannot send never disturbs an evaluation."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from ragsonde.sinks.events import fill_link, list_events
from ragsonde_schemas.evaluation import EvaluationKey

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragsonde.ports import Clock, ScoreSink
    from ragsonde.sinks.outbox import Outbox
    from ragsonde_schemas.errors import Cause, ParkReason
    from ragsonde_schemas.evaluation import Admission, EvaluationResult, PlannedEvaluation
    from ragsonde_schemas.judge_call import JudgeCall
    from ragsonde_schemas.ledger import MessageEnd
    from ragsonde_schemas.open_record import ClosingReason, FilterCause, LateEffect
    from ragsonde_schemas.trace import Trace

logger = logging.getLogger(__name__)


class Export:
    """One outbox, and how its events link to their traces."""

    def __init__(self, outbox: Outbox, *, link: str | None = None) -> None:
        self.outbox = outbox
        self._link = link

    def send(self, trace: Trace, key: EvaluationKey, result: EvaluationResult, *, clock: Clock) -> None:
        """Puts a committed result's events into the outbox."""
        events = list_events(trace, key, result, now=clock.now())
        link = self._link
        if link is not None:
            events = tuple(one.model_copy(update={"link": fill_link(link, one)}) for one in events)
        self.outbox.put(events)


class ExportingSink:
    """Tells another sink everything, and its exports what was committed and counts.

    Args:
        inner: feeds the series.
        exports: where results are sent.
        clock: tells the time of a commit.
    """

    def __init__(self, inner: ScoreSink, exports: Sequence[Export], *, clock: Clock) -> None:
        self._inner = inner
        self._exports = tuple(exports)
        self._clock = clock

    def on_admitted(self, trace: Trace, admission: Admission, planned: Sequence[PlannedEvaluation]) -> None:
        """Sends the results that a stored trace was born with."""
        self._inner.on_admitted(trace, admission, planned)
        if admission.is_stored:
            for born in planned:
                if born.result is not None:
                    key = EvaluationKey(
                        trace=admission.key,
                        revision=admission.revision,
                        judge=born.judge,
                        fingerprint=born.fingerprint,
                    )
                    self._send(trace, key, born.result)

    def on_finished(self, trace: Trace, key: EvaluationKey, result: EvaluationResult) -> None:
        """Sends the result of an evaluation that was run after its trace was stored."""
        self._inner.on_finished(trace, key, result)
        self._send(trace, key, result)

    def on_backfilled(self, trace: Trace, key: EvaluationKey, result: EvaluationResult) -> None:
        """Sends the result of a backfill's evaluation: it stands beside its trace like any other."""
        self._inner.on_backfilled(trace, key, result)
        self._send(trace, key, result)

    def _send(self, trace: Trace, key: EvaluationKey, result: EvaluationResult) -> None:
        for export in self._exports:
            try:
                export.send(trace, key, result, clock=self._clock)
            except Exception:
                logger.exception("score_sink_failed", extra={"sink": export.outbox.name})

    def on_calls(self, key: EvaluationKey, calls: tuple[JudgeCall, ...]) -> None:
        """Passes it on."""
        self._inner.on_calls(key, calls)

    def on_superseded(self, result: EvaluationResult) -> None:
        """Passes it on: it does not count, so it is not sent."""
        self._inner.on_superseded(result)

    def on_cache_read(self, key: EvaluationKey, *, is_hit: bool) -> None:
        """Passes it on."""
        self._inner.on_cache_read(key, is_hit=is_hit)

    def on_shed(self, key: EvaluationKey, cause: Cause) -> None:
        """Passes it on."""
        self._inner.on_shed(key, cause)

    def on_withdrawn(self, scores: int) -> None:
        """Passes it on."""
        self._inner.on_withdrawn(scores)

    def on_postponed(self, judge: str, cause: Cause) -> None:
        """Passes it on."""
        self._inner.on_postponed(judge, cause)

    def on_received(self, format_name: str) -> None:
        """Passes it on."""
        self._inner.on_received(format_name)

    def on_settled(self, end: MessageEnd) -> None:
        """Passes it on."""
        self._inner.on_settled(end)

    def on_parked(self, reason: ParkReason) -> None:
        """Passes it on."""
        self._inner.on_parked(reason)

    def on_parked_again(self, reason: ParkReason) -> None:
        """Passes it on."""
        self._inner.on_parked_again(reason)

    def on_filtered(self, cause: FilterCause) -> None:
        """Passes it on."""
        self._inner.on_filtered(cause)

    def on_closed(self, reason: ClosingReason) -> None:
        """Passes it on."""
        self._inner.on_closed(reason)

    def on_late_spans(self, effect: LateEffect) -> None:
        """Passes it on."""
        self._inner.on_late_spans(effect)

    def on_mapped_to_nothing(self, field: str) -> None:
        """Passes it on."""
        self._inner.on_mapped_to_nothing(field)

    def on_stage(self, stage: str, seconds: float) -> None:
        """Passes it on."""
        self._inner.on_stage(stage, seconds)
