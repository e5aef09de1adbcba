"""One judge with a budget, evaluations before it, and what the tables say."""

from __future__ import annotations

from sqlalchemy import select

from fakes.clock import NOON, FakeClock
from fakes.evaluations import PAID, make_result, make_trace, plan_paid
from ragsonde.storage.budgets import PostgresBudgets
from ragsonde.storage.judge_states import PostgresJudgeStates
from ragsonde.storage.stale_reservations import release_stale_reservations
from ragsonde.storage.tables import JudgeSpendRow
from ragsonde_schemas.judge_call import JudgeCall
from ragsonde_schemas.spending import Limit, Period, Reservation, WorstCase
from services.stores import PostgresStores

WORST = WorstCase(calls=3, tokens=3_000, cost_usd=0.03)
LATE = NOON.replace(hour=23)
"""In the last hour of the day the whole of a day's limit may be spent."""


class Desk:
    """Evaluations of one paid judge, its budget, and what the table says."""

    def __init__(self, engine, *limits, now=LATE) -> None:
        self.engine = engine
        self.clock = FakeClock(now)
        self.stores = PostgresStores(self.clock, engine)
        self.limits = limits

    def budgets(self) -> PostgresBudgets:
        states = PostgresJudgeStates(self.engine, clock=self.clock)
        return PostgresBudgets(
            self.engine, clock=self.clock, limits={PAID: self.limits}, on_pause=states.pause
        )

    def claim(self, number=1):
        trace = make_trace(f"t-{number}", answer=str(number), occurred_at=NOON)
        admission = self.stores.traces.admit(trace, (plan_paid(),))
        return self.stores.traces.claim(admission.pending[0])

    def reserve(self, claimed, worst=WORST) -> Reservation:
        return self.budgets().reserve(claimed, lambda: worst)

    def sweep(self, limit=10) -> int:
        return release_stale_reservations(self.engine, now=self.clock.now(), limit=limit)

    def finish(self, claimed, *calls):
        result = make_result()
        assessment = result.assessment.model_copy(update={"calls": calls})
        return self.stores.traces.finish(claimed, result.model_copy(update={"assessment": assessment}))

    def spent(self, period=Period.DAY):
        row = JudgeSpendRow
        columns = (row.spent_calls, row.spent_tokens, row.spent_usd, row.unpriced_calls)
        return self._read(columns, period)

    def reserved(self, period=Period.DAY):
        row = JudgeSpendRow
        return self._read((row.reserved_calls, row.reserved_tokens, row.reserved_usd), period)

    def _read(self, columns, period):
        query = select(*columns).where(JudgeSpendRow.period == period.value)
        with self.engine.connect() as connection:
            return [tuple(row) for row in connection.execute(query)]


def call(cost_usd=0.01, tokens=(900, 100), outcome="ok") -> JudgeCall:
    tokens_in, tokens_out = tokens or (None, None)
    return JudgeCall(
        purpose="assess",
        model="m",
        outcome=outcome,
        tokens_in=tokens_in,
        tokens_out=tokens_out,
        cost_usd=cost_usd,
        seconds=0.1,
        reply="{}",
    )


def per_day(**limit) -> Limit:
    return Limit(period=Period.DAY, **limit)
