"""What `ports.SpanBuffer` promises, held against the fake and Postgres, and that the two agree."""

from __future__ import annotations

from datetime import timedelta
from itertools import permutations

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
from ragsonde_schemas.open_record import AdmittedRecord, ClosingReason
from ragsonde_schemas.span import SpanEvent
from services.postgres import empty_tables
from services.span_buffers import FakeBuffers, PostgresBuffers

OTHER_ID = "0" * 31 + "1"
ROOT = make_span(1, start=0, end=100, resource={"service.name": "shop"})
RETRIEVER = make_span(2, 1, kind="RETRIEVER", start=10)
LLM = make_span(3, 1, kind="LLM", start=20)
LEASE = 150


@pytest.fixture(params=["fake", pytest.param("postgres", marks=pytest.mark.integration)])
def make_buffers(request):
    def make(**times):
        clock = FakeClock()
        if request.param == "fake":
            return FakeBuffers(clock, times=ClosingTimes(**times))
        return PostgresBuffers(clock, request.getfixturevalue("engine"), times=ClosingTimes(**times))

    return make


@pytest.fixture
def buffers(make_buffers):
    return make_buffers()


def absorb(buffers, *spans, whole=(), format_name="otlp_json"):
    (absorbed,) = buffers.spans.absorb(spans, format_name=format_name, whole=frozenset(whole))
    return absorbed


def claim(buffers, *, after=0, trace_id=TRACE_ID):
    buffers.clock.advance(after)
    claimed = buffers.spans.claim(trace_id)
    assert claimed is not None
    return claimed


def close(buffers, *, after=5, admitted=()):
    claimed = claim(buffers, after=after)
    assert buffers.spans.settle(claimed, admitted=admitted)
    return claimed


