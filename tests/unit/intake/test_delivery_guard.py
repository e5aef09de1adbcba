import threading
from datetime import timedelta

import pytest

from fakes.sink import FakeSink
from fakes.stores import FakeParkingStore, FakeSuspectStore
from fakes.traces import make_envelope
from ragsonde.intake import delivery_guard
from ragsonde.intake.delivery_guard import DeliveryGuard, PatienceEndedError, StoppingError
from ragsonde.intake.isolation import ThreadIsolation
from ragsonde_schemas.errors import DatabaseLostError, ParkReason, RepeatedCrashError


class Guarded:
    """A guard over fakes."""

    def __init__(self, *, patience_seconds=600.0):
        self.parking, self.suspects, self.sink = FakeParkingStore(), FakeSuspectStore(), FakeSink()
        self.isolation, self.stopping, self.database = ThreadIsolation(), threading.Event(), []
        self.guard = DeliveryGuard(
            parking=self.parking,
            suspects=self.suspects,
            sink=self.sink,
            isolation=self.isolation,
            stopping=self.stopping,
            patience_seconds=patience_seconds,
            on_database=self.database.append,
        )

    @property
    def reasons(self):
        return [parked.reason for parked in self.parking.parked]


class Never:
    """An event that is never set and never waits."""

    def wait(self, _seconds):
        return False


@pytest.fixture
def guarded():
    return Guarded()


@pytest.fixture
def _no_pauses(monkeypatch):
    monkeypatch.setattr(delivery_guard, "_FIRST_PAUSE_SECONDS", 0.001)
    monkeypatch.setattr(delivery_guard, "_LONGEST_PAUSE_SECONDS", 0.001)


def losing(times):
    """Work that loses the database so often, then succeeds."""
    calls = []

    def work():
        calls.append(1)
        if len(calls) <= times:
            raise DatabaseLostError("away")

    work.calls = calls
    return work


def test_work_that_succeeds_leaves_nothing_behind(guarded):
    guarded.guard.run_ingest(make_envelope(), lambda: None)
    assert guarded.parking.parked == []
    assert guarded.suspects.starts == {}


@pytest.mark.parametrize(
    "error", [ValueError("secret text of a trace"), RecursionError(), MemoryError(), KeyError()]
)
def test_any_other_exception_parks_the_message_with_its_type_and_never_its_text(guarded, error, caplog):
    def work():
        raise error

    guarded.guard.run_ingest(make_envelope(), work)
    (parked,) = guarded.parking.parked
    assert parked.reason is ParkReason.INTERNAL_ERROR
    assert type(error).__name__ in parked.message
    assert "secret" not in parked.message
    assert guarded.sink.of("on_parked") == [(ParkReason.INTERNAL_ERROR,)]
    assert "delivery_failed" in caplog.text


def test_the_same_message_is_parked_and_counted_once(guarded):
    for _ in range(2):
        guarded.guard.run_ingest(make_envelope(), lambda: 1 / 0)
    assert guarded.reasons == [ParkReason.INTERNAL_ERROR]
    assert guarded.sink.of("on_parked") == [(ParkReason.INTERNAL_ERROR,)]


@pytest.mark.usefixtures("_no_pauses")
def test_a_lost_database_keeps_the_delivery_and_tries_again(guarded):
    work = losing(3)
    guarded.guard.run_ingest(make_envelope(), work)
    assert len(work.calls) == 4
    assert guarded.parking.parked == []
    assert guarded.database == [False, False, False, True]


@pytest.mark.usefixtures("_no_pauses")
def test_patience_ends(caplog):
    guarded = Guarded(patience_seconds=0.005)
    with pytest.raises(PatienceEndedError, match="Postgres was away"):
        guarded.guard.run_ingest(make_envelope(), losing(10**6))
    assert guarded.parking.parked == []
    assert "database_lost" in caplog.text


def test_a_process_that_stops_gives_the_delivery_back(guarded):
    guarded.stopping.set()
    with pytest.raises(StoppingError):
        guarded.guard.run_ingest(make_envelope(), losing(10**6))


def test_a_redelivered_message_is_counted_before_its_work_and_forgotten_after(guarded):
    envelope = make_envelope(redelivered=True)
    seen = []
    guarded.guard.run_ingest(envelope, lambda: seen.append(dict(guarded.suspects.starts)))
    assert seen == [{envelope.message_key: 1}]
    assert guarded.suspects.starts == {}


