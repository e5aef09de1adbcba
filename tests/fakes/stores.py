"""The stores in memory: what the ports promise, without SQL. The contract suite runs on them too."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING

from ragsonde_schemas.errors import Cause
from ragsonde_schemas.evaluation import (
    Admission,
    ClaimedEvaluation,
    EvaluationKey,
    EvaluationResult,
    EvaluationState,
    PlannedEvaluation,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragsonde.ports import Clock
    from ragsonde_schemas.assessment import Assessment
    from ragsonde_schemas.envelope import Envelope
    from ragsonde_schemas.errors import ParkReason
    from ragsonde_schemas.judge_call import JudgeCall
    from ragsonde_schemas.trace import Trace, TraceKey

QUEUED_SECONDS = 150
_UNFINISHED = {EvaluationState.WAITING, EvaluationState.RUNNING}
_NEVER_BORN = {EvaluationState.RUNNING, EvaluationState.SUPERSEDED}
_NOT_ITS_OWN = {Cause.JUDGE_UNAVAILABLE, Cause.JUDGE_RETIRED, Cause.CONTENT_EXPIRED}
_ENDS = {EvaluationState.SCORED, EvaluationState.NOT_EVALUABLE, EvaluationState.FAILED}


@dataclass
class StoredEvaluation:
    """An evaluation as it stands."""

    key: EvaluationKey
    trace: Trace
    state: EvaluationState
    born_at: datetime
    sample_rate: float
    result: EvaluationResult | None = None
    cause: Cause | None = None
    calls: tuple[JudgeCall, ...] | None = None
    attempts: int = 0
    starts: int = 0
    unfinished_starts: int = 0
    next_attempt_at: datetime | None = None
    lease_until: datetime | None = None
    queued_until: datetime | None = None
    causes_to_wait: list[Cause] = field(default_factory=list)
    backfill_id: int | None = None


@dataclass(frozen=True)
class _Revision:
    key: TraceKey
    revision: int
    trace: Trace

    @property
    def day(self) -> date:
        return self.key.day


class FakeTraceStore:
    """Traces in memory.

    Attributes:
        evaluations: by key, as they stand.
        expired: records whose texts are gone.
        kept: what judges gave about traces that are not here, by fingerprint and content hash.
    """

    def __init__(self, *, clock: Clock, lease_seconds: int = 150, max_revisions: int = 3) -> None:
        self.evaluations: dict[EvaluationKey, StoredEvaluation] = {}
        self.expired: set[TraceKey] = set()
        self.kept: dict[tuple[str, str], Assessment] = {}
        self._revisions: dict[tuple[str, str, str], list[_Revision]] = {}
        self._clock = clock
        self._lease_seconds = lease_seconds
        self._max_revisions = max_revisions
        self._lock = threading.RLock()

    @property
    def traces(self) -> list[Trace]:
        """All stored revisions, in the order of their coming."""
        return [row.trace for rows in self._revisions.values() for row in rows]

    def admit(
        self,
        trace: Trace,
        planned: Sequence[PlannedEvaluation],
        *,
        is_newest: bool = False,
        claims_first: bool = False,
    ) -> Admission:
        for evaluation in planned:
            if evaluation.state in _NEVER_BORN:
                raise ValueError(f"planned evaluation in state {evaluation.state}")
        with self._lock:
            rows = self._find(trace)
            twins = [row for row in rows[:1] if self._counts(row)] if is_newest else rows
            twin = next((row for row in twins if row.trace.content_hash == trace.content_hash), None)
            newest = twin or (rows[0] if rows else None)
            if newest is not None and trace.occurred_at_guessed:
                trace = trace.model_copy(update={"occurred_at": newest.trace.occurred_at})
            if twin is not None:
                last = max(row.revision for row in rows if row.day == twin.day)
                pending = self._list_pending(trace.key, last)
                return Admission(kind="duplicate", key=trace.key, revision=twin.revision, pending=pending)
            revision = 1 if newest is None else newest.revision + 1
            if revision > self._max_revisions:
                return Admission(kind="over_limit", key=trace.key, revision=revision - 1)
            superseded = self._supersede(trace.key, revision)
            self._insert(trace, revision, planned)
            waiting = tuple(
                EvaluationKey(
                    trace=trace.key, revision=revision, judge=one.judge, fingerprint=one.fingerprint
                )
                for one in planned
                if one.state is EvaluationState.WAITING and one.backfill_id is None
            )
            claimed = self._claim(waiting[0]) if claims_first and waiting else None
            return Admission(
                kind="new" if revision == 1 else "revision",
                key=trace.key,
                revision=revision,
                pending=waiting if claimed is None else waiting[1:],
                claimed=claimed,
                superseded=superseded,
            )

    def claim(self, key: EvaluationKey, *, spares_suspects: bool = False) -> ClaimedEvaluation | None:
        return self._claim(key, spares_suspects=spares_suspects)

    def _claim(self, key: EvaluationKey, *, spares_suspects: bool = False) -> ClaimedEvaluation | None:
        with self._lock:
            now = self._clock.now()
            stored = self.evaluations.get(key)
            if stored is None or not self._is_due(stored, now):
                return None
            if spares_suspects and stored.unfinished_starts:
                return None
            stored.state = EvaluationState.RUNNING
            stored.starts += 1
            stored.unfinished_starts += 1
            stored.lease_until = now + timedelta(seconds=self._lease_seconds)
            is_expired = key.trace in self.expired
            return ClaimedEvaluation(
                key=key,
                trace=_strip(stored.trace) if is_expired else stored.trace,
                is_expired=is_expired,
                unfinished_starts=stored.unfinished_starts,
                attempts=stored.attempts,
                waiting_since=stored.born_at,
                starts=stored.starts,
                backfill_id=stored.backfill_id,
                earlier=self._find_earlier(key.fingerprint, stored.trace.content_hash),
            )

    def is_suspect(self, key: EvaluationKey) -> bool:
        with self._lock:
            stored = self.evaluations.get(key)
            is_due = stored is not None and self._is_due(stored, self._clock.now())
            return is_due and stored.unfinished_starts > 0

    def finish(self, claimed: ClaimedEvaluation, result: EvaluationResult) -> EvaluationState | None:
        if result.state not in _ENDS:
            raise ValueError(f"result in state {result.state}")
        with self._lock:
            stored = self._find_run(claimed)
            if stored is None:
                return None
            self._end_run(stored, result.calls)
            if stored.state is not EvaluationState.SUPERSEDED:
                stored.state = result.state
            stored.attempts += _count_attempts(result)
            stored.cause = result.cause
            stored.result = result
            stored.next_attempt_at = None
            return stored.state

    def postpone(
        self,
        claimed: ClaimedEvaluation,
        *,
        until: datetime,
        cause: Cause,
        calls: tuple[JudgeCall, ...] = (),
    ) -> bool:
        with self._lock:
            stored = self._find_run(claimed)
            if stored is None:
                return False
            self._end_run(stored, calls)
            stored.cause = cause
            stored.causes_to_wait.append(cause)
            if stored.state is not EvaluationState.SUPERSEDED:
                stored.state = EvaluationState.WAITING
                stored.next_attempt_at = until
            return stored.state is EvaluationState.WAITING

    def shed(self, claimed: ClaimedEvaluation, *, cause: Cause) -> bool:
        with self._lock:
            stored = self._find_run(claimed)
            if stored is None:
                return False
            self._end_run(stored, ())
            stored.cause = cause
            if stored.state is not EvaluationState.SUPERSEDED:
                stored.state = EvaluationState.SHED
            return stored.state is EvaluationState.SHED

    def warn(self, key: TraceKey, *, revision: int, subject: str, text: str) -> None:
        with self._lock:
            rows = self._revisions[key.app, key.trace_id, key.record_key]
            place, row = next(
                (place, row) for place, row in enumerate(rows) if (row.key, row.revision) == (key, revision)
            )
            extraction = row.trace.extraction
            others = [old for old in extraction.warnings if not old.startswith(f"{subject}: ")]
            extraction = extraction.model_copy(update={"warnings": (*others, f"{subject}: {text}")})
            trace = row.trace.model_copy(update={"extraction": extraction})
            rows[place] = replace(row, trace=trace)
            for stored in self.evaluations.values():
                if (stored.key.trace, stored.key.revision) == (key, revision):
                    stored.trace = trace

    def withdraw(self, key: TraceKey) -> int | None:
        with self._lock:
            counted = [
                stored
                for stored in self.evaluations.values()
                if stored.key.trace == key and stored.state is not EvaluationState.SUPERSEDED
            ]
            return self._supersede(key, 1 << 15) if counted else None

    def take_due(self, *, limit: int, queued_for_seconds: int = QUEUED_SECONDS) -> list[EvaluationKey]:
        """What the sweeper would publish."""
        with self._lock:
            now = self._clock.now()
            due = [
                stored
                for stored in self.evaluations.values()
                if stored.backfill_id is None
                and self._is_due(stored, now)
                and (stored.queued_until is None or stored.queued_until <= now)
            ][:limit]
            for stored in due:
                stored.queued_until = now + timedelta(seconds=queued_for_seconds)
            return [stored.key for stored in due]

    def _find_earlier(self, fingerprint: str, content_hash: str) -> Assessment | None:
        given = [self.kept.get((fingerprint, content_hash))]
        given += [
            stored.result.assessment
            for stored in self.evaluations.values()
            if stored.result is not None
            and (stored.key.fingerprint, stored.trace.content_hash) == (fingerprint, content_hash)
        ]
        usable = [
            one.model_copy(update={"calls": ()})
            for one in given
            if one is not None and one.answered_fingerprint is None and not one.truncated and not one.faults
        ]
        return usable[-1] if usable else None

    def _find(self, trace: Trace) -> list[_Revision]:
        """Newest first; for a guessed time the days before and after too."""
        days = {trace.key.day}
        if trace.occurred_at_guessed:
            days |= {trace.key.day - timedelta(days=1), trace.key.day + timedelta(days=1)}
        rows = self._revisions.get((trace.app, trace.trace_id, trace.record_key), [])
        return sorted(
            (row for row in rows if row.day in days), key=lambda row: (row.day, row.revision), reverse=True
        )

    def _insert(self, trace: Trace, revision: int, planned: Sequence[PlannedEvaluation]) -> None:
        now = self._clock.now()
        rows = self._revisions.setdefault((trace.app, trace.trace_id, trace.record_key), [])
        rows.append(_Revision(key=trace.key, revision=revision, trace=trace))
        for evaluation in planned:
            key = EvaluationKey(
                trace=trace.key,
                revision=revision,
                judge=evaluation.judge,
                fingerprint=evaluation.fingerprint,
            )
            waits = evaluation.state is EvaluationState.WAITING
            self.evaluations[key] = StoredEvaluation(
                key=key,
                trace=trace,
                state=evaluation.state,
                born_at=now,
                sample_rate=evaluation.sample_rate,
                result=evaluation.result,
                cause=evaluation.result.cause if evaluation.result else None,
                calls=evaluation.result.calls if evaluation.result else None,
                attempts=_count_attempts(evaluation.result) if evaluation.result else 0,
                next_attempt_at=now if waits else None,
                queued_until=now + timedelta(seconds=self._lease_seconds)
                if waits and evaluation.backfill_id is None
                else None,
                backfill_id=evaluation.backfill_id,
            )

    def _counts(self, row: _Revision) -> bool:
        return any(
            stored.state is not EvaluationState.SUPERSEDED
            for stored in self.evaluations.values()
            if (stored.key.trace, stored.key.revision) == (row.key, row.revision)
        )

    def _supersede(self, key: TraceKey, revision: int) -> int:
        """The number of outcomes that do not count any more."""
        old = [
            stored
            for stored in self.evaluations.values()
            if stored.key.trace == key
            and stored.key.revision < revision
            and stored.state is not EvaluationState.SUPERSEDED
        ]
        for stored in old:
            stored.state = EvaluationState.SUPERSEDED
            stored.next_attempt_at = stored.lease_until = stored.queued_until = None
        return sum(len(stored.result.outcomes) for stored in old if stored.result)

    def _list_pending(self, key: TraceKey, revision: int) -> tuple[EvaluationKey, ...]:
        return tuple(
            sorted(
                (
                    stored.key
                    for stored in self.evaluations.values()
                    if stored.key.trace == key
                    and stored.key.revision == revision
                    and stored.state in _UNFINISHED
                    and stored.backfill_id is None
                ),
                key=lambda found: (found.judge, found.fingerprint),
            )
        )

    def _find_run(self, claimed: ClaimedEvaluation) -> StoredEvaluation | None:
        """The evaluation, while this claim runs it; also when a newer revision came meanwhile."""
        stored = self.evaluations[claimed.key]
        is_ours = stored.starts == claimed.starts and stored.unfinished_starts > 0
        return stored if is_ours else None

    @staticmethod
    def _end_run(stored: StoredEvaluation, calls: tuple[JudgeCall, ...]) -> None:
        stored.calls = (stored.calls or ()) + calls
        stored.unfinished_starts = 0
        stored.lease_until = stored.queued_until = None

    @staticmethod
    def _is_due(stored: StoredEvaluation, now: datetime) -> bool:
        if stored.state is EvaluationState.WAITING:
            return stored.next_attempt_at is not None and stored.next_attempt_at <= now
        return (
            stored.state is EvaluationState.RUNNING
            and stored.lease_until is not None
            and stored.lease_until < now
        )


def _count_attempts(result: EvaluationResult) -> int:
    return int(result.state is EvaluationState.FAILED and result.cause not in _NOT_ITS_OWN)


def _strip(trace: Trace) -> Trace:
    texts = ("query", "retrieval_query", "turns", "contexts", "answer", "reference")
    return trace.model_copy(update={name: type(trace).model_fields[name].default for name in texts})


@dataclass(frozen=True)
class Parked:
    """A parked message."""

    envelope: Envelope
    reason: ParkReason
    message: str
    where: str


class FakeParkingStore:
    """Parked messages in memory.

    Attributes:
        parked: in the order of their coming.
    """

    def __init__(self) -> None:
        self.parked: list[Parked] = []
        self._lock = threading.Lock()

    def park(self, envelope: Envelope, *, reason: ParkReason, message: str, where: str) -> bool:
        with self._lock:
            key = (envelope.message_key, reason)
            if any((old.envelope.message_key, old.reason) == key for old in self.parked):
                return False
            self.parked.append(Parked(envelope, reason, message, where))
            return True


class FakeSuspectStore:
    """Counts of starts in memory.

    Attributes:
        starts: by message key.
    """

    def __init__(self) -> None:
        self.starts: dict[str, int] = {}
        self._last: dict[str, datetime] = {}
        self._lock = threading.Lock()

    def start(self, message_key: str, *, received_at: datetime) -> int:
        with self._lock:
            is_new = message_key not in self.starts or self._last[message_key] != received_at
            self.starts[message_key] = self.starts.get(message_key, 0) + is_new
            self._last[message_key] = received_at
            return self.starts[message_key]

    def clear(self, message_key: str) -> None:
        with self._lock:
            self.starts.pop(message_key, None)
