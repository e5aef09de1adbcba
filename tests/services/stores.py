"""The stores behind the ports, in memory and in Postgres, looked at in the same way."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple, Protocol

from sqlalchemy import delete, func, select

from fakes.stores import QUEUED_SECONDS, FakeParkingStore, FakeSuspectStore, FakeTraceStore
from ragsonde.storage.history import read_history
from ragsonde.storage.parking_store import PostgresParkingStore
from ragsonde.storage.suspect_store import PostgresSuspectStore
from ragsonde.storage.sweeping import take_due
from ragsonde.storage.tables import ParkedMessageRow, TraceTextRow
from ragsonde.storage.trace_store import PostgresTraceStore

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from fakes.clock import FakeClock
    from ragsonde.ports import ParkingStore, SuspectStore, TraceStore
    from ragsonde_schemas.assessment import Assessment
    from ragsonde_schemas.errors import Cause
    from ragsonde_schemas.evaluation import EvaluationKey, EvaluationState
    from ragsonde_schemas.judge_call import JudgeCall
    from ragsonde_schemas.score import Outcome
    from ragsonde_schemas.trace import Trace


class Seen(NamedTuple):
    """An evaluation as it stands in a store."""

    state: EvaluationState
    cause: Cause | None
    attempts: int
    unfinished_starts: int
    outcomes: frozenset[str]
    assessment: Assessment | None
    calls: tuple[JudgeCall, ...]


class Stores(Protocol):
    """All stores of one kind, on one clock."""

    clock: FakeClock
    traces: TraceStore
    parking: ParkingStore
    suspects: SuspectStore

    def look(self, key: EvaluationKey) -> Seen | None: ...

    def count_revisions(self, trace_id: str) -> int: ...

    def take_due(self, *, limit: int = 100) -> list[EvaluationKey]: ...

    def count_parked(self) -> int: ...

    def drop_texts(self, trace: Trace) -> None: ...


class FakeStores:
    """The fakes."""

    def __init__(self, clock: FakeClock) -> None:
        self.clock = clock
        self.traces = FakeTraceStore(clock=clock)
        self.parking = FakeParkingStore()
        self.suspects = FakeSuspectStore()

    def look(self, key: EvaluationKey) -> Seen | None:
        stored = self.traces.evaluations.get(key)
        if stored is None:
            return None
        result = stored.result
        return Seen(
            stored.state,
            stored.cause,
            stored.attempts,
            stored.unfinished_starts,
            _name(result.outcomes if result else ()),
            _with_calls(result.assessment, stored.calls or ()) if result else None,
            stored.calls or (),
        )

    def count_revisions(self, trace_id: str) -> int:
        return sum(trace.trace_id == trace_id for trace in self.traces.traces)

    def take_due(self, *, limit: int = 100) -> list[EvaluationKey]:
        return self.traces.take_due(limit=limit)

    def count_parked(self) -> int:
        return len(self.parking.parked)

    def drop_texts(self, trace: Trace) -> None:
        self.traces.expired.add(trace.key)


class PostgresStores:
    """The real ones."""

    def __init__(self, clock: FakeClock, engine: Engine) -> None:
        self.clock = clock
        self.engine = engine
        self.traces = PostgresTraceStore(engine, clock=clock)
        self.parking = PostgresParkingStore(engine, clock=clock)
        self.suspects = PostgresSuspectStore(engine)

    def look(self, key: EvaluationKey) -> Seen | None:
        for revision in read_history(self.engine, key.trace.trace_id).revisions:
            for found in revision.evaluations:
                if found.key == key:
                    return Seen(
                        found.state,
                        found.cause,
                        found.attempts,
                        found.unfinished_starts,
                        _name(found.outcomes),
                        found.assessment,
                        found.replies,
                    )
        return None

    def count_revisions(self, trace_id: str) -> int:
        return len(read_history(self.engine, trace_id).revisions)

    def take_due(self, *, limit: int = 100) -> list[EvaluationKey]:
        return take_due(self.engine, now=self.clock.now(), limit=limit, queued_for_seconds=QUEUED_SECONDS)

    def count_parked(self) -> int:
        with self.engine.connect() as connection:
            return connection.execute(select(func.count()).select_from(ParkedMessageRow)).scalar_one()

    def drop_texts(self, trace: Trace) -> None:
        with self.engine.begin() as connection:
            connection.execute(delete(TraceTextRow).where(TraceTextRow.trace_id == trace.trace_id))


def name_outcome(outcome: Outcome) -> str:
    """An outcome as text in which keys are sorted, as no database keeps their order."""
    return json.dumps(outcome.model_dump(mode="json"), sort_keys=True)


def _with_calls(assessment: Assessment | None, calls: tuple[JudgeCall, ...]) -> Assessment | None:
    """With the calls of all runs, as the store tells them."""
    return assessment and assessment.model_copy(update={"calls": calls})


def _name(outcomes: tuple[Outcome, ...]) -> frozenset[str]:
    return frozenset(name_outcome(outcome) for outcome in outcomes)
