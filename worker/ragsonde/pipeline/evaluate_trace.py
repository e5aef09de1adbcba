"""The path of one trace, from a message to its committed scores: the whole of it on one screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragsonde.pipeline.absorbing import absorb
from ragsonde.pipeline.admitting import admit, describe_fault, park
from ragsonde.pipeline.asking import RETIRED_DELAY, find_given, may_ask, postpone, tell_calls
from ragsonde.pipeline.closing import close_sparing_others
from ragsonde.pipeline.judging import (
    STARTS_BEFORE_FAILING,
    expire_evaluation,
    fail_evaluation,
    judge_and_score,
)
from ragsonde.pipeline.message_account import MessageAccount
from ragsonde.pipeline.reading import read_message, read_traces
from ragsonde.pipeline.stages import timed
from ragsonde.pipeline.turns import claiming_in_turn
from ragsonde.pipeline.waiting import choose_next_attempt, has_waited_too_long
from ragsonde_schemas.decoded import Receipt
from ragsonde_schemas.errors import (
    Cause,
    DatabaseLostError,
    DecodeError,
    JudgePausedError,
    JudgeUnavailableError,
    RepeatedCrashError,
)
from ragsonde_schemas.evaluation import EvaluationState
from ragsonde_schemas.ledger import MessageEnd

if TYPE_CHECKING:
    from collections.abc import Callable

    from ragsonde.pipeline.stages import Stages
    from ragsonde.scoring.scorer import Scorer
    from ragsonde_schemas.decoded import Decoded
    from ragsonde_schemas.envelope import Envelope
    from ragsonde_schemas.evaluation import ClaimedEvaluation, EvaluationKey, EvaluationResult
    from ragsonde_schemas.judge_call import JudgeCall

    RunEvaluation = Callable[[EvaluationKey], None]


_ENDS = {
    "new": MessageEnd.ACCEPTED,
    "revision": MessageEnd.ACCEPTED,
    "duplicate": MessageEnd.DUPLICATE,
    "over_limit": MessageEnd.DUPLICATE,
    "forgotten": MessageEnd.FILTERED,
}
"""What an admission says of its message."""


def ingest(
    envelope: Envelope,
    stages: Stages,
    *,
    run: RunEvaluation | None = None,
    account: MessageAccount | None = None,
) -> None:
    """Takes one foreign message to its committed scores; junk is parked with the reason.

    Args:
        envelope: the message.
        stages: the path.
        run: runs one evaluation and guards it, so that a fault in it leaves the trace and the other judges
            alone; without it a fault is raised at once.
        account: of this delivery, the same one in every try.

    Raises:
        DatabaseLostError: call again with the same message; what is done is found done.
    """
    account = account or MessageAccount(stages.sink)
    try:
        decoded = read_message(envelope, stages, account)
    except DecodeError as error:
        park(envelope, error, stages)
        account.settle(otherwise=MessageEnd.PARKED)
        return
    pending, faults = _admit_records(envelope, decoded, stages, account)
    absorbed = absorb(decoded, stages)
    faults += absorbed.faults
    if decoded.spans:
        account.note(MessageEnd.ABSORBED if absorbed.brought_spans else MessageEnd.DUPLICATE)
    for opened in absorbed.due:
        pending += close_sparing_others(opened, stages)
    if faults:
        park(envelope, faults[0], stages)
        account.note(MessageEnd.PARKED)
    account.settle()
    for key in pending:
        if run is None:
            evaluate(key, stages)
        else:
            run(key)


def _admit_records(
    envelope: Envelope, decoded: Decoded, stages: Stages, account: MessageAccount
) -> tuple[list[EvaluationKey], list[DecodeError]]:
    """Keys of the evaluations still to be run of a message's whole records, and what in it is no trace."""
    receipt = Receipt(received_at=envelope.received_at, published_at=envelope.published_at)
    pending: list[EvaluationKey] = []
    faults = list(decoded.faults)
    for record in decoded.records:
        try:
            reading = read_traces(record, stages, receipt=receipt)
            for trace in reading.traces:
                admission = admit(trace, stages)
                account.note(_ENDS[admission.kind])
                pending += admission.pending
        except DatabaseLostError:
            raise
        except DecodeError as error:
            faults.append(error)
        except Exception as error:  # noqa: BLE001  # of one record: the others of its message go on
            stages.on_fault(error, envelope.message_key)
            faults.append(describe_fault(error, what="reading one of its records", where="body"))
        else:
            if reading.filtered is not None:
                stages.sink.on_filtered(reading.filtered)
                account.note(MessageEnd.FILTERED)
    return pending, faults


