"""The invariants hold over all that stores do, and each is seen to break when a row is not as it must be."""

# ruff: noqa: S608 - made of constants of this file

from __future__ import annotations

from contextlib import contextmanager
from datetime import timedelta
from typing import NamedTuple

import pytest
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError

from fakes.clock import NOON, FakeClock
from fakes.evaluations import (
    PAID,
    make_assessment,
    make_calls,
    make_result,
    make_trace,
    plan_free,
    plan_paid,
)
from fakes.traces import make_envelope
from ragsonde.storage.ledger_reading import LedgerReader
from ragsonde.storage.parked_choice import ParkedChoice, select_parked
from ragsonde.storage.parking_store import count_parked
from ragsonde.storage.reopening import reopen_evaluation
from ragsonde.storage.replaying import drop_parked
from ragsonde_schemas.errors import Cause, ParkReason
from ragsonde_schemas.evaluation import EvaluationState
from ragsonde_schemas.ledger import MEANINGS, Invariant
from services.stores import PostgresStores

pytestmark = pytest.mark.integration
S = EvaluationState
DAY = timedelta(days=1)


@pytest.fixture
def stores(engine):
    return PostgresStores(FakeClock(), engine)


def read(stores, *, since=DAY, app=None, kept_days=90, verdict_days=None):
    now = stores.clock.now()
    reader = LedgerReader(stores.engine, kept_days=kept_days, verdict_days=verdict_days)
    return reader.read(now=now, since=now - since, app=app)


def broken(stores, **options):
    return {check.invariant: check.violations for check in read(stores, **options).checks if not check.holds}


def change(stores, sql, **columns):
    with stores.engine.begin() as connection:
        assert connection.execute(text(sql), columns).rowcount, f"nothing to break: {sql}"


def live(stores):
    """A day of everything that may happen to evaluations; the key of one that waits."""
    for number, state in enumerate((S.SCORED, S.NOT_EVALUABLE, S.FAILED)):
        (key,) = stores.traces.admit(make_trace(f"done-{number}"), (plan_free(), plan_paid())).pending
        stores.traces.finish(stores.traces.claim(key), make_result(state))
        if state is S.FAILED:
            reopen_evaluation(stores.engine, key, now=stores.clock.now())
            stores.traces.finish(stores.traces.claim(key), make_result(state))
    left_out = [plan_paid(state=state) for state in (S.SAMPLED_OUT, S.FILTERED, S.SHED)]
    for number, planned in enumerate(left_out):
        stores.traces.admit(make_trace(f"out-{number}"), (plan_free(), planned))
    (key,) = stores.traces.admit(make_trace("revised"), (plan_paid(),)).pending
    claimed = stores.traces.claim(key)
    stores.clock.advance(1)
    stores.traces.admit(make_trace("revised", answer="new"), (plan_paid(),))
    stores.traces.finish(claimed, make_result())
    withdrawn = make_trace("withdrawn")
    stores.traces.admit(withdrawn, (plan_free(), plan_paid()))
    stores.traces.withdraw(withdrawn.key)
    (dead,) = stores.traces.admit(make_trace("abandoned"), (plan_paid(),)).pending
    stores.traces.claim(dead)
    stores.clock.advance(3600)
    (waiting,) = stores.traces.admit(make_trace("waiting", app="other"), (plan_free(), plan_paid())).pending
    stores.traces.admit(make_trace("waiting", app="other"), (plan_free(), plan_paid()))
    return waiting


def test_it_holds_over_all_that_may_happen_and_everything_is_counted(stores):
    live(stores)
    ledger = read(stores)
    assert broken(stores) == {}
    assert ledger.holds
    assert ledger.revisions == 11
    totals = {judge: sum(counts.values()) for judge, counts in ledger.states.items()}
    assert totals[PAID] == 11
    assert ledger.states[PAID][S.SUPERSEDED] == 2
    assert read(stores, app="other").revisions == 1
    assert read(stores, since=timedelta(minutes=1)).revisions == 1


def test_rows_of_a_worker_of_the_version_before_and_judges_added_later_are_no_alarm(stores):
    stores.traces.admit(make_trace("old"), (plan_free(),))
    change(stores, "UPDATE trace SET evaluations_born = NULL")
    change(stores, "UPDATE evaluation SET scores_born = NULL")
    change(stores, "DELETE FROM score WHERE scorer <> 'context_precision'")
    stores.traces.admit(make_trace("new"), (plan_free(), plan_paid()))
    stores.traces.admit(make_trace("by the old configuration"), (plan_free(),))
    assert broken(stores) == {}


