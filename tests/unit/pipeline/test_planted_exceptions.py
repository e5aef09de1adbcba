"""An exception in any stage: the message is parked, the evaluation is in a known state, nothing is lost."""

import threading
from contextlib import nullcontext

import pytest
from celery import Celery

from builders.rag_spans import RAG_SPANS
from builders.spans import TRACE_ID, write_export
from fakes.judge import FakeJudge
from fakes.stages import make_stages, states
from fakes.stores import FakeSuspectStore
from fakes.traces import make_envelope
from ragsonde.intake.delivery_guard import DeliveryGuard
from ragsonde.intake.topology import TRACES, WORK
from ragsonde.intake.trace_consumer import INGEST
from ragsonde.pipeline import absorbing, admitting, closing, evaluate_trace, reading
from ragsonde.tasks import register_tasks
from ragsonde_schemas.errors import ParkReason


class PlantedError(Exception):
    pass


def explode(*_args, **_kwargs):
    raise PlantedError


def run(stages, envelope):
    guard = DeliveryGuard(
        parking=stages.parking,
        suspects=FakeSuspectStore(),
        sink=stages.sink,
        isolation=stages.isolation,
        stopping=threading.Event(),
    )
    app = Celery("test", set_as_current=False)
    register_tasks(app, stages=stages, guard=guard, in_flight=nullcontext)
    app.tasks[INGEST].run(envelope)


def make():
    return make_stages(FakeJudge("lexical"), FakeJudge("gpt", is_free=False, fingerprint="a" * 16))


def come_again(envelope):
    """Redelivered: it runs alone, and so may take up what was begun and never ended."""
    return envelope.model_copy(update={"redelivered": True})


def assert_parked_once(stages, *, queue, body=None):
    """The message is kept whole; of a fault in an evaluation it is our own work message that names it."""
    (parked,) = stages.parking.parked
    assert parked.reason is ParkReason.INTERNAL_ERROR
    assert "PlantedError" in parked.message
    assert parked.envelope.queue == queue
    assert b"refund-1" in parked.envelope.body
    assert body is None or parked.envelope.body == body


@pytest.mark.parametrize(
    ("module", "stage"),
    [
        (reading, "decode"),
        (reading, "find_fields"),
        (reading, "build_trace"),
        (admitting, "plan_evaluations"),
        (evaluate_trace, "judge_and_score"),
    ],
)
def test_in_a_pure_stage(module, stage, monkeypatch):
    stages, envelope = make(), make_envelope()
    with monkeypatch.context() as planted:
        planted.setattr(module, stage, explode)
        run(stages, envelope)
    if stage == "judge_and_score":
        assert_parked_once(stages, queue=WORK)
    else:
        assert_parked_once(stages, queue=TRACES, body=envelope.body)
    run(stages, envelope)
    wanted = {"lexical": "scored", "gpt": "failed" if stage == "judge_and_score" else "scored"}
    assert states(stages) == wanted


def test_while_it_is_told_whether_spans_are_whole_they_wait(monkeypatch):
    stages, envelope = make(), make_envelope(write_export(*RAG_SPANS))
    with monkeypatch.context() as planted:
        planted.setattr(absorbing, "is_whole", explode)
        run(stages, envelope)
    assert (stages.parking.parked, states(stages)) == ([], {})
    run(stages, envelope)
    assert states(stages) == {"lexical": "scored", "gpt": "scored"}


@pytest.mark.parametrize(
    ("module", "stage"),
    [(closing, "gather_records"), (reading, "find_fields"), (admitting, "plan_evaluations")],
)
def test_while_spans_become_a_trace(module, stage, monkeypatch):
    stages, envelope = make(), make_envelope(write_export(*RAG_SPANS))
    with monkeypatch.context() as planted:
        planted.setattr(module, stage, explode)
        run(stages, envelope)
    (parked,) = stages.parking.parked
    assert parked.reason is ParkReason.INTERNAL_ERROR
    assert TRACE_ID in parked.message
    assert TRACE_ID.encode() in parked.envelope.body
    stages.clock.advance(151)  # the lease of the spans that were claimed is over
    run(stages, come_again(envelope))
    assert states(stages) == {"lexical": "scored", "gpt": "scored"}


@pytest.mark.parametrize("method", ["absorb", "claim", "settle"])
def test_in_the_span_buffer(method, monkeypatch):
    stages, envelope = make(), make_envelope(write_export(*RAG_SPANS))
    with monkeypatch.context() as planted:
        planted.setattr(stages.spans, method, explode)
        run(stages, envelope)
    assert [parked.reason for parked in stages.parking.parked] == [ParkReason.INTERNAL_ERROR]
    stages.clock.advance(151)
    run(stages, come_again(envelope))
    assert states(stages) == {"lexical": "scored", "gpt": "scored"}


@pytest.mark.parametrize("method", ["admit", "finish"])
def test_in_the_store(method, monkeypatch):
    stages, envelope = make(), make_envelope()
    with monkeypatch.context() as planted:
        planted.setattr(stages.traces, method, explode)
        run(stages, envelope)
    assert_parked_once(stages, queue=TRACES if method == "admit" else WORK)
    stages.clock.advance(151)  # the lease of what was claimed is over
    run(stages, come_again(envelope))
    assert states(stages) == {"lexical": "scored", "gpt": "scored"}


def test_in_the_claim_of_a_second_judges_evaluation(monkeypatch):
    judges = [FakeJudge(name, is_free=False, fingerprint=name[0] * 16) for name in ("bard", "claude")]
    stages, envelope = make_stages(*judges), make_envelope()
    with monkeypatch.context() as planted:
        planted.setattr(stages.traces, "claim", explode)
        run(stages, envelope)
    assert_parked_once(stages, queue=WORK)
    assert states(stages) == {"bard": "scored", "claude": "waiting"}
    run(stages, envelope)
    assert states(stages) == {"bard": "scored", "claude": "scored"}


@pytest.mark.parametrize("judge", ["lexical", "gpt"])
def test_in_a_judge(judge):
    stages = make()
    stages.assignments[judge].judge._troubles.append(PlantedError())
    envelope = make_envelope()
    run(stages, envelope)
    assert_parked_once(stages, queue=TRACES if judge == "lexical" else WORK)
    run(stages, envelope)
    assert states(stages) == {"lexical": "scored", "gpt": "failed" if judge == "gpt" else "scored"}


def test_in_the_formulas_the_scorers_are_errors_and_the_trace_is_kept(monkeypatch):
    stages = make()
    broken = stages.scorers[0]
    monkeypatch.setattr(type(broken.formula), "compute", property(lambda _: explode), raising=False)
    envelope = make_envelope()
    run(stages, envelope)
    assert stages.parking.parked == []
    assert set(states(stages).values()) == {"failed"}
