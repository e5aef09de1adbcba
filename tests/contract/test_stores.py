"""What `ports.TraceStore`, `ParkingStore` and `SuspectStore` promise, held against the fakes and Postgres."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime, timedelta

import pytest

from fakes.clock import NOON
from fakes.evaluations import (
    FREE,
    FREE_PRINT,
    PAID,
    PAID_PRINT,
    make_assessment,
    make_calls,
    make_full_trace,
    make_outage_call,
    make_result,
    make_trace,
    plan_free,
    plan_paid,
)
from ragsonde_schemas.envelope import Envelope
from ragsonde_schemas.errors import Cause, ParkReason
from ragsonde_schemas.evaluation import EvaluationKey, EvaluationResult, EvaluationState, PlannedEvaluation
from ragsonde_schemas.trace import TraceKey
from services.stores import name_outcome

S = EvaluationState
ENDS = (S.SCORED, S.NOT_EVALUABLE, S.FAILED)
LEASE = 150


def key_of(trace, judge=PAID, *, revision=1):
    fingerprint = FREE_PRINT if judge == FREE else PAID_PRINT
    return EvaluationKey(trace=trace.key, revision=revision, judge=judge, fingerprint=fingerprint)


def admit(stores, trace, *planned):
    return stores.traces.admit(trace, planned or (plan_free(), plan_paid()))


def claim(stores, trace, **which):
    claimed = stores.traces.claim(key_of(trace, **which))
    assert claimed is not None
    return claimed


class TestAdmit:
    def test_what_a_backfill_brought_is_left_to_it(self, stores):
        trace = make_trace()
        planned = plan_paid().model_copy(update={"backfill_id": 7})
        assert admit(stores, trace, planned).pending == ()
        assert admit(stores, trace, planned).pending == ()
        stores.clock.advance(LEASE)
        assert stores.take_due() == []
        claimed = claim(stores, trace)
        assert (claimed.backfill_id, claimed.starts) == (7, 1)

    def test_a_new_trace_is_stored_with_the_free_result_and_the_paid_one_waiting(self, stores):
        trace = make_trace()
        admission = admit(stores, trace)
        assert admission.kind == "new"
        assert admission.is_stored
        assert (admission.key, admission.revision, admission.superseded) == (trace.key, 1, 0)
        assert admission.pending == (key_of(trace),)
        free = stores.look(key_of(trace, FREE))
        assert free.state is S.SCORED
        assert free.assessment == make_assessment()
        assert len(free.outcomes) == 2
        assert stores.look(key_of(trace)).state is S.WAITING

    @pytest.mark.parametrize("state", [S.SAMPLED_OUT, S.FILTERED, S.SHED])
    def test_what_is_left_out_is_stored_and_not_pending(self, stores, state):
        trace = make_trace()
        assert admit(stores, trace, plan_paid(state)).pending == ()
        assert stores.look(key_of(trace)).state is state
        assert stores.traces.claim(key_of(trace)) is None

    @pytest.mark.parametrize("state", [S.NOT_EVALUABLE, S.FAILED])
    def test_a_result_without_a_number_is_stored_with_its_cause(self, stores, state):
        trace = make_trace()
        result = make_result(state)
        planned = PlannedEvaluation(
            judge=PAID, fingerprint=PAID_PRINT, state=state, sample_rate=1, result=result
        )
        admit(stores, trace, planned)
        seen = stores.look(key_of(trace))
        assert (seen.state, seen.cause, len(seen.outcomes)) == (state, result.cause, 2)

    @pytest.mark.parametrize("state", [S.RUNNING, S.SUPERSEDED])
    def test_nothing_is_born_half_way(self, stores, state):
        with pytest.raises(ValueError, match=state):
            admit(stores, make_trace(), plan_paid(state))
        assert stores.count_revisions("t-1") == 0

    def test_a_trace_without_any_judge_is_stored(self, stores):
        assert stores.traces.admit(make_trace(), ()).kind == "new"
        assert stores.count_revisions("t-1") == 1

    def test_the_same_content_again_is_a_duplicate_and_changes_nothing(self, stores):
        trace = make_trace()
        admit(stores, trace)
        again = admit(stores, trace, plan_free(raw=0.1), plan_paid())
        assert (again.kind, again.is_stored, again.revision) == ("duplicate", False, 1)
        assert again.pending == (key_of(trace),)
        assert stores.count_revisions("t-1") == 1
        assert any('"raw": 0.8' in outcome for outcome in stores.look(key_of(trace, FREE)).outcomes)

    def test_a_redelivery_after_a_crash_finds_the_running_evaluation(self, stores):
        trace = make_trace()
        admit(stores, trace)
        claim(stores, trace)
        assert admit(stores, trace).pending == (key_of(trace),)

    def test_a_duplicate_of_finished_work_has_nothing_pending(self, stores):
        trace = make_trace()
        admit(stores, trace)
        stores.traces.finish(claim(stores, trace), make_result())
        assert admit(stores, trace).pending == ()

    def test_other_content_is_the_next_revision_and_supersedes_the_older_ones(self, stores):
        first, second = make_trace(answer="a"), make_trace(answer="b")
        admit(stores, first)
        admission = admit(stores, second)
        assert (admission.kind, admission.revision, admission.superseded) == ("revision", 2, 2)
        assert admission.pending == (key_of(second, revision=2),)
        assert stores.look(key_of(first, FREE)).state is S.SUPERSEDED
        assert stores.look(key_of(first)).state is S.SUPERSEDED
        assert stores.look(key_of(second, FREE, revision=2)).state is S.SCORED
        assert stores.traces.claim(key_of(first)) is None

    def test_scores_are_counted_as_superseded_once(self, stores):
        counts = [admit(stores, make_trace(answer=answer)).superseded for answer in "abc"]
        assert counts == [0, 2, 2]

    def test_a_fourth_revision_is_not_stored(self, stores):
        for answer in "abc":
            admit(stores, make_trace(answer=answer))
        fourth = admit(stores, make_trace(answer="d"))
        assert (fourth.kind, fourth.revision, fourth.pending) == ("over_limit", 3, ())
        assert stores.count_revisions("t-1") == 3
        assert stores.look(key_of(make_trace(), FREE, revision=3)).state is S.SCORED

    def test_the_content_of_an_older_revision_is_a_duplicate_with_the_newest_work(self, stores):
        first, second = make_trace(answer="a"), make_trace(answer="b")
        admit(stores, first)
        admit(stores, second)
        again = admit(stores, first)
        assert (again.kind, again.revision) == ("duplicate", 1)
        assert again.pending == (key_of(second, revision=2),)
        assert stores.look(key_of(second, FREE, revision=2)).state is S.SCORED

    @pytest.mark.parametrize("field", ["app", "trace_id", "record_key"])
    def test_records_of_another_name_do_not_meet(self, stores, field):
        admit(stores, make_trace())
        other = make_trace().model_copy(update={field: "other"})
        assert admit(stores, other).kind == "new"

    def test_names_that_join_to_the_same_text_do_not_meet(self, stores):
        admit(stores, make_trace("b", app="a"))
        assert admit(stores, make_trace("", app="ab")).kind == "new"

    def test_eight_deliveries_at_once_are_one_row(self, stores):
        trace = make_trace()
        with ThreadPoolExecutor(8) as pool:
            kinds = list(pool.map(lambda _: admit(stores, trace).kind, range(8)))
        assert sorted(kinds) == ["duplicate"] * 7 + ["new"]
        assert stores.count_revisions("t-1") == 1

    def test_eight_contents_at_once_are_three_revisions(self, stores):
        with ThreadPoolExecutor(8) as pool:
            kinds = list(pool.map(lambda n: admit(stores, make_trace(answer=str(n))).kind, range(8)))
        assert sorted(kinds) == ["new"] + ["over_limit"] * 5 + ["revision"] * 2
        assert stores.count_revisions("t-1") == 3


class TestGuessedDay:
    def test_a_redelivery_after_midnight_finds_the_record_of_the_day_before(self, stores):
        before = datetime(2026, 6, 14, 23, 59, 59, tzinfo=UTC)
        first = make_trace(occurred_at=before, occurred_at_guessed=True)
        later = make_trace(occurred_at=before + timedelta(seconds=2), occurred_at_guessed=True)
        admit(stores, first)
        again = admit(stores, later)
        assert (again.kind, again.key) == ("duplicate", first.key)
        assert again.pending == (key_of(first),)

    @pytest.mark.parametrize("back", [timedelta(seconds=2), timedelta(days=1)])
    def test_a_redelivery_to_a_worker_whose_clock_is_behind_finds_the_record_of_the_day_after(
        self, stores, back
    ):
        after = datetime(2026, 6, 15, 0, 0, 1, tzinfo=UTC)
        first = make_trace(occurred_at=after, occurred_at_guessed=True)
        admit(stores, first)
        again = admit(stores, make_trace(occurred_at=after - back, occurred_at_guessed=True))
        assert (again.kind, again.key) == ("duplicate", first.key)

    def test_a_revision_after_midnight_keeps_the_first_time(self, stores):
        before = datetime(2026, 6, 14, 23, 59, 59, tzinfo=UTC)
        first = make_trace(answer="a", occurred_at=before, occurred_at_guessed=True)
        later = make_trace(answer="b", occurred_at=before + timedelta(hours=3), occurred_at_guessed=True)
        admit(stores, first)
        admission = admit(stores, later)
        assert (admission.kind, admission.key, admission.revision) == ("revision", first.key, 2)
        claimed = stores.traces.claim(admission.pending[0])
        assert claimed.trace.occurred_at == before
        assert claimed.trace.key == claimed.key.trace

    def test_two_days_later_it_is_another_record(self, stores):
        first = make_trace(occurred_at=NOON - timedelta(days=2), occurred_at_guessed=True)
        admit(stores, first)
        assert admit(stores, make_trace(occurred_at_guessed=True)).kind == "new"

    def test_a_time_that_the_producer_gave_is_not_looked_up_elsewhere(self, stores):
        admit(stores, make_trace(occurred_at=NOON - timedelta(days=1)))
        assert admit(stores, make_trace()).kind == "new"

    def test_a_guess_gives_way_to_the_time_the_producer_gave_before(self, stores):
        given = make_trace(answer="a", occurred_at=NOON - timedelta(hours=20))
        admit(stores, given)
        admission = admit(stores, make_trace(answer="b", occurred_at_guessed=True))
        assert admission.key == given.key
        assert admission.key.day == date(2026, 6, 14)
        assert stores.traces.claim(admission.pending[0]).trace.occurred_at == given.occurred_at


class TestAdmitAndClaim:
    """The first evaluation that waits, claimed with its trace: as if it had been claimed right after."""

    def admit(self, stores, trace, *planned):
        return stores.traces.admit(trace, planned or (plan_free(), plan_paid()), claims_first=True)

    def test_it_is_what_a_claim_right_after_would_have_given(self, stores):
        trace, twin = make_full_trace(), make_full_trace("t-twin")
        admission = self.admit(stores, trace)
        admit(stores, twin)
        later = claim(stores, twin)
        assert admission.pending == ()
        key, claimed = key_of(trace), admission.claimed
        assert claimed == later.model_copy(update={"key": key, "trace": trace})
        assert claimed.trace.sentences == later.trace.sentences
        assert stores.look(key) == stores.look(key_of(twin))

    def test_nobody_else_gets_it_while_its_lease_lasts(self, stores):
        trace = make_trace()
        self.admit(stores, trace)
        stores.clock.advance(LEASE)
        assert stores.traces.claim(key_of(trace)) is None
        assert admit(stores, trace).pending == (key_of(trace),)

    def test_of_a_process_that_died_it_is_due_again_when_the_lease_is_over(self, stores):
        trace = make_trace()
        dead = self.admit(stores, trace).claimed
        assert stores.take_due() == []
        stores.clock.advance(LEASE + 1)
        assert stores.take_due() == [key_of(trace)]
        assert claim(stores, trace).unfinished_starts == 2
        assert stores.traces.finish(dead, make_result()) is None

    def test_it_ends_like_any_other(self, stores):
        trace = make_trace()
        claimed = self.admit(stores, trace).claimed
        assert stores.traces.finish(claimed, make_result()) is S.SCORED
        assert stores.look(key_of(trace)).unfinished_starts == 0

    def test_it_may_be_put_back(self, stores):
        trace = make_trace()
        claimed = self.admit(stores, trace).claimed
        until = NOON + timedelta(seconds=20)
        assert stores.traces.postpone(claimed, until=until, cause=Cause.JUDGE_UNAVAILABLE)
        stores.clock.advance(20)
        assert claim(stores, trace).starts == 2

    def test_a_newer_revision_supersedes_it_while_it_runs(self, stores):
        first = make_trace(answer="a")
        claimed = self.admit(stores, first).claimed
        assert self.admit(stores, make_trace(answer="b")).claimed.key.revision == 2
        assert stores.traces.finish(claimed, make_result()) is S.SUPERSEDED

    def test_only_the_first_that_waits_is_claimed(self, stores):
        second = plan_paid().model_copy(update={"judge": "a-second"})
        out = plan_paid(S.SAMPLED_OUT).model_copy(update={"judge": "out"})
        admission = self.admit(stores, make_trace(), plan_free(), out, plan_paid(), second)
        assert admission.claimed.key == key_of(make_trace())
        assert [key.judge for key in admission.pending] == ["a-second"]
        assert stores.look(admission.pending[0]).state is S.WAITING

    def test_where_none_waits_none_is_claimed(self, stores):
        admission = self.admit(stores, make_trace(), plan_free(), plan_paid(S.SAMPLED_OUT))
        assert (admission.claimed, admission.pending) == (None, ())

    def test_of_a_duplicate_none_is_claimed(self, stores):
        trace = make_trace()
        admit(stores, trace)
        again = self.admit(stores, trace)
        assert (again.kind, again.claimed, again.pending) == ("duplicate", None, (key_of(trace),))

    def test_a_guess_gives_way_in_what_is_claimed_too(self, stores):
        given = make_trace(answer="a", occurred_at=NOON - timedelta(hours=20))
        admit(stores, given)
        guessed = make_trace(answer="b", occurred_at_guessed=True)
        claimed = self.admit(stores, guessed).claimed
        assert claimed.key.trace == claimed.trace.key == given.key
        assert claimed.trace.occurred_at == given.occurred_at


class TestClaim:
    def test_what_is_claimed_is_the_trace_as_it_was_admitted(self, stores):
        trace = make_full_trace()
        admit(stores, trace)
        claimed = claim(stores, trace)
        assert claimed.trace == trace
        assert claimed.trace.sentences == trace.sentences
        assert claimed.trace.sentences != ()
        assert (claimed.attempts, claimed.unfinished_starts) == (0, 1)
        assert claimed.waiting_since == NOON

    @pytest.mark.parametrize("contexts", [None, ()])
    def test_unknown_contexts_and_no_contexts_stay_apart(self, stores, contexts):
        trace = make_trace(contexts=contexts, reference=None)
        admit(stores, trace)
        assert claim(stores, trace).trace.contexts == contexts

    def test_an_unknown_evaluation_cannot_be_claimed(self, stores):
        assert stores.traces.claim(key_of(make_trace())) is None

    def test_what_has_no_texts_any_more_is_claimed_to_be_ended(self, stores):
        trace = make_full_trace()
        admit(stores, trace)
        stores.drop_texts(trace)
        claimed = claim(stores, trace)
        assert claimed.is_expired
        assert (claimed.trace.key, claimed.trace.release, claimed.trace.wish) == (
            trace.key,
            trace.release,
            trace.wish,
        )
        assert (claimed.trace.query, claimed.trace.contexts) == (None, None)
        failed = make_result(S.FAILED).model_copy(update={"cause": Cause.CONTENT_EXPIRED})
        assert stores.traces.finish(claimed, failed) is S.FAILED
        seen = stores.look(key_of(trace))
        assert (seen.cause, len(seen.outcomes), seen.attempts) == (Cause.CONTENT_EXPIRED, 2, 0)

    def test_of_two_claims_one_wins(self, stores):
        trace = make_trace()
        admit(stores, trace)
        with ThreadPoolExecutor(8) as pool:
            claims = list(pool.map(lambda _: stores.traces.claim(key_of(trace)), range(8)))
        assert sum(claimed is not None for claimed in claims) == 1

    def test_it_is_not_claimed_before_it_is_due(self, stores):
        trace = make_trace()
        admit(stores, trace)
        until = NOON + timedelta(seconds=60)
        stores.traces.postpone(claim(stores, trace), until=until, cause=Cause.JUDGE_UNAVAILABLE)
        stores.clock.advance(59)
        assert stores.traces.claim(key_of(trace)) is None
        stores.clock.advance(1)
        assert claim(stores, trace).waiting_since == NOON

    def test_a_lease_that_is_over_is_taken_over_and_counted(self, stores):
        trace = make_trace()
        admit(stores, trace)
        claim(stores, trace)
        stores.clock.advance(LEASE)
        assert stores.traces.claim(key_of(trace)) is None
        stores.clock.advance(1)
        assert claim(stores, trace).unfinished_starts == 2

    def test_a_clock_that_jumps_back_takes_no_lease_away(self, stores):
        trace = make_trace()
        admit(stores, trace)
        claimed = claim(stores, trace)
        stores.clock.jump(-3600)
        assert stores.traces.claim(key_of(trace)) is None
        assert stores.traces.finish(claimed, make_result()) is S.SCORED


class TestFinish:
    @pytest.mark.parametrize("state", ENDS)
    def test_it_ends_in_the_state_of_the_result(self, stores, state):
        trace = make_trace()
        admit(stores, trace)
        result = make_result(state, assessment=make_assessment(calls=make_calls()))
        assert stores.traces.finish(claim(stores, trace), result) is state
        seen = stores.look(key_of(trace))
        assert (seen.state, seen.cause, seen.unfinished_starts) == (state, result.cause, 0)
        assert seen.assessment == result.assessment
        assert seen.outcomes == {name_outcome(outcome) for outcome in result.outcomes}

    @pytest.mark.parametrize(
        ("cause", "attempts"),
        [
            (Cause.INVALID_REPLY, 1),
            (Cause.REPEATED_CRASH, 1),
            (Cause.JUDGE_UNAVAILABLE, 0),
            (Cause.JUDGE_RETIRED, 0),
            (Cause.CONTENT_EXPIRED, 0),
        ],
    )
    def test_a_failure_counts_as_an_attempt_where_it_is_the_traces_own(self, stores, cause, attempts):
        trace = make_trace()
        admit(stores, trace)
        result = make_result(S.FAILED).model_copy(update={"cause": cause})
        stores.traces.finish(claim(stores, trace), result)
        assert stores.look(key_of(trace)).attempts == attempts
        planned = PlannedEvaluation(
            judge=PAID, fingerprint=PAID_PRINT, state=S.FAILED, sample_rate=1, result=result
        )
        admit(stores, make_trace("born-failed"), planned)
        assert stores.look(key_of(make_trace("born-failed"))).attempts == attempts

    @pytest.mark.parametrize("state", sorted(set(S) - set(ENDS)))
    def test_no_run_ends_otherwise(self, stores, state):
        trace = make_trace()
        admit(stores, trace)
        result = EvaluationResult(state=state, outcomes=())
        with pytest.raises(ValueError, match=state):
            stores.traces.finish(claim(stores, trace), result)
        assert stores.look(key_of(trace)).state is S.RUNNING

    def test_the_second_time_nothing_is_written(self, stores):
        trace = make_trace()
        admit(stores, trace)
        claimed = claim(stores, trace)
        stores.traces.finish(claimed, make_result())
        before = stores.look(key_of(trace))
        assert stores.traces.finish(claimed, make_result(S.FAILED)) is None
        assert stores.look(key_of(trace)) == before

    def test_who_lost_the_lease_writes_nothing_before_the_other_has_finished(self, stores):
        trace = make_trace()
        admit(stores, trace)
        late = claim(stores, trace)
        stores.clock.advance(LEASE + 1)
        second = claim(stores, trace)
        assert stores.traces.finish(late, make_result(S.FAILED)) is None
        assert stores.traces.finish(second, make_result()) is S.SCORED

    def test_who_lost_the_lease_writes_nothing_after_the_other_has_finished(self, stores):
        trace = make_trace()
        admit(stores, trace)
        late = claim(stores, trace)
        stores.clock.advance(LEASE + 1)
        stores.traces.finish(claim(stores, trace), make_result())
        before = stores.look(key_of(trace))
        assert stores.traces.finish(late, make_result(S.FAILED)) is None
        assert stores.look(key_of(trace)) == before

    def test_an_old_claim_is_not_mistaken_for_a_new_one_after_a_postponement(self, stores):
        trace = make_trace()
        admit(stores, trace)
        late = claim(stores, trace)
        stores.clock.advance(LEASE + 1)
        second = claim(stores, trace)
        stores.traces.postpone(second, until=stores.clock.now(), cause=Cause.JUDGE_UNAVAILABLE)
        third = claim(stores, trace)
        assert third.unfinished_starts == late.unfinished_starts
        assert stores.traces.finish(late, make_result()) is None
        stores.traces.postpone(late, until=NOON, cause=Cause.INTERNAL_ERROR)
        assert stores.look(key_of(trace)).state is S.RUNNING
        assert stores.look(key_of(trace)).attempts == 0
        assert stores.traces.finish(third, make_result()) is S.SCORED

    def test_two_finishes_at_once_are_one(self, stores):
        trace = make_trace()
        admit(stores, trace)
        claimed = claim(stores, trace)
        with ThreadPoolExecutor(8) as pool:
            states = list(pool.map(lambda _: stores.traces.finish(claimed, make_result()), range(8)))
        assert states.count(S.SCORED) == 1
        assert states.count(None) == 7

    def test_a_newer_revision_makes_it_superseded_and_keeps_what_was_paid_for(self, stores):
        first = make_trace(answer="a")
        admit(stores, first)
        claimed = claim(stores, first)
        admit(stores, make_trace(answer="b"))
        assert stores.traces.finish(claimed, make_result()) is S.SUPERSEDED
        seen = stores.look(key_of(first))
        assert (seen.state, seen.unfinished_starts, len(seen.outcomes)) == (S.SUPERSEDED, 0, 2)
        assert stores.traces.finish(claimed, make_result()) is None

    def test_a_revision_that_came_while_it_waited_is_nothing_to_finish(self, stores):
        first = make_trace(answer="a")
        admit(stores, first)
        claimed = claim(stores, first)
        stores.traces.postpone(claimed, until=NOON, cause=Cause.JUDGE_UNAVAILABLE)
        admit(stores, make_trace(answer="b"))
        assert stores.traces.finish(claimed, make_result()) is None
        assert stores.look(key_of(first)).outcomes == frozenset()


class TestPostpone:
    def test_it_waits_with_the_cause_and_burns_no_attempt(self, stores):
        trace = make_trace()
        admit(stores, trace)
        assert stores.traces.postpone(claim(stores, trace), until=NOON, cause=Cause.JUDGE_UNAVAILABLE)
        seen = stores.look(key_of(trace))
        assert (seen.state, seen.cause, seen.attempts, seen.unfinished_starts) == (
            S.WAITING,
            Cause.JUDGE_UNAVAILABLE,
            0,
            0,
        )

    def test_the_calls_of_every_run_are_kept_in_their_order(self, stores):
        trace, outage = make_trace(), make_outage_call()
        admit(stores, trace)
        for _ in range(2):
            stores.traces.postpone(
                claim(stores, trace),
                until=NOON,
                cause=Cause.JUDGE_UNAVAILABLE,
                calls=(make_calls()[0], outage),
            )
        assert stores.look(key_of(trace)).calls == (make_calls()[0], outage) * 2
        result = make_result(assessment=make_assessment(calls=make_calls()))
        stores.traces.finish(claim(stores, trace), result)
        assert stores.look(key_of(trace)).calls == (make_calls()[0], outage) * 2 + make_calls()

    def test_the_calls_of_a_run_that_an_outage_ended_for_good_are_kept(self, stores):
        trace = make_trace()
        admit(stores, trace)
        failed = make_result(S.FAILED).model_copy(
            update={"cause": Cause.JUDGE_UNAVAILABLE, "calls_before_outage": (make_outage_call(),)}
        )
        assert stores.traces.finish(claim(stores, trace), failed) is S.FAILED
        seen = stores.look(key_of(trace))
        assert (seen.calls, seen.assessment, seen.attempts) == ((make_outage_call(),), None, 0)

    def test_a_claim_that_is_not_the_last_one_does_not_postpone(self, stores):
        trace = make_trace()
        admit(stores, trace)
        late = claim(stores, trace)
        stores.clock.advance(LEASE + 1)
        claim(stores, trace)
        calls = make_calls()
        assert stores.traces.postpone(late, until=NOON, cause=Cause.JUDGE_UNAVAILABLE, calls=calls) is False
        assert stores.look(key_of(trace)).calls == ()

    def test_what_is_finished_stays_finished(self, stores):
        trace = make_trace()
        admit(stores, trace)
        claimed = claim(stores, trace)
        stores.traces.finish(claimed, make_result())
        before = stores.look(key_of(trace))
        stores.traces.postpone(claimed, until=NOON, cause=Cause.INVALID_REPLY)
        assert stores.look(key_of(trace)) == before

    def test_what_was_superseded_meanwhile_stays_so(self, stores):
        first = make_trace(answer="a")
        admit(stores, first)
        claimed = claim(stores, first)
        admit(stores, make_trace(answer="b"))
        postponed = stores.traces.postpone(
            claimed, until=NOON, cause=Cause.JUDGE_UNAVAILABLE, calls=make_calls()
        )
        assert postponed is False
        assert stores.look(key_of(first)).state is S.SUPERSEDED
        assert stores.look(key_of(first)).calls == make_calls()
        assert stores.traces.claim(key_of(first)) is None
        assert stores.traces.finish(claimed, make_result()) is None

    def test_the_cause_of_waiting_is_gone_when_it_is_scored(self, stores):
        trace = make_trace()
        admit(stores, trace)
        stores.traces.postpone(claim(stores, trace), until=NOON, cause=Cause.JUDGE_UNAVAILABLE)
        stores.traces.finish(claim(stores, trace), make_result())
        assert stores.look(key_of(trace)).cause is None


class TestTakeDue:
    def test_what_was_just_born_is_left_to_its_own_task(self, stores):
        trace = make_trace()
        admit(stores, trace)
        stores.clock.advance(149)
        assert stores.take_due() == []
        stores.clock.advance(1)
        assert stores.take_due() == [key_of(trace)]

    def test_what_was_taken_is_not_taken_again_until_its_time_is_over(self, stores):
        admit(stores, make_trace())
        stores.clock.advance(150)
        assert len(stores.take_due()) == 1
        stores.clock.advance(149)
        assert stores.take_due() == []
        stores.clock.advance(1)
        assert len(stores.take_due()) == 1

    def test_what_was_postponed_is_taken_as_soon_as_it_is_due(self, stores):
        trace = make_trace()
        admit(stores, trace)
        until = NOON + timedelta(seconds=20)
        stores.traces.postpone(claim(stores, trace), until=until, cause=Cause.JUDGE_UNAVAILABLE)
        stores.clock.advance(19)
        assert stores.take_due() == []
        stores.clock.advance(1)
        assert stores.take_due() == [key_of(trace)]

    def test_a_run_whose_lease_is_over_is_taken(self, stores):
        trace = make_trace()
        admit(stores, trace)
        stores.clock.advance(100)
        claim(stores, trace)
        stores.clock.advance(LEASE)
        assert stores.take_due() == []
        stores.clock.advance(1)
        assert stores.take_due() == [key_of(trace)]
        assert claim(stores, trace).unfinished_starts == 2

    def test_no_more_are_taken_than_asked_for(self, stores):
        for number in range(5):
            admit(stores, make_trace(f"t-{number}"))
        for number in range(2):
            claim(stores, make_trace(f"t-{number}"))
        stores.clock.advance(1000)
        taken = [stores.take_due(limit=2) for _ in range(4)]
        assert [len(keys) for keys in taken] == [2, 2, 1, 0]
        assert len({key for keys in taken for key in keys}) == 5

    def test_what_has_ended_is_never_taken(self, stores):
        trace = make_trace()
        admit(stores, trace)
        stores.traces.finish(claim(stores, trace), make_result())
        stores.clock.advance(100_000)
        assert stores.take_due() == []


ENVELOPE = Envelope(
    body=b"\x00\xffnot json",
    body_bytes=10,
    message_key="m-1",
    received_at=NOON,
    headers={"traceparent": "00-x"},
)


class TestParking:
    def test_a_message_is_parked_once_for_a_reason(self, stores):
        def park(reason):
            return stores.parking.park(ENVELOPE, reason=reason, message="why", where="body")

        assert park(ParkReason.INVALID_JSON) is True
        assert park(ParkReason.INVALID_JSON) is False
        assert park(ParkReason.REPEATED_CRASH) is True
        assert stores.count_parked() == 2

    def test_another_message_with_the_same_reason_is_parked_too(self, stores):
        other = ENVELOPE.model_copy(update={"message_key": "m-2"})
        for envelope in (ENVELOPE, other):
            assert stores.parking.park(
                envelope, reason=ParkReason.EMPTY_BODY, message="empty", where="contexts[2].content"
            )
        assert stores.count_parked() == 2


class TestSuspects:
    def test_starts_are_counted_until_they_are_cleared(self, stores):
        assert [start(stores, "m-1", delivery=n) for n in range(3)] == [1, 2, 3]
        assert start(stores, "m-2") == 1
        stores.suspects.clear("m-1")
        assert start(stores, "m-1") == 1
        assert start(stores, "m-2", delivery=1) == 2

    def test_a_delivery_counts_once_however_often_it_is_begun(self, stores):
        assert [start(stores, "m-1", delivery=n) for n in (0, 0, 1, 1, 1)] == [1, 1, 2, 2, 2]

    def test_clearing_what_is_not_there_is_nothing(self, stores):
        stores.suspects.clear("m-1")

    def test_starts_at_once_are_all_counted(self, stores):
        with ThreadPoolExecutor(8) as pool:
            counts = list(pool.map(lambda n: start(stores, "m-1", delivery=n), range(8)))
        assert sorted(counts) == list(range(1, 9))


def start(stores, message_key, *, delivery=0):
    """The starts so far, when the delivery that came so many seconds after noon begins."""
    return stores.suspects.start(message_key, received_at=NOON + timedelta(seconds=delivery))


def test_a_key_without_app_is_a_key(stores):
    trace = make_trace(app="")
    admit(stores, trace)
    assert trace.key == TraceKey(app="", trace_id="t-1", day=NOON.date())
    assert claim(stores, trace).trace == trace
