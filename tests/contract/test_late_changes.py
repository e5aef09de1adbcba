"""What late spans do to stored records, by `ports.TraceStore.warn` and `withdraw`: the fake and Postgres."""

from __future__ import annotations

import pytest

from fakes.evaluations import (
    FREE,
    FREE_PRINT,
    PAID,
    PAID_PRINT,
    make_result,
    make_trace,
    plan_free,
    plan_paid,
)
from ragsonde_schemas.errors import Cause
from ragsonde_schemas.evaluation import EvaluationKey, EvaluationState
from ragsonde_schemas.trace import Extraction, TraceKey

S = EvaluationState
HAS_SCORES = 2
"""So many outcomes has what `plan_free` makes."""


def key_of(trace, judge, revision=1):
    fingerprint = FREE_PRINT if judge == FREE else PAID_PRINT
    return EvaluationKey(trace=trace.key, revision=revision, judge=judge, fingerprint=fingerprint)


def read_warnings(stores, trace, revision=1):
    """As the paid judge's run of that revision finds them."""
    return stores.traces.claim(key_of(trace, PAID, revision)).trace.extraction.warnings


class TestWarn:
    def test_a_warning_comes_after_those_that_are_there(self, stores):
        trace = make_trace(extraction=Extraction(format="native", warnings=("a: b", "late: early")))
        stores.traces.admit(trace, (plan_paid(),))
        stores.traces.warn(trace.key, revision=1, subject="late spans", text="2 \N{SNOWMAN} 'x' %s {y}")
        assert read_warnings(stores, trace) == (
            "a: b",
            "late: early",
            "late spans: 2 \N{SNOWMAN} 'x' %s {y}",
        )

    def test_one_of_the_same_subject_is_replaced(self, stores):
        trace = make_trace()
        stores.traces.admit(trace, (plan_paid(),))
        for count in (1, 2, 2):
            stores.traces.warn(trace.key, revision=1, subject="late spans", text=f"{count} left out")
        assert read_warnings(stores, trace) == ("late spans: 2 left out",)

    def test_other_revisions_and_records_are_left_alone(self, stores):
        first, second, other = make_trace(), make_trace(answer="b"), make_trace(record_key="x")
        for trace in (first, second, other):
            stores.traces.admit(trace, (plan_paid(),))
        stores.traces.warn(first.key, revision=1, subject="late spans", text="left out")
        assert read_warnings(stores, second, revision=2) == ()
        assert read_warnings(stores, other) == ()


class TestWithdraw:
    def test_nothing_of_a_withdrawn_record_counts_any_more(self, stores):
        trace = make_trace()
        stores.traces.admit(trace, (plan_free(), plan_paid()))
        assert stores.traces.withdraw(trace.key) == HAS_SCORES
        assert {stores.look(key_of(trace, judge)).state for judge in (FREE, PAID)} == {S.SUPERSEDED}
        assert stores.traces.claim(key_of(trace, PAID)) is None

    def test_once_is_enough(self, stores):
        trace = make_trace()
        stores.traces.admit(trace, (plan_free(),))
        stores.traces.withdraw(trace.key)
        assert stores.traces.withdraw(trace.key) is None

    def test_where_nothing_was_scored_yet_no_score_is_counted(self, stores):
        trace = make_trace()
        stores.traces.admit(trace, (plan_paid(),))
        assert stores.traces.withdraw(trace.key) == 0

    def test_of_nothing_nothing_is_withdrawn(self, stores):
        other = make_trace(record_key="x")
        stores.traces.admit(other, (plan_free(),))
        unknown = TraceKey(**other.key.model_dump() | {"record_key": "y"})
        assert stores.traces.withdraw(unknown) is None
        assert stores.look(key_of(other, FREE)).state is S.SCORED

    @pytest.mark.parametrize("ending", ["finish", "postpone"])
    def test_a_run_that_was_going_on_ends_as_superseded(self, stores, ending):
        trace = make_trace()
        stores.traces.admit(trace, (plan_paid(),))
        claimed = stores.traces.claim(key_of(trace, PAID))
        stores.traces.withdraw(trace.key)
        if ending == "finish":
            assert stores.traces.finish(claimed, make_result()) is S.SUPERSEDED
        else:
            until = stores.clock.now()
            assert not stores.traces.postpone(claimed, until=until, cause=Cause.JUDGE_UNAVAILABLE)
        assert stores.look(key_of(trace, PAID)).state is S.SUPERSEDED


class TestWhatIsKnownByNow:
    def test_content_that_comes_back_counts_again(self, stores):
        first, second = make_trace(answer="a"), make_trace(answer="b")
        for trace in (first, second):
            stores.traces.admit(trace, (plan_free(),), is_newest=True)
        again = stores.traces.admit(first, (plan_free(),), is_newest=True)
        assert (again.kind, again.revision, again.superseded) == ("revision", 3, HAS_SCORES)
        states = [stores.look(key_of(first, FREE, revision)).state for revision in (1, 2, 3)]
        assert states == [S.SUPERSEDED, S.SUPERSEDED, S.SCORED]

    def test_an_old_delivery_come_again_stays_a_duplicate(self, stores):
        first, second = make_trace(answer="a"), make_trace(answer="b")
        for trace in (first, second):
            stores.traces.admit(trace, (plan_free(),))
        assert stores.traces.admit(first, (plan_free(),)).kind == "duplicate"
        assert stores.look(key_of(second, FREE, 2)).state is S.SCORED

    def test_the_same_once_more_is_a_duplicate(self, stores):
        trace = make_trace()
        stores.traces.admit(trace, (plan_free(),), is_newest=True)
        assert stores.traces.admit(trace, (plan_free(),), is_newest=True).kind == "duplicate"

    def test_what_was_withdrawn_and_comes_back_counts_again(self, stores):
        trace = make_trace()
        stores.traces.admit(trace, (plan_free(),), is_newest=True)
        stores.traces.withdraw(trace.key)
        assert stores.traces.admit(trace, (plan_free(),), is_newest=True).kind == "revision"
        assert stores.look(key_of(trace, FREE, 2)).state is S.SCORED
