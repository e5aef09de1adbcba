"""The time of day jumps, on a real Postgres: nothing is lost, and nothing is stored twice."""

from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import text

from builders.rag_spans import RAG_SPANS
from fakes.clock import FakeClock
from fakes.evaluations import make_result, make_trace, plan_paid
from ragsonde.assembly.closing import ClosingTimes
from ragsonde.storage.due_records import DueRecords
from ragsonde.storage.far_times import bring_near
from ragsonde.storage.span_buffer import PostgresSpanBuffer
from ragsonde.storage.sweeping import take_due
from ragsonde.storage.trace_store import PostgresTraceStore
from ragsonde_schemas.errors import Cause
from ragsonde_schemas.spending import Limit, Period, Reservation
from services.budget_desk import WORST, Desk, call

pytestmark = pytest.mark.integration

HOUR, DAY = 3600, 86_400
SCORED = make_result()
JUMPS = [sign * seconds for seconds in (HOUR, DAY, 40 * DAY) for sign in (1, -1)]
LEASE_SECONDS = 150


@pytest.fixture
def jump(request):
    """Seconds, forwards or back."""
    return getattr(request, "param", 0)


@pytest.fixture
def clock(jump):
    """It stands at the present, as that of Postgres does; or ahead of it, when it is to be put back."""
    return FakeClock(datetime.now(UTC) + timedelta(seconds=max(0, -jump)))


@pytest.fixture
def traces(engine, clock):
    return PostgresTraceStore(engine, clock=clock, lease_seconds=LEASE_SECONDS)


@pytest.fixture
def spans(engine, clock):
    return PostgresSpanBuffer(
        engine,
        clock=clock,
        times=ClosingTimes(quiet_seconds=5),
        lease_seconds=LEASE_SECONDS,
        retention_days=90,
        span_retention_days=1,
    )


def sweep(engine, clock):
    bring_near(engine, now=clock.now())
    return take_due(engine, now=clock.now(), limit=10, queued_for_seconds=LEASE_SECONDS)


def count(engine, table):
    with engine.connect() as connection:
        return connection.execute(text(f"SELECT count(*) FROM {table}")).scalar_one()  # noqa: S608 - ours


@pytest.mark.parametrize("jump", JUMPS, indirect=True)
def test_what_a_dead_worker_held_before_the_jump_is_done_once(engine, clock, traces, jump):
    (key,) = traces.admit(make_trace(occurred_at=clock.now()), (plan_paid(),)).pending
    dead = traces.claim(key)
    clock.jump(jump)
    # a clock that was put back has to come to where it was; not so when that takes weeks
    clock.advance(LEASE_SECONDS + 1 + max(0, -jump if -jump <= DAY else 0))
    assert sweep(engine, clock) == [key]
    again = traces.claim(key)
    assert traces.finish(again, SCORED) == "scored"
    assert traces.finish(dead, SCORED) is None
    assert sweep(engine, clock) == []
    assert (count(engine, "evaluation"), count(engine, "score")) == (1, len(SCORED.outcomes))


@pytest.mark.parametrize("jump", JUMPS, indirect=True)
def test_what_runs_while_the_clock_jumps_ends_and_is_stored_once(engine, clock, traces, jump):
    (key,) = traces.admit(make_trace(occurred_at=clock.now()), (plan_paid(),)).pending
    claimed = traces.claim(key)
    clock.jump(jump)
    assert traces.finish(claimed, SCORED) == "scored"
    clock.jump(-jump)
    assert traces.claim(key) is None
    assert sweep(engine, clock) == []
    assert (count(engine, "evaluation"), count(engine, "score")) == (1, len(SCORED.outcomes))


@pytest.mark.parametrize("jump", JUMPS, indirect=True)
def test_spans_gathered_before_the_jump_are_closed_once(engine, clock, spans, jump):
    spans.absorb(RAG_SPANS, format_name="otlp_protobuf", whole=frozenset())
    clock.jump(jump)
    clock.advance(6 + max(0, -jump if -jump <= DAY else 0))
    bring_near(engine, now=clock.now())
    (key,) = DueRecords().take(engine, now=clock.now(), limit=10, queued_for_seconds=LEASE_SECONDS)
    claimed = spans.claim(key.trace_id)
    assert len(claimed.spans) == len(RAG_SPANS)
    assert spans.settle(claimed, admitted=())
    assert spans.claim(key.trace_id) is None


def test_what_is_due_within_a_day_is_left_alone_also_by_one_who_runs_behind(engine, clock, traces):
    first, second = (
        traces.admit(make_trace(trace_id=name, occurred_at=clock.now()), (plan_paid(),)).pending[0]
        for name in ("one", "other")
    )
    traces.claim(first)
    waiting = traces.claim(second)
    traces.postpone(waiting, until=clock.now() + timedelta(days=1), cause=Cause.JUDGE_UNAVAILABLE)
    assert bring_near(engine, now=clock.now()) == 0
    assert bring_near(engine, now=clock.now() - timedelta(days=40)) == 0


@pytest.mark.parametrize("jump", JUMPS)
def test_a_jump_frees_no_budget_and_leaks_no_reservation(engine, jump):
    desk = Desk(engine, Limit(period=Period.DAY, calls=WORST.calls))
    claimed = desk.claim(1)
    assert desk.reserve(claimed) is Reservation.HELD
    desk.clock.jump(jump)
    desk.finish(claimed, *[call()] * WORST.calls)
    desk.clock.jump(-jump)
    assert desk.reserve(desk.claim(2)) is Reservation.SPENT
    with engine.connect() as connection:
        held, spent = connection.execute(
            text("SELECT sum(reserved_calls), sum(spent_calls) FROM judge_spend WHERE period = 'day'")
        ).one()
    assert (held, spent) == (0, WORST.calls)
