"""Puts what was committed into series; whatever goes wrong here stays here."""

from __future__ import annotations

import logging
from functools import wraps
from typing import TYPE_CHECKING, Concatenate, ParamSpec

from ragsonde.exposition.closed_labels import NO_CAUSE, OK
from ragsonde.exposition.context_tokens import count_tokens
from ragsonde.exposition.labels import exemplar_of
from ragsonde.exposition.series import (
    ASSESSED,
    BACKFILLED,
    CONTEXT_TOKENS,
    DUPLICATES,
    EMPTY_RETRIEVAL,
    END_TO_END,
    EVALUATIONS,
    EXTRACTION,
    INSUFFICIENT,
    JUDGE_CACHE,
    JUDGE_CALLS,
    JUDGE_CIRCUIT_OPEN,
    JUDGE_COST,
    JUDGE_COST_UNKNOWN,
    JUDGE_REPAIRS,
    JUDGE_SECONDS,
    JUDGE_TOKENS,
    LAST_COMMITTED,
    LATE_SPANS,
    MAPPING_FOUND_NOTHING,
    MESSAGES_RECEIVED,
    MESSAGES_SETTLED,
    NO_CONTEXT,
    OCCURRED_AT_GUESSED,
    PARKED,
    SCORE,
    SCORE_SQUARES,
    SCORES_BELOW_THRESHOLD,
    SCORES_SUPERSEDED,
    SINK_FAILURES,
    STAGE_SECONDS,
    SUSPECTED_INJECTION,
    TRACES,
    TRACES_CLOSED,
    TRACES_FILTERED,
    UNSCORED,
)
from ragsonde_schemas.errors import Cause, ParkReason
from ragsonde_schemas.evaluation import EvaluationState
from ragsonde_schemas.open_record import FilterCause
from ragsonde_schemas.score import Score
from ragsonde_schemas.stream_labels import judge_label, scorer_label

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ragsonde.exposition.registry import Series
    from ragsonde.ports import Clock
    from ragsonde_schemas.assessment import Assessment
    from ragsonde_schemas.evaluation import Admission, EvaluationKey, EvaluationResult, PlannedEvaluation
    from ragsonde_schemas.judge_call import JudgeCall
    from ragsonde_schemas.ledger import MessageEnd
    from ragsonde_schemas.open_record import ClosingReason, LateEffect
    from ragsonde_schemas.trace import Trace

logger = logging.getLogger(__name__)

SCORE_DIGITS = 6
"""A raw score is a sum of floats: rounded, equal verdicts fall on the same side of a bucket's edge."""

_EMPTY_CAUSES = frozenset({Cause.EMPTY_RETRIEVAL, Cause.FILTERED_EMPTY})
_UNKNOWN_CAUSES = frozenset({Cause.NO_CONTEXT, Cause.CONTEXT_TEXT_MISSING})
_CALL_OUTCOMES = frozenset({OK, *Cause})

Arguments = ParamSpec("Arguments")


def _never_raises(
    tell: Callable[Concatenate[PrometheusSink, Arguments], None],
) -> Callable[Concatenate[PrometheusSink, Arguments], None]:
    """The method, but a failure is counted and logged: telling must not undo what is committed."""

    @wraps(tell)
    def tell_safely(sink: PrometheusSink, /, *args: Arguments.args, **kwargs: Arguments.kwargs) -> None:
        try:
            tell(sink, *args, **kwargs)
        except Exception:
            sink.series.add(SINK_FAILURES)
            logger.exception("score_sink_failed", extra={"event_of": tell.__name__})

    return tell_safely