def test_a_message_that_killed_the_process_twice_is_parked_at_its_third_start(guarded):
    envelope = make_envelope(redelivered=True)
    before = envelope.received_at - timedelta(minutes=1)
    guarded.suspects.start(envelope.message_key, received_at=before)  # the second start, which died
    guarded.guard.run_ingest(envelope, lambda: pytest.fail("it must not start a third time"))
    assert guarded.reasons == [ParkReason.REPEATED_CRASH]
    assert guarded.suspects.starts == {}


@pytest.mark.usefixtures("_no_pauses")
def test_a_lost_database_is_no_new_start_of_a_redelivered_message(guarded):
    work = losing(5)
    guarded.guard.run_ingest(make_envelope(redelivered=True), work)
    assert len(work.calls) == 6
    assert guarded.parking.parked == []
    assert guarded.suspects.starts == {}


@pytest.mark.usefixtures("_no_pauses")
def test_a_start_that_was_counted_and_not_answered_is_counted_once(guarded, monkeypatch):
    counted, answers = guarded.suspects.start, iter([DatabaseLostError("away after the commit")] * 3)

    def lose_answer(*arguments, **named):
        number = counted(*arguments, **named)
        for error in answers:
            raise error
        return number

    monkeypatch.setattr(guarded.suspects, "start", lose_answer)
    done = []
    guarded.guard.run_ingest(make_envelope(redelivered=True), lambda: done.append(1))
    assert (done, guarded.parking.parked) == ([1], [])


def test_patience_counts_the_time_that_attempts_take_too(guarded):
    seconds = iter([0.0, 300.0, 601.0])
    guarded.guard._monotonic = lambda: next(seconds)
    guarded.guard._stopping = Never()
    with pytest.raises(PatienceEndedError, match="601 s"):
        guarded.guard.run_ingest(make_envelope(), losing(10**6))


@pytest.mark.usefixtures("_no_pauses")
@pytest.mark.parametrize("error", [PatienceEndedError("over"), StoppingError("stopping")])
def test_what_must_stay_unacked_is_not_parked_by_the_guard_around_it(guarded, error):
    def work():
        raise error

    with pytest.raises(type(error)):
        guarded.guard.run_ingest(make_envelope(), work)
    assert guarded.parking.parked == []


def test_a_redelivered_message_runs_alone(guarded):
    inside = []
    guarded.guard.run_ingest(
        make_envelope(redelivered=True), lambda: inside.append(guarded.isolation._is_alone)
    )
    guarded.guard.run_ingest(make_envelope(), lambda: inside.append(guarded.isolation._is_alone))
    assert inside == [True, False]


def test_an_evaluation_that_crashed_too_often_is_parked_as_such(guarded):
    def work():
        raise RepeatedCrashError("evaluation")

    guarded.guard.run_work(make_envelope(), work)
    assert guarded.reasons == [ParkReason.REPEATED_CRASH]


@pytest.mark.usefixtures("_no_pauses")
def test_parking_waits_for_the_database_too(guarded):
    real, losses = guarded.parking.park, [1, 1]

    def park(*args, **kwargs):
        if losses:
            losses.pop()
            raise DatabaseLostError("away")
        return real(*args, **kwargs)

    guarded.parking.park = park
    guarded.guard.run_ingest(make_envelope(), lambda: 1 / 0)
    assert guarded.reasons == [ParkReason.INTERNAL_ERROR]


class RefusingParking(FakeParkingStore):
    """Fails at whatever has a body."""

    def park(self, envelope, **how):
        if envelope.body:
            raise UnicodeEncodeError("utf-8", "the secret of ada", 0, 1, "surrogates not allowed")
        return super().park(envelope, **how)


def test_a_message_that_cannot_be_kept_is_parked_without_its_body(guarded, caplog):
    guarded.parking = guarded.guard._parking = RefusingParking()
    envelope = make_envelope(b'{"query": "the secret of ada"}')
    guarded.guard.run_ingest(envelope, lambda: 1 / 0)
    (parked,) = guarded.parking.parked
    assert (parked.reason, parked.envelope.message_key) == (ParkReason.INTERNAL_ERROR, envelope.message_key)
    assert (parked.envelope.body, parked.envelope.body_bytes) == (b"", envelope.body_bytes)
    assert "UnicodeEncodeError" in parked.message
    assert "ada" not in caplog.text


def test_a_database_that_is_lost_while_parking_is_waited_for(guarded, monkeypatch):
    monkeypatch.setattr(delivery_guard, "_FIRST_PAUSE_SECONDS", 0.001)
    park, calls = guarded.parking.park, losing(1)
    monkeypatch.setattr(guarded.parking, "park", lambda *what, **how: (calls(), park(*what, **how))[1])
    guarded.guard.run_ingest(make_envelope(), lambda: 1 / 0)
    assert guarded.reasons == [ParkReason.INTERNAL_ERROR]
