"""The fake buffer of spans and Postgres do the same, whatever is done to them."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    multiple,
    rule,
    run_state_machine_as_test,
)

from builders.spans import TRACE_ID, make_span
from fakes.clock import NOON, FakeClock
from ragsonde.assembly.closing import ClosingTimes
from ragsonde_schemas.open_record import AdmittedRecord
from services.postgres import empty_tables
from services.span_buffers import OTHER_ID, FakeBuffers, PostgresBuffers


class BothBuffers(RuleBasedStateMachine):
    """Does everything to both and compares."""

    claims = Bundle("claims")

    def __init__(self, engine):
        super().__init__()
        empty_tables(engine)
        times = ClosingTimes(max_wait_seconds=20, no_root_seconds=12, spans_at_most=5, bytes_at_most=1200)
        self.fake = FakeBuffers(FakeClock(), times=times)
        self.real = PostgresBuffers(FakeClock(), engine, times=times)

    def both(self, call):
        expected, found = call(self.fake), call(self.real)
        assert found == expected
        return found

    @rule(
        drawn=st.lists(
            st.tuples(
                st.sampled_from([TRACE_ID, TRACE_ID, OTHER_ID]),
                st.integers(1, 7),
                st.booleans(),
                st.integers(0, 2),
                st.sampled_from([{}, {}, {"a": 1}, {"a": 2}, {"ragsonde.trace.end": True}, {"a": "x" * 300}]),
            ),
            max_size=4,
        ),
        whole=st.sets(st.sampled_from([TRACE_ID, OTHER_ID]), max_size=1),
    )
    def absorb(self, drawn, whole):
        spans = [
            make_span(
                number,
                None if is_root else 1,
                end=number + later,
                trace_id=trace_id,
                attributes=attributes,
                resource={"service.name": "shop"} if number % 2 else {},
            )
            for trace_id, number, is_root, later, attributes in drawn
        ]
        self.both(lambda one: one.spans.absorb(spans, format_name="otlp_json", whole=frozenset(whole)))

    @rule(target=claims, trace_id=st.sampled_from([TRACE_ID, OTHER_ID]))
    def claim(self, trace_id):
        claimed = self.both(lambda one: one.spans.claim(trace_id))
        return multiple() if claimed is None else claimed

    @rule(claimed=claims, keys=st.sets(st.sampled_from(["", "b"])))
    def settle(self, claimed, keys):
        admitted = [
            AdmittedRecord(
                record_key=key,
                app=f"app {claimed.version}",
                occurred_at=NOON,
                root_span_id=f"root {claimed.claims}",
                span_count=claimed.version,
            )
            for key in sorted(keys)
        ]
        self.both(lambda one: one.spans.settle(claimed, admitted=admitted))

    @rule(claimed=consumes(claims))
    def crash(self, claimed):
        """The process that held it is gone."""

    @rule(seconds=st.sampled_from([1, 5, 12, 20, 150]))
    def pass_time(self, seconds):
        self.both(lambda one: one.clock.advance(seconds))

    @rule(seconds=st.sampled_from([-100, 100]))
    def jump(self, seconds):
        self.both(lambda one: one.clock.jump(seconds))

    @rule(limit=st.integers(1, 3))
    def sweep(self, limit):
        self.both(lambda one: one.take_due(limit=limit))

    @rule()
    def count(self):
        self.both(lambda one: one.count_open())

    def teardown(self):
        for trace_id in (TRACE_ID, OTHER_ID):
            for one in (self.fake, self.real):
                one.clock.advance(timedelta(days=1).total_seconds())
            self.both(lambda one, trace_id=trace_id: one.spans.claim(trace_id))


@pytest.mark.integration
def test_the_fake_and_postgres_agree(shared_engine):
    run_state_machine_as_test(
        lambda: BothBuffers(shared_engine),
        settings=settings(
            max_examples=80,
            stateful_step_count=25,
            deadline=None,
            suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
        ),
    )