def evaluate(key: EvaluationKey, stages: Stages) -> None:
    """Runs one evaluation that is due: claim, judge, score, commit. Done or taken by another worker: nothing.

    Raises:
        DatabaseLostError: call again; the claim looks first.
    """
    with claiming_in_turn(stages.traces, key, stages.isolation) as claimed:
        if claimed is not None:
            _run_claimed(claimed, stages)


def _run_claimed(claimed: ClaimedEvaluation, stages: Stages) -> None:
    if claimed.is_expired:
        _finish(claimed, expire_evaluation(claimed.trace, scorers=_choose_scorers(claimed, stages)), stages)
        return
    if claimed.unfinished_starts >= STARTS_BEFORE_FAILING:
        message = "the process died twice while it ran this evaluation"
        fail(claimed, Cause.REPEATED_CRASH, message, stages)
        raise RepeatedCrashError(f"{message}: trace {claimed.key.trace.trace_id}, judge {claimed.key.judge}")
    judge_claimed(claimed, stages, deadline=stages.clock.monotonic() + stages.deadline_seconds)


def judge_claimed(claimed: ClaimedEvaluation, stages: Stages, *, deadline: float) -> None:
    """Judges, scores and commits a claimed evaluation, or puts it back to waiting for its judge."""
    assignment = stages.assignments.get(claimed.key.judge)
    if assignment is None or assignment.judge.fingerprint != claimed.key.fingerprint:
        if claimed.backfill_id is not None:
            # workers may have the new settings one after the other; the monitor pauses what no settings name
            until = stages.clock.now() + RETIRED_DELAY
            postpone(claimed, stages, until=until, cause=Cause.JUDGE_RETIRED)
            return
        fail(
            claimed,
            Cause.JUDGE_RETIRED,
            f"judge {claimed.key.judge} is no longer configured as it was",
            stages,
        )
        return
    try:
        given = find_given(claimed, assignment, stages)
        if given is None and not may_ask(claimed, assignment, stages):
            return
        with timed("judging", stages):
            result = judge_and_score(
                claimed.trace,
                scorers=assignment.scorers,
                judge=assignment.judge,
                deadline=deadline,
                given=given,
            )
    except (JudgeUnavailableError, JudgePausedError) as outage:
        wait_for_judge(claimed, outage, stages)
    except Exception as error:
        fail(claimed, Cause.INTERNAL_ERROR, f"{type(error).__name__} while judging", stages)
        raise
    else:
        tell_calls(claimed.key, result.calls, stages)
        _finish(claimed, result, stages)


def wait_for_judge(
    claimed: ClaimedEvaluation, outage: JudgeUnavailableError | JudgePausedError, stages: Stages
) -> None:
    """Puts an evaluation back to waiting; an outage burns no attempt. After 24 h it ends as an error."""
    tell_calls(claimed.key, outage.calls, stages)
    now = stages.clock.now()
    if has_waited_too_long(claimed, now=now):
        fail(claimed, Cause.JUDGE_UNAVAILABLE, str(outage), stages, calls=outage.calls)
        return
    until = choose_next_attempt(claimed, outage, now=now)
    postpone(claimed, stages, until=until, cause=Cause.JUDGE_UNAVAILABLE, calls=outage.calls)


def fail(
    claimed: ClaimedEvaluation,
    cause: Cause,
    message: str,
    stages: Stages,
    *,
    calls: tuple[JudgeCall, ...] = (),
) -> None:
    """Ends an evaluation as error(cause) for every scorer that is not skipped anyway."""
    scorers = _choose_scorers(claimed, stages)
    result = fail_evaluation(claimed.trace, scorers=scorers, cause=cause, message=message)
    _finish(claimed, result.model_copy(update={"calls_before_outage": calls}), stages)


def _choose_scorers(claimed: ClaimedEvaluation, stages: Stages) -> tuple[Scorer, ...]:
    """Those of its judge; of one that is no longer configured, all."""
    assignment = stages.assignments.get(claimed.key.judge)
    return stages.scorers if assignment is None else assignment.scorers


def _finish(claimed: ClaimedEvaluation, result: EvaluationResult, stages: Stages) -> None:
    with timed("storage", stages):
        # what was judged is not judged again because Postgres was away for a moment
        state = stages.insist(lambda: stages.traces.finish(claimed, result))
    if state is EvaluationState.SUPERSEDED:
        stages.sink.on_superseded(result)
    elif state is not None:
        tell = stages.sink.on_finished if claimed.backfill_id is None else stages.sink.on_backfilled
        tell(claimed.trace, claimed.key, result)
