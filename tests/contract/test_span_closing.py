"""What `ports.SpanBuffer.claim` and `settle` promise, held against the fake and Postgres."""

from __future__ import annotations

from builders.spans import TRACE_ID, make_span
from fakes.clock import NOON
from ragsonde_schemas.open_record import AdmittedRecord, ClosingReason
from services.span_buffers import LEASE_SECONDS, LLM, RETRIEVER, ROOT, absorb, claim, close


class TestClaim:
    def test_what_is_not_there_cannot_be_claimed(self, buffers):
        assert buffers.spans.claim("f" * 32) is None

    def test_it_belongs_to_one_worker_until_the_lease_is_over(self, buffers):
        absorb(buffers, ROOT)
        claim(buffers, after=5)
        buffers.clock.advance(LEASE_SECONDS - 1)
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
        buffers.clock.advance(LEASE_SECONDS)
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

    def test_of_a_record_that_is_remembered_only_the_place_stays(self, buffers):
        place = {"record_key": "", "app": "shop", "occurred_at": NOON}
        absorb(buffers, ROOT)
        close(buffers, admitted=[AdmittedRecord(**place, root_span_id="a", span_count=1)])
        absorb(buffers, LLM)
        grown = AdmittedRecord(**place | {"app": "other"}, turn_key="t", root_span_id="b", span_count=2)
        close(buffers, admitted=[grown])
        absorb(buffers, RETRIEVER)
        (known,) = claim(buffers, after=5).admitted
        assert known == grown.model_copy(update={"app": "shop"})

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
        current = claim(buffers, after=LEASE_SECONDS)
        assert not buffers.spans.settle(lost, admitted=())
        assert buffers.spans.settle(current, admitted=())
        assert not buffers.spans.settle(current, admitted=())

    def test_who_is_late_and_alone_may_settle(self, buffers):
        absorb(buffers, ROOT)
        claimed = claim(buffers, after=5)
        buffers.clock.advance(LEASE_SECONDS + 1)
        assert buffers.spans.settle(claimed, admitted=())
