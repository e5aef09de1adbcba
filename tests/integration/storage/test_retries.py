"""What Postgres gives up on is tried again by the stores, a bounded number of times."""

from __future__ import annotations

from contextlib import contextmanager

import pytest
from sqlalchemy import event, text

from fakes.clock import NOON, FakeClock
from fakes.evaluations import make_result, make_trace, plan_free, plan_paid
from ragsonde.storage.engine import build_engine
from ragsonde.storage.parking_store import PostgresParkingStore
from ragsonde.storage.retries import PAUSES_SECONDS, Retries
from ragsonde.storage.suspect_store import PostgresSuspectStore
from ragsonde.storage.trace_store import PostgresTraceStore
from ragsonde_schemas.envelope import Envelope
from ragsonde_schemas.errors import Cause, DatabaseLostError, GivenUpError, LockedOutError, ParkReason
from ragsonde_schemas.evaluation import EvaluationState

ENVELOPE = Envelope(body=b"x", body_bytes=1, message_key="m", received_at=NOON)
PAUSES = list(PAUSES_SECONDS)


class Failing:
    """Fails as it is told to, then has a result."""

    def __init__(self, *errors):
        self.errors = list(errors)
        self.attempts = 0

    def __call__(self):
        self.attempts += 1
        if self.errors:
            raise self.errors.pop(0)
        return "done"


@pytest.mark.parametrize("error", [GivenUpError, LockedOutError])
class TestRetries:
    def test_what_passes_is_not_noticed(self, error):
        pauses = []
        attempt = Failing(error("x"), error("x"))
        assert Retries(pauses.append).run(attempt) == "done"
        assert pauses == PAUSES

    def test_the_third_failure_is_raised(self, error):
        attempt = Failing(*[error("x")] * 5)
        with pytest.raises(error):
            Retries(lambda _: None).run(attempt)
        assert attempt.attempts == 3

    def test_where_there_is_no_other_way_out_it_is_a_loss(self, error):
        with pytest.raises(DatabaseLostError):
            Retries(lambda _: None).insist(Failing(*[error("x")] * 5))


@pytest.mark.parametrize("error", [DatabaseLostError("x"), ValueError("x")])
def test_nothing_else_is_tried_again(error):
    attempt = Failing(error)
    with pytest.raises(type(error)):
        Retries(lambda _: None).run(attempt)
    assert attempt.attempts == 1


@contextmanager
def keeping(engine, table):
    """Has every statement on the table wait until it is cancelled."""
    with engine.connect() as holder, holder.begin():
        holder.execute(text(f"LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE"))
        yield holder


@pytest.fixture
def hasty(postgres_url, engine):  # noqa: ARG001 - the tables are emptied
    """An engine whose statements have 100 ms."""
    hasty = build_engine(postgres_url, application_name="ragsonde test")

    @event.listens_for(hasty, "connect")
    def set_timeout(connection, _entry):
        connection.cursor().execute("SET statement_timeout = '100ms'")
        connection.commit()

    yield hasty
    hasty.dispose()


@pytest.mark.integration
class TestStores:
    def test_a_statement_that_is_too_slow_once_costs_nothing_but_time(self, engine, hasty):
        pauses = []
        with keeping(engine, "score") as holder:

            def wait(seconds):
                pauses.append(seconds)
                holder.rollback()

            store = PostgresTraceStore(hasty, clock=FakeClock(), retries=Retries(wait))
            assert store.admit(make_trace(), (plan_free(),)).kind == "new"
        assert pauses == PAUSES[:1]

    @pytest.mark.parametrize("operation", ["admit", "claim", "finish", "postpone"])
    def test_a_statement_that_is_always_too_slow_is_its_own_trouble_and_no_loss(
        self, engine, hasty, operation
    ):
        pauses = []
        store = PostgresTraceStore(hasty, clock=FakeClock(), retries=Retries(pauses.append))
        key = store.admit(make_trace(), (plan_paid(),)).pending[0]
        claimed = None if operation == "claim" else store.claim(key)
        operations = {
            "admit": lambda: store.admit(make_trace("t-2"), (plan_free(),)),
            "claim": lambda: store.claim(key),
            "finish": lambda: store.finish(claimed, make_result()),
            "postpone": lambda: store.postpone(claimed, until=NOON, cause=Cause.JUDGE_UNAVAILABLE),
        }
        with keeping(engine, "evaluation"), pytest.raises(GivenUpError):
            operations[operation]()
        assert pauses == PAUSES
        if claimed is not None:
            assert store.finish(claimed, make_result()) is EvaluationState.SCORED

    def test_what_cannot_even_be_parked_has_to_wait(self, engine, hasty):
        retries = Retries(lambda _: None)
        parking = PostgresParkingStore(hasty, clock=FakeClock(), retries=retries)
        suspects = PostgresSuspectStore(hasty, retries=retries)
        with keeping(engine, "parked_message"), keeping(engine, "suspect"):
            for call in (
                lambda: parking.park(ENVELOPE, reason=ParkReason.EMPTY_BODY, message="m", where="body"),
                lambda: suspects.start("m", received_at=NOON),
                lambda: suspects.clear("m"),
            ):
                with pytest.raises(DatabaseLostError, match="gave up"):
                    call()