class PrometheusSink:
    """The ScoreSink that feeds the series of a worker.

    Args:
        series: built over WORKER_SERIES.
        clock: tells the time of a commit.
        fingerprints: of the configured judges, by name; a postponement names its judge only.
    """

    def __init__(self, series: Series, *, clock: Clock, fingerprints: Mapping[str, str]) -> None:
        self.series = series
        self._clock = clock
        self._judges = {name: judge_label(name, fingerprint) for name, fingerprint in fingerprints.items()}

    @_never_raises
    def on_admitted(self, trace: Trace, admission: Admission, planned: Sequence[PlannedEvaluation]) -> None:
        """Counts a stored trace with the evaluations it was born with, a duplicate, or an erased one."""
        if admission.kind == FilterCause.FORGOTTEN:
            self.series.add(TRACES_FILTERED, cause=FilterCause.FORGOTTEN)
            return
        if not admission.is_stored:
            self.series.add(DUPLICATES, kind=admission.kind)
            return
        if admission.superseded:
            self.series.add(SCORES_SUPERSEDED, admission.superseded)
        if any(born.backfill_id is not None for born in planned):
            self._tell_taken_in(planned)
            return
        self._tell_stored(trace, planned)

    def _tell_taken_in(self, planned: Sequence[PlannedEvaluation]) -> None:
        """Of a file: it is not of now, so no series of live traces may show it."""
        for born in planned:
            if born.result is not None:
                judge = judge_label(born.judge, born.fingerprint)
                self.series.add(BACKFILLED, judge=judge, state=born.result.state)

    def _tell_stored(self, trace: Trace, planned: Sequence[PlannedEvaluation]) -> None:
        place, missing = _place_of(trace), trace.missing_contexts
        self.series.add(TRACES, **place)
        # counted by 0, too: where nothing happened a share is 0, and not absent
        self.series.add(EMPTY_RETRIEVAL, float(missing in _EMPTY_CAUSES), **place)
        self.series.add(NO_CONTEXT, float(missing in _UNKNOWN_CAUSES), **place)
        self.series.add(SUSPECTED_INJECTION, float(bool(trace.extraction.suspected_injection)), **place)
        self.series.add(OCCURRED_AT_GUESSED, float(trace.occurred_at_guessed))
        for field, evidence in trace.extraction.fields.items():
            self.series.add(
                EXTRACTION, field=field, rule=evidence.rule, app=trace.app, environment=trace.environment
            )
        for born in planned:
            if born.result is None:
                judge = judge_label(born.judge, born.fingerprint)
                self.series.add(EVALUATIONS, judge=judge, state=born.state, cause=NO_CAUSE)
            else:
                self._tell_result(trace, born.judge, born.fingerprint, born.result)
        self._stamp()

    @_never_raises
    def on_finished(self, trace: Trace, key: EvaluationKey, result: EvaluationResult) -> None:
        """Counts an evaluation that was run after its trace was stored."""
        self._tell_result(trace, key.judge, key.fingerprint, result)
        self._stamp()

    @_never_raises
    def on_backfilled(self, trace: Trace, key: EvaluationKey, result: EvaluationResult) -> None:  # noqa: ARG002
        """Counts an evaluation of a backfill; its scores are observed nowhere, as they are not of now."""
        self.series.add(BACKFILLED, judge=judge_label(key.judge, key.fingerprint), state=result.state)

    @_never_raises
    def on_superseded(self, result: EvaluationResult) -> None:
        """Counts the score rows of an evaluation that ended after a newer revision had come."""
        if result.outcomes:
            self.series.add(SCORES_SUPERSEDED, len(result.outcomes))
        self._stamp()

    @_never_raises
    def on_withdrawn(self, scores: int) -> None:
        """Counts the score rows of a record that was withdrawn."""
        if scores:
            self.series.add(SCORES_SUPERSEDED, scores)

    @_never_raises
    def on_calls(self, key: EvaluationKey, calls: tuple[JudgeCall, ...]) -> None:
        """Counts the calls of a run, with their tokens and their cost."""
        judge = judge_label(key.judge, key.fingerprint)
        for call in calls:
            self._tell_call(judge, call)

    @_never_raises
    def on_cache_read(self, key: EvaluationKey, *, is_hit: bool) -> None:
        """Counts a look for verdicts given earlier."""
        judge = judge_label(key.judge, key.fingerprint)
        self.series.add(JUDGE_CACHE, judge=judge, result="hit" if is_hit else "miss")

    @_never_raises
    def on_shed(self, key: EvaluationKey, cause: Cause) -> None:
        """Counts an evaluation that was left out."""
        judge = judge_label(key.judge, key.fingerprint)
        self.series.add(EVALUATIONS, judge=judge, state=EvaluationState.SHED, cause=cause)
        self._stamp()

    @_never_raises
    def on_circuit(self, judge: str, model: str, *, is_open: bool) -> None:
        """Shows whether this process leaves a judge's model alone."""
        self.series.set(JUDGE_CIRCUIT_OPEN, float(is_open), judge=self._judges.get(judge, judge), model=model)

    @_never_raises
    def on_postponed(self, judge: str, cause: Cause) -> None:
        """Counts an evaluation that went back to waiting."""
        label = self._judges.get(judge, judge)
        self.series.add(EVALUATIONS, judge=label, state=EvaluationState.WAITING, cause=cause)

    @_never_raises
    def on_received(self, format_name: str) -> None:
        """Counts a message."""
        self.series.add(MESSAGES_RECEIVED, format=format_name)

    @_never_raises
    def on_settled(self, end: MessageEnd) -> None:
        """Counts a message that is done."""
        self.series.add(MESSAGES_SETTLED, outcome=end)

    @_never_raises
    def on_parked(self, reason: ParkReason) -> None:
        """Counts a parked message."""
        self.series.add(PARKED, reason=reason)

    @_never_raises
    def on_parked_again(self, reason: ParkReason) -> None:  # noqa: ARG002 - its reason is counted already
        """Counts a message that is parked already."""
        self.series.add(DUPLICATES, kind="parked")

    @_never_raises
    def on_filtered(self, cause: FilterCause) -> None:
        """Counts a trace that was read and not stored."""
        self.series.add(TRACES_FILTERED, cause=cause)

    @_never_raises
    def on_closed(self, reason: ClosingReason) -> None:
        """Counts a trace whose spans were taken as complete."""
        self.series.add(TRACES_CLOSED, reason=reason)

    @_never_raises
    def on_late_spans(self, effect: LateEffect) -> None:
        """Counts a trace that got spans after it had been closed."""
        self.series.add(LATE_SPANS, effect=effect)

    @_never_raises
    def on_mapped_to_nothing(self, field: str) -> None:
        """Counts a field whose mapping found null."""
        self.series.add(MAPPING_FOUND_NOTHING, field=field)

    @_never_raises
    def on_stage(self, stage: str, seconds: float) -> None:
        """Observes the duration of a stage."""
        self.series.observe(STAGE_SECONDS, max(0.0, seconds), stage=stage)

    def _tell_result(self, trace: Trace, name: str, fingerprint: str, result: EvaluationResult) -> None:
        """An evaluation stays its judge's, as when it was waiting; its scores are of what answered."""
        own = judge_label(name, fingerprint)
        self.series.add(EVALUATIONS, judge=own, state=result.state, cause=result.cause or NO_CAUSE)
        judge = _name_stream(name, fingerprint, result)
        if result.state is EvaluationState.SCORED:
            seconds = (self._clock.now() - trace.occurred_at).total_seconds()
            # A producer's clock may be ahead of ours.
            self.series.observe(END_TO_END, max(0.0, seconds))
        for outcome in result.outcomes:
            scorer = scorer_label(outcome.scorer, outcome.version)
            if isinstance(outcome, Score):
                self._tell_score(trace, judge, scorer, outcome)
            else:
                self.series.add(
                    UNSCORED, scorer=scorer, judge=judge, status=outcome.status, cause=outcome.cause
                )
        if result.assessment is not None:
            self._tell_assessment(trace, judge, result.assessment)

    def _tell_assessment(self, trace: Trace, judge: str, assessment: Assessment) -> None:
        place = _place_of(trace)
        if assessment.insufficient is not None:
            self.series.add(ASSESSED, judge=judge, **place)
            self.series.add(INSUFFICIENT, float(assessment.insufficient), judge=judge, **place)
        for relevant, tokens in count_tokens(trace, assessment).items():
            self.series.add(CONTEXT_TOKENS, tokens, judge=judge, relevant=relevant, **place)

    def _tell_score(self, trace: Trace, judge: str, scorer: str, score: Score) -> None:
        raw = round(score.raw, SCORE_DIGITS)
        labels = {"scorer": scorer, "judge": judge, **_place_of(trace)}
        self.series.observe(SCORE, raw, exemplar=exemplar_of(trace.trace_id), **labels)
        self.series.add(SCORE_SQUARES, raw * raw, **labels)
        if score.passed is not None:
            self.series.add(SCORES_BELOW_THRESHOLD, 0.0 if score.passed else 1.0, **labels)

    def _tell_call(self, judge: str, call: JudgeCall) -> None:
        outcome = call.outcome if call.outcome in _CALL_OUTCOMES else Cause.INVALID_REPLY
        self.series.add(JUDGE_CALLS, judge=judge, model=call.model, outcome=outcome)
        self.series.observe(JUDGE_SECONDS, max(0.0, call.seconds), judge=judge)
        self.series.add(JUDGE_TOKENS, call.tokens_in or 0, judge=judge, direction="in")
        self.series.add(JUDGE_TOKENS, call.tokens_out or 0, judge=judge, direction="out")
        if call.cost_usd is not None:
            self.series.add(JUDGE_COST, call.cost_usd, judge=judge)
        elif call.is_answered:
            self.series.add(JUDGE_COST_UNKNOWN, judge=judge)
        if call.purpose == "repair":
            self.series.add(JUDGE_REPAIRS, judge=judge)

    def _stamp(self) -> None:
        self.series.set(LAST_COMMITTED, self._clock.now().timestamp())


def _name_stream(judge: str, fingerprint: str, result: EvaluationResult) -> str:
    """The label of what answered: of a fallback, and of each model that answers under one fingerprint."""
    given = result.assessment
    if given is None:
        return judge_label(judge, fingerprint)
    return judge_label(judge, given.answered_fingerprint or fingerprint, given.judge_epoch)


def _place_of(trace: Trace) -> dict[str, str]:
    return {"app": trace.app, "environment": trace.environment, "release": trace.release}
