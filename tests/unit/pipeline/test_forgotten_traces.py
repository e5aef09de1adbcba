"""What was erased ends its way at the store: it is told, and nothing of it is remembered or run."""

from dataclasses import replace

import pytest

from builders.rag_spans import RAG_SPANS
from builders.spans import make_span, write_export
from fakes.judge import FakeJudge
from fakes.stages import make_stages
from fakes.traces import make_envelope
from ragsonde.pipeline.evaluate_trace import ingest
from ragsonde_schemas.evaluation import Admission
from ragsonde_schemas.open_record import AbsorbedTrace, LateEffect


class ForgettingTraces:
    """A store that was told to forget every trace."""

    def admit(self, trace, _planned, *, is_newest=False, claims_first=False):  # noqa: ARG002 - as the port says
        return Admission(kind="forgotten", key=trace.key, revision=0)


class ForgettingSpans:
    """A buffer that was told to forget every trace."""

    def absorb(self, spans, *, format_name, whole):  # noqa: ARG002 - as the port says
        ids = sorted({span.trace_id for span in spans})
        return [AbsorbedTrace(trace_id=one, is_due=False, new_spans=0, is_forgotten=True) for one in ids]


def fail_to_run(key, _work):
    pytest.fail(f"an erased trace is evaluated: {key}")


@pytest.fixture
def stages():
    return replace(make_stages(FakeJudge("lexical")), traces=ForgettingTraces())


def list_kinds(stages):
    return [admission.kind for _, admission, _ in stages.sink.of("on_admitted")]


def test_a_whole_message_is_told_as_forgotten_and_nothing_is_run(stages):
    ingest(make_envelope(), stages, run=fail_to_run)
    assert list_kinds(stages) == ["forgotten"]
    assert stages.parking.parked == []


def test_a_trace_of_spans_is_told_as_forgotten_and_its_place_is_not_remembered(stages):
    ingest(make_envelope(write_export(*RAG_SPANS)), stages, run=fail_to_run)
    assert list_kinds(stages) == ["forgotten"]
    assert stages.sink.of("on_filtered") == []  # the admission tells it
    stages.clock.advance(3600)
    ingest(make_envelope(write_export(make_span(9, 1))), stages, run=fail_to_run)
    claimed = stages.spans.claim(RAG_SPANS[0].trace_id)
    assert claimed is None or claimed.admitted == ()


def test_spans_that_are_not_kept_are_told(stages):
    deaf = replace(stages, spans=ForgettingSpans())
    ingest(make_envelope(write_export(*RAG_SPANS)), deaf, run=fail_to_run)
    assert deaf.sink.of("on_late_spans") == [(LateEffect.FORGOTTEN,)]
    assert list_kinds(deaf) == []