def test_one_that_failed_and_has_a_number_of_its_own_run_is_seen(stores):
    live(stores)
    set_score = "UPDATE score SET status = 'scored', raw = 1, cause = NULL WHERE trace_id = 'done-2'"
    change(stores, f"{set_score} AND judge = 'gpt' AND scorer = 'context_precision'")
    assert broken(stores) == {Invariant.FAILED_HAS_ERROR: 1}


def test_what_rescore_put_beside_a_run_is_not_taken_for_it(stores):
    (key,) = stores.traces.admit(make_trace(), (plan_paid(),)).pending
    stores.traces.finish(stores.traces.claim(key), make_result(S.FAILED, assessment=make_assessment()))
    change(
        stores,
        "INSERT INTO score (trace_id, app, record_key, revision, day, judge, fingerprint, scorer, version,"
        " created_at, status, raw, value, band, reason, details)"
        " SELECT trace_id, app, record_key, revision, day, judge, fingerprint, scorer, 'rescored',"
        " created_at - interval '1 millisecond', 'scored', 0.5, 0.5, 'fair', '', '{}' FROM score LIMIT 1",
    )
    assert broken(stores) == {}


def test_days_that_a_retention_has_reached_are_not_compared(stores):
    stores.traces.admit(make_trace(occurred_at=NOON - 7 * DAY), (plan_free(),))
    change(stores, "DELETE FROM evaluation")
    assert Invariant.REVISIONS_ARE_WHOLE in broken(stores)
    assert broken(stores, kept_days=7) == {}


class Breaking(NamedTuple):
    """A change that breaks one invariant, and the trace that breaks it then."""

    trace_id: str
    sql: str


OF_GPT = "trace_id = :trace_id AND judge = 'gpt'"
BREAKING = {
    Invariant.REVISIONS_ARE_WHOLE: Breaking("out-0", f"DELETE FROM evaluation WHERE {OF_GPT}"),
    Invariant.SCORED_HAS_SCORE: Breaking("done-0", f"DELETE FROM score WHERE {OF_GPT} AND status = 'scored'"),
    Invariant.SCORED_HAS_VERDICTS: Breaking(
        "done-0",
        f"WITH gone AS (DELETE FROM assessment WHERE {OF_GPT})"
        f" UPDATE evaluation SET calls = 1 WHERE {OF_GPT}",
    ),
    Invariant.SCORES_ARE_WHOLE: Breaking(
        "done-1", f"DELETE FROM score WHERE {OF_GPT} AND scorer = 'context_precision'"
    ),
    Invariant.SCORES_ARE_IN_RANGE: Breaking(
        "done-0", f"UPDATE score SET raw = 'NaN' WHERE {OF_GPT} AND scorer = 'context_precision'"
    ),
    Invariant.NOT_EVALUABLE_IS_SKIPPED: Breaking(
        "done-1", f"UPDATE score SET status = 'error' WHERE {OF_GPT}"
    ),
    Invariant.FAILED_HAS_ERROR: Breaking("done-2", f"DELETE FROM score WHERE {OF_GPT}"),
    Invariant.UNJUDGED_HAS_NO_SCORES: Breaking(
        "done-0", f"UPDATE evaluation SET state = 'shed' WHERE {OF_GPT}"
    ),
    Invariant.ONE_REVISION_COUNTS: Breaking(
        "revised", f"UPDATE evaluation SET state = 'scored' WHERE {OF_GPT} AND revision = 1"
    ),
    Invariant.SUPERSEDED_HAS_REASON: Breaking(
        "done-0", f"UPDATE evaluation SET state = 'superseded' WHERE {OF_GPT}"
    ),
    Invariant.UNENDED_COMES_DUE: Breaking(
        "abandoned", f"UPDATE evaluation SET lease_until = NULL WHERE {OF_GPT} AND state = 'running'"
    ),
    # the sweeper has taken another one, which has been due for a shorter time
    Invariant.RUNS_ARE_TAKEN_OVER: Breaking(
        "abandoned",
        "UPDATE evaluation SET queued_until = now() + interval '100 years'"
        " WHERE trace_id <> :trace_id AND trace_id = 'revised' AND state = 'waiting'",
    ),
    Invariant.RESERVATIONS_ARE_OF_RUNS: Breaking(
        "done-0", f"UPDATE evaluation SET reserved_at = created_at WHERE {OF_GPT}"
    ),
    Invariant.SCORES_HAVE_EVALUATION: Breaking("done-0", f"DELETE FROM evaluation WHERE {OF_GPT}"),
    Invariant.EVALUATIONS_HAVE_TRACE: Breaking("out-0", "DELETE FROM trace WHERE trace_id = :trace_id"),
}
BY_CONSEQUENCE = {
    Invariant.SCORES_HAVE_EVALUATION: {Invariant.REVISIONS_ARE_WHOLE},
    Invariant.SCORED_HAS_SCORE: {Invariant.SCORES_ARE_WHOLE},
    Invariant.FAILED_HAS_ERROR: {Invariant.SCORES_ARE_WHOLE},
}


