"""The traces and evaluations of `ports.TraceStore`, in Postgres."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from ragsonde.storage.admission import admit_trace
from ragsonde.storage.late_changes import withdraw_record, write_warning
from ragsonde.storage.partitions import retrying_with_partitions
from ragsonde.storage.retries import Retries
from ragsonde.storage.runs import (
    claim_evaluation,
    finish_evaluation,
    is_suspect,
    postpone_evaluation,
    shed_evaluation,
)
from ragsonde.storage.text_keeping import ALL_TEXTS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import date, datetime

    from sqlalchemy import Engine

    from ragsonde.ports import Clock
    from ragsonde.storage.text_keeping import TextRule
    from ragsonde_schemas.errors import Cause
    from ragsonde_schemas.evaluation import (
        Admission,
        ClaimedEvaluation,
        EvaluationKey,
        EvaluationResult,
        EvaluationState,
        PlannedEvaluation,
    )
    from ragsonde_schemas.judge_call import JudgeCall
    from ragsonde_schemas.trace import Trace, TraceKey

_Result = TypeVar("_Result")


class PostgresTraceStore:
    """Keeps traces in Postgres; safe to use from any number of threads and processes.

    Args:
        engine: of this process.
        clock: whose times are stored and compared; see `runs` for why there is one only.
        lease_seconds: the deadline of an evaluation and 30 s more; so long a new evaluation is also left to
            the task that admitted it.
        max_revisions: what comes after so many is not stored.
        retention_days: a missing partition is made for days up to this age.
        texts: which stay when nothing waits for them.
        retries: for what Postgres gives up on; all methods raise GivenUpError when these did not help.
    """

    def __init__(
        self,
        engine: Engine,
        *,
        clock: Clock,
        lease_seconds: int = 150,
        max_revisions: int = 3,
        retention_days: int = 90,
        texts: TextRule = ALL_TEXTS,
        retries: Retries | None = None,
    ) -> None:
        self._engine = engine
        self._clock = clock
        self._lease_seconds = lease_seconds
        self._max_revisions = max_revisions
        self._retention_days = retention_days
        self._texts = texts
        self._retries = retries or Retries()

    def admit(
        self,
        trace: Trace,
        planned: Sequence[PlannedEvaluation],
        *,
        is_newest: bool = False,
        claims_first: bool = False,
    ) -> Admission:
        """What became of the trace; it and its evaluations are stored in one transaction unless a duplicate.

        With `claims_first` the first that waits is claimed in it, under the lease that it would have.

        Raises:
            DatabaseLostError: nothing was stored, or it is not known; call again.
            ValueError: an evaluation is planned in a state that none is born in, or the day is out of range.
        """
        now = self._clock.now()

        def attempt() -> Admission:
            return admit_trace(
                self._engine,
                trace,
                planned,
                is_newest=is_newest,
                claims_first=claims_first,
                now=now,
                lease_seconds=self._lease_seconds,
                max_revisions=self._max_revisions,
                texts=self._texts,
            )

        return self._run(attempt, day=trace.key.day, today=now.date())

    def claim(self, key: EvaluationKey, *, spares_suspects: bool = False) -> ClaimedEvaluation | None:
        """The evaluation, now running under a lease, or None when it is not due or somebody else has it.

        With `spares_suspects` None also where an earlier run of it never ended.

        Raises:
            DatabaseLostError: it may be claimed or not; the sweeper finds it when the lease is over.
        """
        now = self._clock.now()
        return self._retries.run(
            lambda: claim_evaluation(
                self._engine,
                key,
                now=now,
                lease_seconds=self._lease_seconds,
                spares_suspects=spares_suspects,
                texts=self._texts,
            )
        )

    def is_suspect(self, key: EvaluationKey) -> bool:
        """True when it is due, and an earlier run of it never ended: it runs alone.

        Raises:
            DatabaseLostError: call again.
        """
        now = self._clock.now()
        return self._retries.run(lambda: is_suspect(self._engine, key, now=now))

    def finish(self, claimed: ClaimedEvaluation, result: EvaluationResult) -> EvaluationState | None:
        """The state it ended in, or None when this claim does not run it any more and nothing was written.

        Raises:
            DatabaseLostError: nothing was written, or it is not known; call again.
            ValueError: no run ends in the result's state.
        """
        now = self._clock.now()
        calls = self._texts.reduce_calls(result.calls_before_outage)
        stored = result.model_copy(update={"calls_before_outage": calls})

        def attempt() -> EvaluationState | None:
            return finish_evaluation(self._engine, claimed, stored, now=now, texts=self._texts)

        return self._run(attempt, day=claimed.key.trace.day, today=now.date())

    def postpone(
        self,
        claimed: ClaimedEvaluation,
        *,
        until: datetime,
        cause: Cause,
        calls: tuple[JudgeCall, ...] = (),
    ) -> bool:
        """True when it waits again, due at `until`; the calls of this run are kept whenever it was ours.

        Raises:
            DatabaseLostError: it may be postponed or not; the sweeper finds it when the lease is over.
        """
        now = self._clock.now()
        kept = self._texts.reduce_calls(calls)

        def attempt() -> bool:
            return postpone_evaluation(self._engine, claimed, now=now, until=until, cause=cause, calls=kept)

        return self._run(attempt, day=claimed.key.trace.day, today=now.date())

    def shed(self, claimed: ClaimedEvaluation, *, cause: Cause) -> bool:
        """True when it is shed; False when it was superseded, or is not ours any more.

        Raises:
            DatabaseLostError: it may be shed or not; the sweeper finds it when the lease is over.
        """
        now = self._clock.now()
        return self._retries.run(
            lambda: shed_evaluation(self._engine, claimed, now=now, cause=cause, texts=self._texts)
        )

    def warn(self, key: TraceKey, *, revision: int, subject: str, text: str) -> None:
        """Adds a warning to a stored revision, in place of an earlier one of the same subject.

        Raises:
            DatabaseLostError: it may be written or not; call again.
        """
        self._retries.run(
            lambda: write_warning(self._engine, key, revision=revision, subject=subject, text=text)
        )

    def withdraw(self, key: TraceKey) -> int | None:
        """How many score rows a record had that count no more; None where nothing of it counted.

        Raises:
            DatabaseLostError: it may be withdrawn or not; call again.
        """
        now = self._clock.now()
        return self._retries.run(lambda: withdraw_record(self._engine, key, now=now, texts=self._texts))

    def _run(self, attempt: Callable[[], _Result], *, day: date, today: date) -> _Result:
        return self._retries.run(
            lambda: retrying_with_partitions(
                self._engine, attempt, day=day, today=today, retention_days=self._retention_days
            )
        )
