"""Every received message is settled once: what is told of deliveries adds up, whatever they hold."""

import json
import threading
from contextlib import nullcontext

import pytest
from celery import Celery
from celery.exceptions import Reject
from hypothesis import given
from hypothesis import strategies as st

from builders.rag_spans import RAG_SPANS
from builders.spans import make_span, write_export
from fakes.judge import FakeJudge
from fakes.sink import FakeSink
from fakes.stages import make_stages, states
from fakes.stores import FakeSuspectStore
from fakes.traces import make_envelope
from ragsonde.intake.delivery_guard import DeliveryGuard
from ragsonde.intake.trace_consumer import INGEST, INGEST_FILE
from ragsonde.pipeline.evaluate_trace import ingest
from ragsonde.pipeline.message_account import MessageAccount
from ragsonde.tasks import register_tasks
from ragsonde_schemas.errors import DatabaseLostError, ParkReason
from ragsonde_schemas.ledger import MessageEnd as End

TRACE = {"query": "How long?", "contexts": ["14 days."], "answer": "14 days."}
GOOD = {"trace_id": "a", **TRACE}
NO_TRACE = {"trace_id": "b", "contexts": [1]}
# in the order in which one holds for the whole
ORDER = [End.PARKED, End.ACCEPTED, End.ABSORBED, End.DUPLICATE, End.FILTERED, End.RETURNED]


def settle(stages, *bodies, **envelope):
    """How each of the messages ended."""
    before = len(stages.sink.of("on_settled"))
    for body in bodies:
        encoded = body if isinstance(body, bytes) else json.dumps(body).encode()
        ingest(make_envelope(encoded, **envelope), stages)
    return [end for (end,) in stages.sink.of("on_settled")[before:]]


@pytest.mark.parametrize(
    ("bodies", "ends"),
    [
        ([GOOD], [End.ACCEPTED]),
        ([GOOD, GOOD], [End.ACCEPTED, End.DUPLICATE]),
        ([GOOD, {**GOOD, "answer": "15 days."}], [End.ACCEPTED, End.ACCEPTED]),
        ([{**GOOD, "answer": str(n)} for n in range(4)], [End.ACCEPTED] * 3 + [End.DUPLICATE]),
        ([b"junk"], [End.PARKED]),
        ([[GOOD, NO_TRACE]], [End.PARKED]),
        ([[GOOD, {**GOOD, "trace_id": "c"}]], [End.ACCEPTED]),
        ([GOOD, [GOOD, {**GOOD, "trace_id": "c"}]], [End.ACCEPTED, End.ACCEPTED]),
        ([write_export(make_span(1))], [End.ABSORBED]),
        ([write_export(*RAG_SPANS)] * 2, [End.ABSORBED, End.DUPLICATE]),
    ],
)
def test_a_message_ends_as(bodies, ends):
    stages = make_stages(FakeJudge("lexical"))
    assert settle(stages, *bodies) == ends
    assert len(stages.sink.of("on_received")) == len(bodies)


@given(st.lists(st.sampled_from(ORDER), max_size=6))
def test_of_what_holds_for_its_parts_the_first_in_order_holds_for_all(noted):
    sink = FakeSink()
    account = MessageAccount(sink)
    for end in noted:
        account.note(end)
    account.settle()
    account.settle(otherwise=End.PARKED)
    account.close(End.RETURNED)
    expected = min(noted, key=ORDER.index) if noted else End.FILTERED
    assert sink.told == [("on_received", ("unknown",)), ("on_settled", (expected,))]


def run(stages, envelope, *, stopping=None, lost=0, task=INGEST, suspects=None):
    guard = DeliveryGuard(
        parking=stages.parking,
        suspects=suspects or FakeSuspectStore(),
        sink=stages.sink,
        isolation=stages.isolation,
        stopping=stopping or threading.Event(),
        patience_seconds=60,
    )
    admit, losses = stages.traces.admit, [DatabaseLostError("away")] * lost

    def lose_first(*args, **kwargs):
        admission = admit(*args, **kwargs)
        if losses:
            raise losses.pop()
        return admission

    stages.traces.admit = lose_first
    app = Celery("test", set_as_current=False)
    register_tasks(
        app, stages=stages, guard=guard, in_flight=nullcontext, reads_files=lambda number: number == 7
    )
    app.tasks[task].run(envelope)


def test_what_is_tried_again_is_one_delivery(monkeypatch):
    monkeypatch.setattr("ragsonde.intake.delivery_guard._FIRST_PAUSE_SECONDS", 0.01)
    stages = make_stages(FakeJudge("lexical"))
    run(stages, make_envelope(), lost=2)
    assert len(stages.sink.of("on_received")) == 1
    # its trace was stored by the first try, whose answer was lost: the counts of rows tell no more
    assert stages.sink.of("on_settled") == [(End.DUPLICATE,)]


def test_what_goes_back_to_the_broker_is_settled_as_returned():
    stages, stopping = make_stages(FakeJudge("lexical")), threading.Event()
    stopping.set()
    with pytest.raises(Reject):
        run(stages, make_envelope(), stopping=stopping, lost=1)
    assert (len(stages.sink.of("on_received")), stages.sink.of("on_settled")) == (1, [(End.RETURNED,)])


def test_what_the_guard_parks_is_settled_as_parked():
    stages = make_stages(FakeJudge("lexical"))
    stages.traces.admit = None
    run(stages, make_envelope().model_copy(update={"redelivered": True}))
    assert stages.sink.of("on_settled") == [(End.PARKED,)]


def test_a_message_of_a_file_is_taken_in_for_its_backfill():
    stages = make_stages(FakeJudge("lexical"))
    run(stages, make_envelope().model_copy(update={"message_id": "7"}), task=INGEST_FILE)
    assert stages.sink.of("on_settled") == [(End.ACCEPTED,)]
    assert {stored.backfill_id for stored in stages.traces.evaluations.values()} == {7}


@pytest.mark.parametrize("number", ["8", "", "-7", "7.0", "\N{SUPERSCRIPT SEVEN}", "9" * 30, None])
def test_a_message_of_a_file_of_no_backfill_is_parked(number):
    stages = make_stages(FakeJudge("lexical"))
    run(stages, make_envelope().model_copy(update={"message_id": number}), task=INGEST_FILE)
    (parked,) = stages.parking.parked
    assert parked.reason is ParkReason.INVALID_MESSAGE
    assert stages.sink.of("on_settled") == [(End.PARKED,)]
    assert not stages.traces.evaluations


@pytest.mark.parametrize("redelivered", [False, True])
def test_a_process_that_stops_begins_no_further_evaluation_of_a_delivery(redelivered):
    stopping = threading.Event()
    # a free one is asked with the admission
    stages = make_stages(FakeJudge("gpt", is_free=False), FakeJudge("claude", is_free=False))
    # SIGTERM comes while the first is asked
    stages.sink.on_finished = lambda *_: stopping.set()
    suspects = FakeSuspectStore()
    envelope = make_envelope().model_copy(update={"redelivered": redelivered})
    with pytest.raises(Reject):
        run(stages, envelope, stopping=stopping, suspects=suspects)
    assert (sorted(states(stages).values()), suspects.starts) == (["scored", "waiting"], {})
    assert stages.sink.of("on_settled") == [(End.ACCEPTED,)]
    run(stages, envelope.model_copy(update={"redelivered": True}), suspects=suspects)
    assert states(stages) == {"gpt": "scored", "claude": "scored"}
    assert stages.parking.parked == []