class TestAbsorb:
    def test_spans_wait_for_a_quiet_time_and_come_back_as_they_were(self, buffers):
        spans = (
            ROOT,
            make_span(
                2,
                1,
                attributes={"z": 1, "a": {"n": [None, True, 1.5, 2**70]}, "t": "\N{SNOWMAN}"},
                events=(SpanEvent("e", 7, {"k": []}),),
                is_error=True,
                scope_name="s",
                scope_version="1",
            ),
        )
        absorbed = absorb(buffers, *spans)
        assert (absorbed.is_due, absorbed.new_spans, absorbed.refused_spans) == (False, 2, 0)
        assert buffers.spans.claim(TRACE_ID) is None
        claimed = claim(buffers, after=5)
        assert claimed.spans == spans
        assert list(claimed.spans[1].attributes) == ["z", "a", "t"]
        assert isinstance(claimed.spans[1].events[0], SpanEvent)
        assert (claimed.reason, claimed.format) == (ClosingReason.QUIET, "otlp_json")
        assert (claimed.closed_before, claimed.admitted, claimed.warnings) == (False, (), ())
        assert (claimed.claims, claimed.unfinished_claims) == (1, 1)
        assert claimed.first_received_at == NOON

    def test_nothing_becomes_of_nothing(self, buffers):
        assert buffers.spans.absorb((), format_name="otlp_json", whole=frozenset()) == []

    def test_each_trace_of_a_delivery_has_its_own_answer(self, buffers):
        other = make_span(9, trace_id=OTHER_ID)
        absorbed = buffers.spans.absorb(
            (ROOT, other, RETRIEVER), format_name="otlp_json", whole=frozenset({OTHER_ID})
        )
        assert [(one.trace_id, one.is_due, one.new_spans) for one in absorbed] == [
            (OTHER_ID, True, 1),
            (TRACE_ID, False, 2),
        ]

    def test_a_whole_trace_is_due_at_once(self, buffers):
        assert absorb(buffers, ROOT, RETRIEVER, LLM, whole=[TRACE_ID]).is_due
        assert claim(buffers).reason is ClosingReason.WHOLE

    def test_an_end_marker_makes_it_due_at_once(self, buffers):
        assert absorb(buffers, make_span(3, 1, attributes={"ragsonde.trace.end": True})).is_due
        assert claim(buffers).reason is ClosingReason.END_MARKER

    def test_every_span_that_comes_starts_the_quiet_time_anew(self, buffers):
        absorb(buffers, ROOT)
        buffers.clock.advance(4)
        absorb(buffers, RETRIEVER)
        buffers.clock.advance(4)
        assert buffers.spans.claim(TRACE_ID) is None
        assert len(claim(buffers, after=1).spans) == 2

    def test_the_same_span_again_does_not(self, buffers):
        absorb(buffers, ROOT)
        buffers.clock.advance(4)
        assert absorb(buffers, ROOT).new_spans == 0
        assert claim(buffers, after=1).version == 1

    def test_without_a_root_the_quiet_time_is_longer(self, buffers):
        absorb(buffers, RETRIEVER)
        buffers.clock.advance(59)
        assert buffers.spans.claim(TRACE_ID) is None
        assert claim(buffers, after=1).reason is ClosingReason.NO_ROOT

    def test_a_trace_that_never_rests_is_closed_at_its_longest_wait(self, make_buffers):
        buffers = make_buffers(max_wait_seconds=10)
        for number in range(4):
            assert not absorb(buffers, make_span(number + 1)).is_due
            buffers.clock.advance(3)
        assert claim(buffers).reason is ClosingReason.MAX_WAIT

    @pytest.mark.parametrize("order", list(permutations(range(4))))
    def test_the_fullest_version_of_a_span_stays_in_any_order(self, buffers, order):
        versions = [
            make_span(1, end=5, attributes={"a": 1, "b": 2, "c": 3}),
            make_span(1, end=9, attributes={"a": 1}),
            make_span(1, end=9, attributes={"a": 1, "b": 2}),
            make_span(1, end=9, attributes={"a": 1, "b": 3}),
        ]
        for index in order:
            absorb(buffers, versions[index])
        last = claim(buffers, after=5).spans
        assert len(last) == 1
        assert last[0] in versions[2:]
        again = FakeBuffers(FakeClock())
        absorb(again, *versions)
        assert last == claim(again, after=5).spans

    def test_two_versions_in_one_delivery_are_one_span(self, buffers):
        absorbed = absorb(buffers, make_span(1, end=5), make_span(1, end=9), make_span(1, end=5))
        assert absorbed.new_spans == 1
        assert claim(buffers, after=5).spans == (make_span(1, end=9),)

    @pytest.mark.parametrize("end_ns", [10**300, -(10**30), 0])
    def test_times_beyond_64_bits_are_kept(self, buffers, end_ns):
        span = ROOT._replace(end_ns=end_ns)
        absorb(buffers, span)
        assert claim(buffers, after=5).spans == (span,)

    def test_the_first_format_is_the_traces(self, buffers):
        absorb(buffers, ROOT, format_name="otlp_protobuf")
        absorb(buffers, RETRIEVER, format_name="otlp_json")
        assert claim(buffers, after=5).format == "otlp_protobuf"

    def test_producers_clocks_decide_nothing(self, buffers):
        absorb(buffers, make_span(1, start=-(10**12), end=10**14))
        assert buffers.spans.claim(TRACE_ID) is None
        claim(buffers, after=5)


class TestLimits:
    def test_spans_over_the_limit_are_refused_and_close_the_trace(self, make_buffers):
        buffers = make_buffers(spans_at_most=3)
        absorbed = absorb(buffers, *(make_span(n + 2, 1, start=n) for n in range(5)))
        assert (absorbed.is_due, absorbed.new_spans, absorbed.refused_spans) == (True, 3, 2)
        claimed = claim(buffers)
        assert [span.span_id[-1] for span in claimed.spans] == ["2", "3", "4"]
        assert claimed.reason is ClosingReason.OVER_LIMIT
        assert "at most 3 spans" in claimed.warnings[0]

    def test_bytes_over_the_limit_are_refused_too(self, make_buffers):
        buffers = make_buffers(bytes_at_most=2000)
        absorb(buffers, ROOT)
        absorbed = absorb(buffers, make_span(2, 1, attributes={"text": "x" * 2000}))
        assert (absorbed.is_due, absorbed.new_spans, absorbed.refused_spans) == (True, 0, 1)
        assert claim(buffers).spans == (ROOT,)

    def test_a_first_span_that_does_not_fit_opens_nothing(self, make_buffers):
        buffers = make_buffers(bytes_at_most=100)
        absorbed = absorb(buffers, ROOT, whole=[TRACE_ID])
        assert (absorbed.is_due, absorbed.new_spans, absorbed.refused_spans) == (False, 0, 1)
        assert buffers.count_open() == 0

    def test_a_closed_trace_that_is_full_is_not_opened_by_more(self, make_buffers):
        buffers = make_buffers(spans_at_most=1)
        absorb(buffers, ROOT)
        close(buffers, after=0)
        assert absorb(buffers, LLM).refused_spans == 1
        assert buffers.count_open() == 0


