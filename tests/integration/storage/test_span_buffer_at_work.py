"""The buffer of spans in Postgres: many workers at once, a database that goes away, what retention leaves."""

from __future__ import annotations

import random
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from itertools import pairwise
from threading import Barrier

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import func, select, text

from builders.spans import TRACE_ID, make_span
from fakes.clock import NOON, FakeClock
from fakes.evaluations import make_trace
from ragsonde.assembly.closing import ClosingTimes
from ragsonde.storage.due_records import DueRecords
from ragsonde.storage.engine import build_engine
from ragsonde.storage.partitions import drop_expired
from ragsonde.storage.span_buffer import PostgresSpanBuffer
from ragsonde.storage.span_rows import write_span
from ragsonde.storage.sweeping import count_open
from ragsonde.storage.tables import OpenRecordRow, SpanRow
from ragsonde.storage.trace_store import PostgresTraceStore
from ragsonde_schemas.errors import DatabaseLostError
from services.postgres import empty_tables
from services.waiting import wait_for

pytestmark = pytest.mark.integration

WAIT_SECONDS = 30


def name_trace(number):
    return f"{number:032x}"


def make_spans(trace, count=8):
    return [
        make_span(number + 1, None if number == 0 else 1, trace_id=name_trace(trace))
        for number in range(count)
    ]


def gather(buffer, spans, whole=()):
    return buffer.absorb(spans, format_name="otlp_json", whole=frozenset(whole))


def count(engine, table):
    with engine.connect() as connection:
        return connection.execute(select(func.count()).select_from(table)).scalar_one()


@pytest.fixture
def clock():
    return FakeClock()


@pytest.fixture
def buffer(engine, clock):
    return PostgresSpanBuffer(engine, clock=clock)


def run_at_once(*works):
    """The results of functions that are started together."""
    start = Barrier(len(works))

    def run(work):
        start.wait(WAIT_SECONDS)
        return work()

    with ThreadPoolExecutor(len(works)) as pool:
        return [future.result(WAIT_SECONDS) for future in [pool.submit(run, work) for work in works]]


class TestManyWorkers:
    def test_overlapping_traces_in_opposite_order_do_not_deadlock(self, engine, buffer, clock):
        traces = [make_spans(number) for number in range(40)]
        forward = [span for trace in traces for span in trace[:5]]
        backward = [span for trace in reversed(traces) for span in reversed(trace[3:])]

        def bring(spans):
            for begin in range(0, len(spans), 50):
                gather(buffer, spans[begin : begin + 50])
            gather(buffer, spans)

        run_at_once(
            lambda: bring(forward),
            lambda: bring(backward),
            lambda: bring(backward[::-1]),
            lambda: bring(forward[::-1]),
        )
        clock.advance(5)
        for number, trace in enumerate(traces):
            assert list(buffer.claim(name_trace(number)).spans) == trace
        with engine.connect() as connection:
            deadlocks = connection.execute(
                text("SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()")
            ).scalar_one()
        assert deadlocks == 0

    def test_of_eight_claims_at_once_one_is_granted(self, buffer):
        gather(buffer, make_spans(1), whole=[name_trace(1)])
        claims = run_at_once(*[lambda: buffer.claim(name_trace(1))] * 8)
        assert Counter(claim is None for claim in claims) == {True: 7, False: 1}

    def test_each_due_trace_is_taken_by_one_of_two_sweepers(self, engine, buffer, clock):
        gather(buffer, [span for number in range(60) for span in make_spans(number, 1)])
        clock.advance(5)

        def sweep():
            taken = []
            while keys := DueRecords().take(engine, now=clock.now(), limit=7, queued_for_seconds=150):
                taken += [key.trace_id for key in keys]
            return taken

        both = run_at_once(sweep, sweep)
        rest = sweep()
        assert sorted(sum(both, rest)) == [name_trace(number) for number in range(60)]

    def test_no_span_is_lost_between_those_who_bring_and_those_who_close(self, engine):
        times = ClosingTimes(quiet_seconds=0, no_root_seconds=0)
        buffers = [PostgresSpanBuffer(engine, clock=FakeClock(), times=times) for _ in range(2)]
        spans = make_spans(1, 60)
        random.Random(7).shuffle(spans)
        seen = []

        def bring(buffer, own):
            for span in own:
                if gather(buffer, [span])[0].is_due and (claimed := buffer.claim(name_trace(1))):
                    seen.append({one.span_id for one in claimed.spans})
                    assert buffer.settle(claimed, admitted=())

        run_at_once(lambda: bring(buffers[0], spans[:40]), lambda: bring(buffers[1], spans[20:]))
        last = buffers[0].claim(name_trace(1))
        final = seen[-1:] if last is None else [{one.span_id for one in last.spans}]
        assert max(map(len, [*seen, *final])) == 60
        for earlier, later in pairwise(seen):
            assert earlier <= later


class TestAnyOrder:
    @settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(data=st.data())
    def test_any_cut_order_and_repetition_gives_the_same_claimed_spans(self, shared_engine, data):
        empty_tables(shared_engine)
        clock = FakeClock()
        buffer = PostgresSpanBuffer(shared_engine, clock=clock)
        versions = [
            *(make_span(number, None if number == 1 else 1, end=number + 9) for number in range(1, 6)),
            make_span(2, 1, end=5, attributes={"partial": True}),
            make_span(3, 1, end=12, attributes={"more": "x"}),
            make_span(3, 1, end=12, attributes={"more": "y"}),
        ]
        order = data.draw(st.permutations([*versions, *data.draw(st.lists(st.sampled_from(versions)))]))
        while order:
            size = data.draw(st.integers(1, len(order)))
            gather(buffer, order[:size])
            order = order[size:]
            clock.advance(data.draw(st.sampled_from([0, 1, 6])))
            if data.draw(st.booleans()) and (claimed := buffer.claim(TRACE_ID)):
                buffer.settle(claimed, admitted=())
        gather(buffer, [make_span(6, 1)])
        clock.advance(60)
        claimed = buffer.claim(TRACE_ID).spans
        fuller_of_equals = max(versions[6:], key=lambda span: write_span(span).rank)
        assert claimed == (*versions[:2], fuller_of_equals, *versions[3:5], make_span(6, 1))


