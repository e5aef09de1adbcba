"""What `ports.SpanBuffer.absorb` promises, held against the fake and Postgres."""

from __future__ import annotations

from itertools import permutations

import pytest

from builders.spans import TRACE_ID, make_span
from fakes.clock import NOON, FakeClock
from ragsonde_schemas.open_record import ClosingReason
from ragsonde_schemas.span import SpanEvent
from services.span_buffers import LLM, OTHER_ID, RETRIEVER, ROOT, FakeBuffers, absorb, claim, close


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
