"""The path of one trace, from a message to its committed scores: the whole of it on one screen."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragsonde.assembly.records import gather_records
from ragsonde.decoding.table import decode
from ragsonde.extraction.table import extract
from ragsonde.pipeline.judging import expire_evaluation, fail_evaluation, judge_and_score
from ragsonde.pipeline.planning import plan_evaluations
from ragsonde.pipeline.waiting import choose_next_attempt, has_waited_too_long
from ragsonde_schemas.decoded import Receipt
from ragsonde_schemas.errors import (
    Cause,
    DecodeError,
    JudgePausedError,
    JudgeUnavailableError,
    RepeatedCrashError,
)
from ragsonde_schemas.evaluation import EvaluationState

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from datetime import datetime

    from ragsonde.decoding.limits import DecodingLimits
    from ragsonde.ports import Clock, Insist, Isolation, Judge, ParkingStore, ScoreSink, TraceStore
    from ragsonde.scoring.scorer import Scorer
    from ragsonde_schemas.envelope import Envelope
    from ragsonde_schemas.evaluation import ClaimedEvaluation, EvaluationKey, EvaluationResult
    from ragsonde_schemas.judge_call import JudgeCall
    from ragsonde_schemas.trace import Trace

    RunEvaluation = Callable[[EvaluationKey], None]

STAGES = ("decoding", "extraction", "judging_free", "judging", "storage")
"""What `stage_seconds` tells apart."""

UNKNOWN_FORMAT = "unknown"

STARTS_BEFORE_FAILING = 3
"""The third start of an evaluation that twice took the process with it does not happen."""


@dataclass(frozen=True, kw_only=True)
class Stages:
    """Everything the path needs, wired once at the top.

    Attributes:
        judges: by name, in the order in which they are asked.
        sample_rates: by judge name, 0..1.
        retention_days: older claimed times are not believed.
        deadline_seconds: how long one evaluation may take.
        insist: does something again for as long as the database is away.
        may_raise: a message may raise what is done, not only lower it.
    """

    scorers: tuple[Scorer, ...]
    judges: Mapping[str, Judge]
    sample_rates: Mapping[str, float]
    traces: TraceStore
    parking: ParkingStore
    sink: ScoreSink
    clock: Clock
    isolation: Isolation
    limits: DecodingLimits
    retention_days: int
    deadline_seconds: float
    insist: Insist
    may_raise: bool = False


def ingest(envelope: Envelope, stages: Stages, *, run: RunEvaluation | None = None) -> None:
    """Takes one foreign message to its committed scores; junk is parked with the reason.

    Args:
        envelope: the message.
        stages: the path.
        run: runs one evaluation and guards it, so that a fault in it leaves the trace and the other judges
            alone; without it a fault is raised at once.

    Raises:
        DatabaseLostError: call again with the same message; what is done is found done.
    """
    try:
        traces = read_traces(envelope, stages)
    except DecodeError as error:
        park(envelope, error, stages)
        return
    pending = [key for trace in traces for key in admit(trace, stages)]
    for key in pending:
        if run is None:
            evaluate(key, stages)
        else:
            run(key)


def read_traces(envelope: Envelope, stages: Stages) -> tuple[Trace, ...]:
    """The traces in a message: decoded, assembled, contexts extracted and numbered.

    Raises:
        DecodeError: the message cannot become a trace.
    """
    try:
        with _timed("decoding", stages):
            decoded = decode(envelope, limits=stages.limits)
    except DecodeError:
        stages.sink.on_received(UNKNOWN_FORMAT)
        raise
    stages.sink.on_received(decoded.format)
    with _timed("extraction", stages):
        receipt = Receipt(received_at=envelope.received_at, published_at=envelope.published_at)
        return tuple(
            extract(record, receipt=receipt, retention_days=stages.retention_days)
            for record in gather_records(decoded)
        )


def park(envelope: Envelope, error: DecodeError, stages: Stages) -> None:
    """Stores a message that cannot become a trace, with the reason and the place."""
    is_new = stages.parking.park(envelope, reason=error.reason, message=str(error), where=error.where)
    tell = stages.sink.on_parked if is_new else stages.sink.on_parked_again
    tell(error.reason)


def admit(trace: Trace, stages: Stages) -> tuple[EvaluationKey, ...]:
    """Commits a trace with the free judges' scores; the keys of the evaluations still to be run."""
    with _timed("judging_free", stages):
        planned = plan_evaluations(
            trace,
            scorers=stages.scorers,
            judges=stages.judges,
            sample_rates=stages.sample_rates,
            may_raise=stages.may_raise,
        )
    with _timed("storage", stages):
        admission = stages.traces.admit(trace, planned)
    stages.sink.on_admitted(trace, admission, planned)
    return admission.pending