class TestClaim:
    def test_what_is_not_there_cannot_be_claimed(self, buffers):
        assert buffers.spans.claim("f" * 32) is None

    def test_it_belongs_to_one_worker_until_the_lease_is_over(self, buffers):
        absorb(buffers, ROOT)
        claim(buffers, after=5)
        buffers.clock.advance(LEASE - 1)
        assert buffers.spans.claim(TRACE_ID) is None
        again = claim(buffers, after=1)
        assert (again.claims, again.unfinished_claims) == (2, 2)

    def test_a_redelivery_after_a_crash_before_the_claim_is_due_still(self, buffers):
        assert absorb(buffers, ROOT, LLM, whole=[TRACE_ID]).is_due
        again = absorb(buffers, ROOT, LLM, whole=[TRACE_ID])
        assert (again.is_due, again.new_spans) == (True, 0)
        claim(buffers)

    def test_a_redelivery_while_it_is_closed_is_not(self, buffers):
        absorb(buffers, ROOT, whole=[TRACE_ID])
        claim(buffers)
        assert not absorb(buffers, ROOT, whole=[TRACE_ID]).is_due

    def test_a_redelivery_after_a_crash_behind_the_claim_is_due_when_the_lease_is_over(self, buffers):
        absorb(buffers, ROOT, whole=[TRACE_ID])
        claim(buffers)
        buffers.clock.advance(LEASE)
        assert absorb(buffers, ROOT, whole=[TRACE_ID]).is_due
        assert claim(buffers).unfinished_claims == 2

    def test_all_there_now_makes_what_waited_due(self, buffers):
        absorb(buffers, ROOT)
        absorb(buffers, LLM)
        again = absorb(buffers, ROOT, LLM, whole=[TRACE_ID])
        assert (again.is_due, again.new_spans) == (True, 0)

    def test_a_clock_that_jumps_ahead_closes_and_one_that_jumps_back_loses_nothing(self, buffers):
        absorb(buffers, ROOT)
        buffers.clock.jump(-3600)
        assert buffers.spans.claim(TRACE_ID) is None
        absorb(buffers, LLM)
        assert len(claim(buffers, after=5).spans) == 2


