"""A message's one trace is claimed with its admission; where anything else comes first, it is not."""

from __future__ import annotations

import json

import pytest

from fakes.judge import FakeJudge
from fakes.stages import make_stages
from fakes.traces import REFUND, make_envelope
from ragsonde.pipeline.evaluate_trace import ingest
from ragsonde_schemas.evaluation import EvaluationState


@pytest.fixture
def stages():
    return make_stages(
        FakeJudge("lexical"),
        FakeJudge("gpt", is_free=False, fingerprint="a" * 16),
        FakeJudge("opus", is_free=False, fingerprint="b" * 16),
    )


@pytest.fixture
def claimed(stages, monkeypatch):
    """The judges whose evaluations are claimed in a transaction of their own, as they are claimed."""
    seen, claim = [], stages.traces.claim
    monkeypatch.setattr(
        stages.traces, "claim", lambda key, **how: (seen.append(key.judge), claim(key, **how))[1]
    )
    return seen


def list_admissions(stages):
    return [admission for _, admission, _ in stages.sink.of("on_admitted")]


def test_of_one_trace_the_first_paid_evaluation_is_claimed_with_it(stages, claimed):
    ingest(make_envelope(), stages)
    assert claimed == ["opus"]
    assert {stored.starts for stored in stages.traces.evaluations.values()} == {0, 1}


def test_of_several_traces_none_is_claimed_before_its_turn(stages, claimed):
    messages = [{**REFUND, "trace_id": f"t-{number}"} for number in range(3)]
    ingest(make_envelope(json.dumps(messages).encode()), stages)
    assert claimed == ["gpt", "opus"] * 3
    assert [admission.claimed for admission in list_admissions(stages)] == [None] * 3


def test_of_a_duplicate_none_is_claimed_with_it(stages, claimed):
    for _ in range(2):
        ingest(make_envelope(), stages)
    assert list_admissions(stages)[1].claimed is None
    assert claimed == ["opus"]


def test_what_was_claimed_with_a_trace_is_guarded_like_any_other_evaluation(stages):
    guarded = []
    ingest(make_envelope(), stages, run=lambda key, work: guarded.append((key.judge, work)))
    assert [judge for judge, _ in guarded] == ["gpt", "opus"]
    evaluations = {key.judge: stored for key, stored in stages.traces.evaluations.items()}
    assert evaluations["gpt"].state is EvaluationState.RUNNING
    for _, work in guarded:
        work()
    assert {stored.state for stored in evaluations.values()} == {EvaluationState.SCORED}


def test_what_was_claimed_with_a_trace_is_not_begun_after_its_deadline(stages):
    """The lease began with the admission: so does the time for the evaluation."""
    works = []
    ingest(make_envelope(), stages, run=lambda _key, work: works.append(work))
    stages.clock.advance(stages.deadline_seconds)
    works[0]()
    (gpt,) = (stored for key, stored in stages.traces.evaluations.items() if key.judge == "gpt")
    assert (gpt.state, gpt.attempts) == (EvaluationState.WAITING, 0)