@contextmanager
def allowing_any_number(stores):
    """Without the constraint that the version before does not have; rows that break it stay."""
    name = "ck_score_raw_is_in_range"
    change(stores, f"ALTER TABLE score DROP CONSTRAINT {name}")
    try:
        yield
    finally:
        change(stores, f"ALTER TABLE score ADD CONSTRAINT {name} CHECK (raw >= 0 AND raw <= 1) NOT VALID")


@pytest.mark.parametrize("invariant", Invariant)
def test_each_is_seen_to_break_with_the_trace_named(stores, invariant):
    live(stores)
    trace_id, sql = BREAKING[invariant]
    with allowing_any_number(stores):
        change(stores, sql, trace_id=trace_id)
    found = {check.invariant: check for check in read(stores).checks if not check.holds}
    assert set(found) - BY_CONSEQUENCE.get(invariant, set()) == {invariant}
    assert found[invariant].trace_ids == (trace_id,)
    assert broken(stores, app="nobody's") == {}
    assert set(MEANINGS) == set(Invariant)


def test_an_abandoned_run_is_no_alarm_while_nobody_sweeps_or_it_is_queued(stores):
    (key,) = stores.traces.admit(make_trace("abandoned"), (plan_paid(),)).pending
    stores.traces.claim(key)
    stores.traces.admit(make_trace("waits"), (plan_paid(),))
    stores.clock.advance(7200)
    assert broken(stores) == {}
    assert len(stores.take_due()) == 2
    assert broken(stores) == {}


def test_parked_messages_that_wait_are_told(stores):
    for key in ("one", "two"):
        envelope = make_envelope(b"{").model_copy(update={"message_key": key})
        stores.parking.park(envelope, reason=ParkReason.INVALID_JSON, message="cut off", where="body")
    (first, _) = select_parked(stores.engine, ParkedChoice())
    drop_parked(stores.engine, [first.id], now=stores.clock.now())
    assert sum(count_parked(stores.engine, since=stores.clock.now() - DAY).values()) == 1
    assert read(stores).parked == {ParkReason.INVALID_JSON: 1}


def test_a_postponed_one_is_no_alarm(stores):
    (key,) = stores.traces.admit(make_trace(), (plan_paid(),)).pending
    claimed = stores.traces.claim(key)
    stores.traces.postpone(claimed, until=stores.clock.now(), cause=Cause.JUDGE_UNAVAILABLE)
    assert broken(stores) == {}


def test_one_that_waits_for_ever_is_seen(stores):
    waiting = live(stores)
    never = "UPDATE evaluation SET next_attempt_at = NULL WHERE state = 'waiting' AND trace_id = :trace_id"
    change(stores, never, trace_id=waiting.trace.trace_id)
    assert broken(stores) == {Invariant.UNENDED_COMES_DUE: 1}


def test_verdicts_that_a_retention_has_taken_are_not_missed(stores):
    (key,) = stores.traces.admit(make_trace(occurred_at=NOON - 7 * DAY), (plan_paid(),)).pending
    stores.traces.finish(
        stores.traces.claim(key), make_result(assessment=make_assessment(calls=make_calls()))
    )
    change(stores, "DELETE FROM assessment")
    assert broken(stores) == {Invariant.SCORED_HAS_VERDICTS: 1}
    assert broken(stores, verdict_days=7) == {}


@pytest.mark.parametrize("raw", ["'NaN'", "1.001", "-0.001"])
def test_no_number_out_of_range_can_be_stored(stores, raw):
    live(stores)
    with pytest.raises(IntegrityError, match="raw_is_in_range"):
        change(stores, f"UPDATE score SET raw = {raw} WHERE status = 'scored'")