class TestSettle:
    def test_a_settled_trace_is_closed(self, buffers):
        absorb(buffers, ROOT)
        close(buffers)
        buffers.clock.advance(10_000)
        assert buffers.spans.claim(TRACE_ID) is None
        assert buffers.count_open() == 0

    def test_the_same_spans_again_do_not_open_it(self, buffers):
        absorb(buffers, ROOT, whole=[TRACE_ID])
        close(buffers, after=0)
        absorbed = absorb(buffers, ROOT, whole=[TRACE_ID])
        assert (absorbed.is_due, absorbed.new_spans) == (False, 0)
        assert buffers.count_open() == 0

    def test_a_late_span_opens_it_for_a_quiet_time_with_all_its_spans(self, buffers):
        absorb(buffers, ROOT)
        admitted = AdmittedRecord(record_key="", app="shop", occurred_at=NOON)
        close(buffers, admitted=[admitted])
        buffers.clock.advance(20)
        assert not absorb(buffers, RETRIEVER).is_due
        assert buffers.count_open() == 1
        late = close(buffers, after=5)
        assert late.spans == (ROOT, RETRIEVER)
        assert (late.closed_before, late.admitted, late.version) == (True, (admitted,), 2)
        assert (late.claims, late.unfinished_claims) == (2, 1)

    def test_an_end_marker_of_before_does_not_close_a_reopened_trace(self, buffers):
        absorb(buffers, ROOT, make_span(9, 1, attributes={"ragsonde.trace.end": True}))
        close(buffers, after=0)
        assert not absorb(buffers, RETRIEVER).is_due

    def test_a_reopened_trace_has_its_longest_wait_again(self, buffers):
        absorb(buffers, ROOT)
        close(buffers, after=700)
        assert not absorb(buffers, RETRIEVER).is_due

    def test_where_a_record_was_stored_first_is_remembered(self, buffers):
        first = AdmittedRecord(record_key="", app="shop", occurred_at=NOON)
        second = AdmittedRecord(record_key="b", app="shop", occurred_at=NOON)
        absorb(buffers, ROOT)
        close(buffers, admitted=[first])
        absorb(buffers, LLM)
        close(buffers, admitted=[AdmittedRecord(record_key="", app="other", occurred_at=NOON), second])
        absorb(buffers, RETRIEVER)
        assert claim(buffers, after=5).admitted == (first, second)

    def test_spans_that_came_meanwhile_keep_it_open(self, buffers):
        absorb(buffers, ROOT)
        claimed = claim(buffers, after=5)
        buffers.clock.advance(10)
        assert not absorb(buffers, RETRIEVER, whole=[TRACE_ID]).is_due
        assert buffers.spans.settle(claimed, admitted=())
        late = claim(buffers)
        assert (late.spans, late.closed_before) == ((ROOT, RETRIEVER), True)

    def test_what_comes_while_it_is_closed_waits_for_a_quiet_time_of_its_own(self, make_buffers):
        buffers = make_buffers(max_wait_seconds=10)
        absorb(buffers, ROOT)
        claimed = claim(buffers, after=12)
        absorb(buffers, RETRIEVER)
        assert buffers.spans.settle(claimed, admitted=())
        assert buffers.spans.claim(TRACE_ID) is None
        assert claim(buffers, after=5).reason is ClosingReason.QUIET

    def test_who_lost_his_claim_settles_nothing(self, buffers):
        absorb(buffers, ROOT)
        lost = claim(buffers, after=5)
        current = claim(buffers, after=LEASE)
        assert not buffers.spans.settle(lost, admitted=())
        assert buffers.spans.settle(current, admitted=())
        assert not buffers.spans.settle(current, admitted=())

    def test_who_is_late_and_alone_may_settle(self, buffers):
        absorb(buffers, ROOT)
        claimed = claim(buffers, after=5)
        buffers.clock.advance(LEASE + 1)
        assert buffers.spans.settle(claimed, admitted=())


class TestSweeping:
    def test_what_is_due_is_taken_once_until_its_time_in_the_queue_is_over(self, buffers):
        absorb(buffers, ROOT)
        assert buffers.take_due() == []
        buffers.clock.advance(5)
        assert buffers.take_due() == [TRACE_ID]
        assert buffers.take_due() == []
        buffers.clock.advance(150)
        assert buffers.take_due() == [TRACE_ID]

    def test_what_is_due_at_once_is_left_to_who_brought_it(self, buffers):
        absorb(buffers, ROOT, whole=[TRACE_ID])
        assert buffers.take_due() == []
        buffers.clock.advance(150)
        assert buffers.take_due() == [TRACE_ID]

    def test_what_is_claimed_comes_when_the_lease_is_over(self, buffers):
        absorb(buffers, ROOT)
        claim(buffers, after=5)
        buffers.clock.advance(LEASE - 1)
        assert buffers.take_due() == []
        buffers.clock.advance(1)
        assert buffers.take_due() == [TRACE_ID]

    def test_a_span_that_comes_while_it_is_queued_makes_it_come_again(self, buffers):
        absorb(buffers, ROOT)
        buffers.clock.advance(5)
        buffers.take_due()
        absorb(buffers, LLM)
        assert buffers.spans.claim(TRACE_ID) is None
        buffers.clock.advance(5)
        assert buffers.take_due() == [TRACE_ID]

    def test_apps_take_turns_each_with_what_is_due_longest(self, buffers):
        def gather(number, app):
            span = make_span(1, trace_id=f"{number:032x}", resource={"service.name": app})
            buffers.spans.absorb((span,), format_name="otlp_json", whole=frozenset())
            buffers.clock.advance(0.01)

        for number in range(1, 6):
            gather(number, "loud")
        gather(6, "quiet")
        gather(7, "")
        buffers.clock.advance(5)
        taken = buffers.take_due(limit=4)
        assert [int(trace_id, 16) for trace_id in taken] == [1, 6, 7, 2]
        assert [int(trace_id, 16) for trace_id in buffers.take_due()] == [3, 4, 5]
        assert buffers.count_open() == 7


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
            AdmittedRecord(record_key=key, app=f"app {claimed.version}", occurred_at=NOON)
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
