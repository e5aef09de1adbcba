"""The path of one trace, from a message to its committed scores: the whole of it on one screen."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from ragsonde.pipeline.absorbing import absorb
from ragsonde.pipeline.adding import choose_assignment, judge_added, settle_kept
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
    from collections.abc import Callable, Iterable

    from ragsonde.pipeline.assignments import Assignment
    from ragsonde.pipeline.stages import Stages
    from ragsonde.scoring.scorer import Scorer
    from ragsonde_schemas.assessment import Assessment
    from ragsonde_schemas.decoded import Decoded
    from ragsonde_schemas.envelope import Envelope
    from ragsonde_schemas.evaluation import ClaimedEvaluation, EvaluationKey, EvaluationResult
    from ragsonde_schemas.judge_call import JudgeCall
    from ragsonde_schemas.trace import Trace

    Work = tuple[EvaluationKey, Callable[[], None]]
    """An evaluation, and what runs it."""

    RunEvaluation = Callable[[EvaluationKey, Callable[[], None]], None]


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
        run: does the work of one evaluation and guards it, so that a fault in it leaves the trace and the
            other judges alone; without it a fault is raised at once.
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
    works, faults = _admit_records(envelope, decoded, stages, account)
    absorbed = absorb(decoded, stages)
    faults += absorbed.faults
    if decoded.spans:
        account.note(MessageEnd.ABSORBED if absorbed.brought_spans else MessageEnd.DUPLICATE)
    for opened in absorbed.due:
        works += _plan_works(close_sparing_others(opened, stages), stages)
    if faults:
        park(envelope, faults[0], stages)
        account.note(MessageEnd.PARKED)
    account.settle()
    for key, work in works:
        if run is None:
            work()
        else:
            run(key, work)


def _admit_records(
    envelope: Envelope, decoded: Decoded, stages: Stages, account: MessageAccount
) -> tuple[list[Work], list[DecodeError]]:
    """The evaluations still to be run of a message's whole records, and what in it is no trace."""
    receipt = Receipt(received_at=envelope.received_at, published_at=envelope.published_at)
    works: list[Work] = []
    faults = list(decoded.faults)
    # nothing else comes before its first evaluation, so that its lease does not run out on others
    is_alone = len(decoded.records) == 1 and not decoded.spans
    for record in decoded.records:
        try:
            reading = read_traces(record, stages, receipt=receipt)
            for trace in reading.traces:
                is_only = is_alone and len(reading.traces) == 1
                works += _admit_trace(trace, stages, account, is_alone=is_only)
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
    return works, faults


def _admit_trace(trace: Trace, stages: Stages, account: MessageAccount, *, is_alone: bool) -> list[Work]:
    """The evaluations still to be run of a trace; of one alone the first is claimed with the trace itself."""
    deadline = _begin_deadline(stages)
    admission = admit(trace, stages, claims_first=is_alone)
    account.note(_ENDS[admission.kind])
    works = _plan_works(admission.pending, stages)
    if (claimed := admission.claimed) is not None:
        works.insert(0, (claimed.key, partial(run_claimed, claimed, stages, deadline=deadline)))
    return works


def _plan_works(keys: Iterable[EvaluationKey], stages: Stages) -> list[Work]:
    return [(key, partial(evaluate, key, stages)) for key in keys]


def evaluate(key: EvaluationKey, stages: Stages) -> None:
    """Runs one evaluation that is due: claim, judge, score, commit. Done or taken by another worker: nothing.

    Raises:
        DatabaseLostError: call again; the claim looks first.
    """
    with claiming_in_turn(stages.traces, key, stages.isolation) as claimed:
        if claimed is not None:
            run_claimed(claimed, stages, deadline=_begin_deadline(stages))


def _begin_deadline(stages: Stages) -> float:
    return stages.clock.monotonic() + stages.deadline_seconds


def run_claimed(claimed: ClaimedEvaluation, stages: Stages, *, deadline: float) -> None:
    """Runs an evaluation that is ours: judge, score, commit; not a third time after two crashes.

    Raises:
        RepeatedCrashError: it took the process with it twice.
    """
    if claimed.is_expired:
        _finish(claimed, expire_evaluation(claimed.trace, scorers=_choose_scorers(claimed, stages)), stages)
        return
    if claimed.unfinished_starts >= STARTS_BEFORE_FAILING:
        message = "the process died twice while it ran this evaluation"
        fail(claimed, Cause.REPEATED_CRASH, message, stages)
        raise RepeatedCrashError(f"{message}: trace {claimed.key.trace.trace_id}, judge {claimed.key.judge}")
    judge_claimed(claimed, stages, deadline=deadline)


def judge_claimed(claimed: ClaimedEvaluation, stages: Stages, *, deadline: float) -> None:
    """Judges, scores and commits a claimed evaluation, or puts it back to waiting for its judge.

    One whose deadline has passed while Postgres was away is not begun: it is due again at once.
    """
    if stages.clock.monotonic() >= deadline:
        postpone(claimed, stages, until=stages.clock.now(), cause=Cause.DEADLINE_EXCEEDED)
        return
    assignment = choose_assignment(claimed, stages.assignments)
    if assignment is None:
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
            result = _judge(claimed, assignment, deadline=deadline, given=given)
    except (JudgeUnavailableError, JudgePausedError) as outage:
        wait_for_judge(claimed, outage, stages)
    except Exception as error:
        fail(claimed, Cause.INTERNAL_ERROR, f"{type(error).__name__} while judging", stages)
        raise
    else:
        tell_calls(claimed.key, result.calls, stages)
        _finish(claimed, result, stages)


def _judge(
    claimed: ClaimedEvaluation, assignment: Assignment, *, deadline: float, given: Assessment | None
) -> EvaluationResult:
    if claimed.added_scorer is not None:
        return judge_added(claimed, assignment=assignment, deadline=deadline, given=given)
    return judge_and_score(
        claimed.trace,
        scorers=assignment.scorers,
        judge=assignment.judge,
        deadline=deadline,
        given=given,
    )


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
    result = settle_kept(claimed, result)
    with timed("storage", stages):
        # what was judged is not judged again because Postgres was away for a moment
        state = stages.insist(lambda: stages.traces.finish(claimed, result))
    if state is EvaluationState.SUPERSEDED:
        stages.sink.on_superseded(result)
    elif state is not None:
        tell = stages.sink.on_finished if claimed.backfill_id is None else stages.sink.on_backfilled
        tell(claimed.trace, claimed.key, result)