class TestLostDatabase:
    def test_every_call_says_so(self, buffer):
        gather(buffer, make_spans(1), whole=[name_trace(1)])
        claimed = buffer.claim(name_trace(1))
        away_engine = build_engine("postgresql://postgres@127.0.0.1:1/nothing", application_name="test")
        away = PostgresSpanBuffer(away_engine, clock=FakeClock())
        calls = (
            lambda: gather(away, make_spans(2)),
            lambda: away.claim(name_trace(1)),
            lambda: away.settle(claimed, admitted=()),
            lambda: DueRecords().take(away_engine, now=NOON, limit=1, queued_for_seconds=150),
            lambda: count_open(away_engine),
        )
        for call in calls:
            with pytest.raises(DatabaseLostError, match="Postgres is away"):
                call()
        away_engine.dispose()

    def test_what_was_cut_off_is_undone_and_can_be_done_again(self, engine, buffer):
        waiting = text(
            "SELECT pid FROM pg_stat_activity WHERE datname = current_database()"
            " AND wait_event_type = 'Lock' AND wait_event = 'relation'"
        )
        with ThreadPoolExecutor(1) as pool, engine.connect() as holder, holder.begin():
            holder.execute(text("LOCK TABLE span_buffer IN ACCESS EXCLUSIVE MODE"))
            absorbing = pool.submit(gather, buffer, make_spans(1))
            with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as killer:
                pid = wait_for(lambda: killer.execute(waiting).scalar(), what="a backend that waits")
                killer.execute(text("SELECT pg_terminate_backend(:pid)"), {"pid": pid})
            with pytest.raises(DatabaseLostError):
                absorbing.result(WAIT_SECONDS)
        assert (count(engine, OpenRecordRow), count(engine, SpanRow)) == (0, 0)
        assert gather(buffer, make_spans(1))[0].new_spans == 8


class TestRetention:
    def test_spans_of_closed_traces_go_at_their_age_and_open_ones_stay(self, engine, buffer, clock):
        for number in range(3):
            gather(buffer, make_spans(number), whole=[name_trace(number)])
        buffer.settle(buffer.claim(name_trace(0)), admitted=())
        buffer.claim(name_trace(1))
        clock.advance(86_400)
        gather(buffer, make_spans(3), whole=[name_trace(3)])
        buffer.settle(buffer.claim(name_trace(3)), admitted=())
        today = clock.now().date()
        drop_expired(engine, today=today, retention={"span": 1})
        assert count(engine, OpenRecordRow) == 4
        drop_expired(engine, today=today + timedelta(days=1), retention={"span": 1})
        assert (count(engine, OpenRecordRow), count(engine, SpanRow)) == (3, 24)
        assert buffer.claim(name_trace(2)) is not None

    def test_more_than_a_batch_goes_too(self, engine, buffer):
        numbers = range(1100)
        gather(buffer, [span for number in numbers for span in make_spans(number, 1)])
        with engine.begin() as connection:
            connection.execute(text("UPDATE open_record SET next_close_at = NULL"))
        drop_expired(engine, today=NOON.date() + timedelta(days=2), retention={"span": 1})
        assert (count(engine, OpenRecordRow), count(engine, SpanRow)) == (0, 0)

    def test_without_a_setting_nothing_goes(self, engine, buffer):
        gather(buffer, make_spans(1), whole=[name_trace(1)])
        buffer.settle(buffer.claim(name_trace(1)), admitted=())
        drop_expired(engine, today=NOON.date() + timedelta(days=1000), retention={})
        assert count(engine, SpanRow) == 8


class TestRemainders:
    """Late spans whose trace was stored and whose other spans are gone."""

    def claim_alone(self, buffer, clock, *, span=None, days=2):
        clock.advance(days * 86_400)
        gather(buffer, [span or make_span(2, 1)])
        clock.advance(60)
        return buffer.claim(TRACE_ID)

    @pytest.fixture
    def stored(self, engine, clock):
        PostgresTraceStore(engine, clock=clock).admit(make_trace(TRACE_ID), ())

    @pytest.mark.usefixtures("stored")
    def test_without_a_root_they_are_expired(self, buffer, clock):
        assert self.claim_alone(buffer, clock).is_expired

    @pytest.mark.usefixtures("stored")
    def test_with_a_root_they_are_a_trace(self, buffer, clock):
        assert not self.claim_alone(buffer, clock, span=make_span(1)).is_expired

    @pytest.mark.usefixtures("stored")
    def test_while_the_spans_would_still_be_kept_the_trace_came_another_way(self, buffer, clock):
        assert not self.claim_alone(buffer, clock, days=0).is_expired

    def test_of_a_trace_that_nobody_knows_they_are_one(self, buffer, clock):
        assert not self.claim_alone(buffer, clock).is_expired

    @pytest.mark.usefixtures("stored")
    def test_beyond_the_retention_of_traces_nobody_knows(self, engine, clock):
        buffer = PostgresSpanBuffer(engine, clock=clock, retention_days=30)
        assert not self.claim_alone(buffer, clock, days=31).is_expired
