"""Which gathered traces the sweeper takes, of the fake and of Postgres."""

from __future__ import annotations

from builders.spans import TRACE_ID, make_span
from services.span_buffers import LEASE_SECONDS, LLM, ROOT, absorb, claim


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
        buffers.clock.advance(LEASE_SECONDS - 1)
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