def evaluate(key: EvaluationKey, stages: Stages) -> None:
    """Runs one evaluation that is due: claim, judge, score, commit. Done or taken by another worker: nothing.

    Raises:
        DatabaseLostError: call again; the claim looks first.
    """
    # counted from before the claim: who waits for his turn must not outlive his lease
    deadline = stages.clock.monotonic() + stages.deadline_seconds
    claimed = stages.traces.claim(key)
    if claimed is None:
        return
    if claimed.is_expired:
        _finish(claimed, expire_evaluation(claimed.trace, scorers=stages.scorers), stages)
        return
    if claimed.unfinished_starts >= STARTS_BEFORE_FAILING:
        fail(claimed, Cause.REPEATED_CRASH, "the process died twice while it ran this evaluation", stages)
        raise RepeatedCrashError(key)
    with stages.isolation.hold(alone=claimed.unfinished_starts > 1):
        judge_claimed(claimed, stages, deadline=deadline)


def judge_claimed(claimed: ClaimedEvaluation, stages: Stages, *, deadline: float) -> None:
    """Judges, scores and commits a claimed evaluation, or puts it back to waiting for its judge.

    One whose deadline has passed while it waited for its turn is not begun: it is due again at once.
    """
    if stages.clock.monotonic() >= deadline:
        _postpone(claimed, stages, until=stages.clock.now(), cause=Cause.DEADLINE_EXCEEDED)
        return
    judge = stages.judges.get(claimed.key.judge)
    if judge is None or judge.fingerprint != claimed.key.fingerprint:
        fail(
            claimed,
            Cause.JUDGE_RETIRED,
            f"judge {claimed.key.judge} is no longer configured as it was",
            stages,
        )
        return
    try:
        with _timed("judging", stages):
            result = judge_and_score(claimed.trace, scorers=stages.scorers, judge=judge, deadline=deadline)
    except (JudgeUnavailableError, JudgePausedError) as outage:
        wait_for_judge(claimed, outage, stages)
    except Exception as error:
        fail(claimed, Cause.INTERNAL_ERROR, f"{type(error).__name__} while judging", stages)
        raise
    else:
        _tell_calls(claimed, result.calls, stages)
        _finish(claimed, result, stages)


def wait_for_judge(
    claimed: ClaimedEvaluation, outage: JudgeUnavailableError | JudgePausedError, stages: Stages
) -> None:
    """Puts an evaluation back to waiting; an outage burns no attempt. After 24 h it ends as an error."""
    _tell_calls(claimed, outage.calls, stages)
    now = stages.clock.now()
    if has_waited_too_long(claimed, now=now):
        fail(claimed, Cause.JUDGE_UNAVAILABLE, str(outage), stages, calls=outage.calls)
        return
    until = choose_next_attempt(claimed, outage, now=now)
    _postpone(claimed, stages, until=until, cause=Cause.JUDGE_UNAVAILABLE, calls=outage.calls)


def fail(
    claimed: ClaimedEvaluation,
    cause: Cause,
    message: str,
    stages: Stages,
    *,
    calls: tuple[JudgeCall, ...] = (),
) -> None:
    """Ends an evaluation as error(cause) for every scorer that is not skipped anyway."""
    result = fail_evaluation(claimed.trace, scorers=stages.scorers, cause=cause, message=message)
    _finish(claimed, result.model_copy(update={"calls_before_outage": calls}), stages)


def _postpone(
    claimed: ClaimedEvaluation,
    stages: Stages,
    *,
    until: datetime,
    cause: Cause,
    calls: tuple[JudgeCall, ...] = (),
) -> None:
    if stages.insist(lambda: stages.traces.postpone(claimed, until=until, cause=cause, calls=calls)):
        stages.sink.on_postponed(claimed.key.judge, cause)


def _tell_calls(claimed: ClaimedEvaluation, calls: tuple[JudgeCall, ...], stages: Stages) -> None:
    """Before anything is written: they were paid whether or not this claim may still end its evaluation."""
    if calls:
        stages.sink.on_calls(claimed.key, calls)


def _finish(claimed: ClaimedEvaluation, result: EvaluationResult, stages: Stages) -> None:
    with _timed("storage", stages):
        # what was judged is not judged again because Postgres was away for a moment
        state = stages.insist(lambda: stages.traces.finish(claimed, result))
    if state is EvaluationState.SUPERSEDED:
        stages.sink.on_superseded(result)
    elif state is not None:
        stages.sink.on_finished(claimed.trace, claimed.key, result)


@contextmanager
def _timed(stage: str, stages: Stages) -> Iterator[None]:
    begun = stages.clock.monotonic()
    try:
        yield
    finally:
        stages.sink.on_stage(stage, stages.clock.monotonic() - begun)
