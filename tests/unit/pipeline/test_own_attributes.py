"""Spans with attributes of the application's own: a trace where the user's mapping says how to read them."""

import pytest

from builders.spans import make_span, write_export
from fakes.judge import FakeJudge
from fakes.stages import make_stages
from fakes.traces import make_envelope
from ragsonde.extraction.mapping import Mappings
from ragsonde.extraction.mapping_options import ExtractionOptions
from ragsonde.pipeline.closing import close_record
from ragsonde.pipeline.evaluate_trace import ingest
from ragsonde.resolving.resolver import UserCodeResolver
from ragsonde_schemas.open_record import FilterCause, OpenRecordKey

MAPPING = {
    "query": 'attributes."acme.ask"',
    "contexts": 'spans[].attributes."acme.found" | [0]',
    "answer": 'attributes."acme.said"',
}
ROOT = make_span(
    1, attributes={"acme.ask": "How long?", "acme.said": "14 days."}, resource={"service.name": "s"}
)
SEARCH = make_span(2, 1, attributes={"acme.found": ["It takes 14 days.", "Free."]})


def run(*spans, entries):
    options = [ExtractionOptions.model_validate(entry) for entry in entries]
    stages = make_stages(FakeJudge("lexical"), mappings=Mappings(options), resolver=UserCodeResolver(options))
    ingest(make_envelope(write_export(*spans)), stages)
    stages.clock.advance(5)
    close_record(OpenRecordKey(trace_id=ROOT.trace_id), stages)
    return stages


def test_a_mapping_makes_a_trace_of_spans_that_no_convention_knows():
    stages = run(ROOT, SEARCH, entries=[MAPPING])
    ((trace, admission, _),) = stages.sink.of("on_admitted")
    assert (trace.query, trace.answer, trace.app) == ("How long?", "14 days.", "s")
    assert [context.content for context in trace.contexts] == ["It takes 14 days.", "Free."]
    assert admission.kind == "new"


@pytest.mark.parametrize(
    "entries", [[], [{"match": {"app": "other"}, **MAPPING}], [{"query": "attributes.nowhere"}]]
)
def test_without_a_mapping_that_finds_anything_they_are_filtered(entries):
    stages = run(ROOT, SEARCH, entries=entries)
    assert stages.sink.of("on_admitted") == []
    assert stages.sink.of("on_filtered") == [(FilterCause.NOT_RAG,)]
