"""Ground for backfills: a real Postgres, a broker in memory, steps of monitor and worker, a clock of ours."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from sqlalchemy import text

from fakes.broker import ListBroker
from fakes.clock import FakeClock
from fakes.evaluations import PAID, PAID_PRINT, make_trace, plan_free, plan_paid
from fakes.judge import FakeJudge
from fakes.stages import make_stages
from ragsonde.api.backfills import Foreseen, foresee, narrow, start_backfill
from ragsonde.exposition.registry import Series
from ragsonde.exposition.series import MONITOR_SERIES
from ragsonde.monitor.backfill_jobs import BackfillChores
from ragsonde.pipeline.assignments import Assignment
from ragsonde.pipeline.evaluate_trace import evaluate
from ragsonde.scoring.table import build_scorers
from ragsonde.storage.backfills import read_backfill
from ragsonde.storage.budgets import PostgresBudgets
from ragsonde.storage.sweeping import take_due
from ragsonde.storage.trace_store import PostgresTraceStore
from ragsonde_schemas.backfill import BackfillRequest
from ragsonde_schemas.judge_call import JudgeCall

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlalchemy import Engine

    from ragsonde_schemas.backfill import Backfill
    from ragsonde_schemas.evaluation import EvaluationState

QUEUED_SECONDS = 150
CALL = JudgeCall(
    purpose="assess",
    model="mock",
    outcome="ok",
    tokens_in=900,
    tokens_out=100,
    cost_usd=0.01,
    seconds=0.1,
    reply="{}",
)


class PaidFakeJudge(FakeJudge):
    """A judge that makes one call for each trace."""

    def assess(self, trace, aspects, *, deadline=None):
        given = super().assess(trace, aspects, deadline=deadline)
        return given.model_copy(update={"calls": (CALL,)})


class BackfillGround:
    """Everything that a backfill needs, its time moved by the test.

    Attributes:
        judge: the paid one, as it is configured now.
    """

    def __init__(
        self,
        engine: Engine,
        *,
        limits: Any = (),  # noqa: ANN401 - as given on
        scorers: Mapping[str, Any] | None = None,
        **judge: Any,  # noqa: ANN401 - as given on
    ) -> None:
        self.engine, self.clock, self.broker = engine, FakeClock(), ListBroker()
        self.broker.depths["ragsonde.work"] = 0  # what is published here is on the queue of backfills
        self.series = Series(MONITOR_SERIES)
        self.judge = PaidFakeJudge(**{"name": PAID, "fingerprint": PAID_PRINT, "is_free": False, **judge})
        self.stages = replace(
            make_stages(self.judge, scorers=scorers, clock=self.clock),
            traces=PostgresTraceStore(engine, clock=self.clock),
            budgets=PostgresBudgets(
                engine,
                clock=self.clock,
                limits={PAID: limits} if limits else {},
                on_pause=lambda *_, **__: None,
            ),
        )
        self.chores = BackfillChores(
            engine=engine,
            assignments=self.stages.assignments,
            broker=self.broker,
            queued_for_seconds=QUEUED_SECONDS,
            series=self.series,
            clock=self.clock,
            should_pause=lambda: False,
        )

    def configure(self, scorers: Mapping[str, Any]) -> None:
        """Worker and monitor have these scorers from now on."""
        built = build_scorers(scorers)
        assignments = {self.judge.name: Assignment(judge=self.judge, scorers=built)}
        self.stages = replace(self.stages, scorers=built, assignments=assignments)
        self.chores = replace(self.chores, assignments=assignments)

    def judge_live(self) -> None:
        """Runs what is due of live traffic, as sweeper and worker do."""
        due = take_due(self.engine, now=self.clock.now(), limit=100, queued_for_seconds=QUEUED_SECONDS)
        for key in due:
            evaluate(key, self.stages)

    def admit(self, *trace_ids: str, state: EvaluationState | None = None, **fields: Any) -> None:  # noqa: ANN401
        """Stores traces: with the free judge's evaluation, and the paid one's in a state, None for none."""
        for trace_id in trace_ids:
            planned = (plan_free(), *(() if state is None else (plan_paid(state),)))
            given = {"answer": f"The answer of {trace_id}.", "occurred_at": self.clock.now(), **fields}
            self.stages.traces.admit(make_trace(trace_id, **given), planned)

    def request(self, **fields: Any) -> BackfillRequest:  # noqa: ANN401 - any field
        today = self.clock.now().date()
        return BackfillRequest(
            **{
                "judge": self.judge.name,
                "fingerprint": self.judge.fingerprint,
                "since": today - timedelta(days=7),
                "until": today,
                "rate_per_second": 10.0,
                **fields,
            }
        )

    def foresee(self, request: BackfillRequest) -> Foreseen:
        assignment = self.stages.assignments[self.judge.name]
        return list(foresee(self.engine, request, assignment=assignment))[-1]

    def start(self, **fields: Any) -> int:  # noqa: ANN401 - any field of the request
        request = self.request(**fields)
        foreseen = self.foresee(request)
        return start_backfill(self.engine, narrow(request, foreseen), foreseen=foreseen, now=self.clock.now())

    def read(self, number: int) -> Backfill:
        found = read_backfill(self.engine, number)
        assert found is not None
        return found

    def step(self, *, seconds: float = 1.0) -> int:
        """One step of the monitor, after so many seconds; how many keys it published."""
        self.clock.advance(seconds)
        before = len(self.broker.published)
        self.chores.step()
        return len(self.broker.published) - before

    def work(self) -> None:
        """Runs everything that was published, as a worker does."""
        keys, self.broker.published[:] = list(self.broker.published), []
        for key in keys:
            evaluate(key, self.stages)

    def run_to_end(self, number: int, *, most_steps: int = 200) -> Backfill:
        for _ in range(most_steps):
            self.step()
            self.work()
            if self.read(number).has_ended:
                self.step()
                return self.read(number)
        raise AssertionError(f"not over after {most_steps} steps: {self.read(number)}")

    def sweep(self) -> list[str]:
        """What the sweeper of live traffic finds due."""
        due = take_due(self.engine, now=self.clock.now(), limit=100, queued_for_seconds=QUEUED_SECONDS)
        return sorted(key.trace.trace_id for key in due)

    def count_states(self, judge: str = PAID) -> Counter[str]:
        with self.engine.connect() as connection:
            rows = connection.execute(
                text("SELECT state FROM evaluation WHERE judge = :judge"), {"judge": judge}
            )
            return Counter(state for (state,) in rows)

    def query(self, statement: str) -> list[tuple[Any, ...]]:
        with self.engine.connect() as connection:
            return [tuple(row) for row in connection.execute(text(statement))]
