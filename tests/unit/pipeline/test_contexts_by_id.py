"""Native messages whose contexts are ids: the texts are found, or the trace says that nobody knows them."""

import json
import sys
from types import ModuleType

from fakes.judge import FakeJudge
from fakes.stages import make_stages
from fakes.traces import make_envelope
from fakes.user_code import DirectCalls
from ragsonde.extraction.mapping import Mappings
from ragsonde.extraction.mapping_options import ExtractionOptions
from ragsonde.pipeline.evaluate_trace import ingest
from ragsonde.resolving.resolver import UserCodeResolver
from ragsonde_schemas.errors import Cause
from ragsonde_schemas.trace import ContextOrigin

MESSAGE = {
    "trace_id": "t-1",
    "query": "How long does a refund take?",
    "contexts": [{"id": "faq-12", "score": 0.9}, {"id": "faq-07", "content": None}],
    "answer": "14 days.",
}
TEXTS = {"faq-12": "A refund takes 14 days.", "faq-07": "Shipping takes three days."}


def admit(**changes):
    stages = make_stages(FakeJudge("lexical"), **changes)
    ingest(make_envelope(json.dumps(MESSAGE).encode()), stages)
    assert stages.parking.parked == []
    ((trace, _, _),) = stages.sink.of("on_admitted")
    return trace


def test_without_a_resolver_the_texts_are_missing_and_the_contexts_unknown():
    trace = admit()
    assert (trace.contexts, trace.extraction.gap) == (None, Cause.CONTEXT_TEXT_MISSING)


def test_a_resolver_gives_the_texts(monkeypatch):
    module = ModuleType("my_texts")
    module.read_texts = lambda ids: {name: TEXTS[name] for name in ids}
    monkeypatch.setitem(sys.modules, "my_texts", module)
    options = [ExtractionOptions.model_validate({"resolver": {"function": "my_texts:read_texts"}})]

    trace = admit(mappings=Mappings(options), resolver=UserCodeResolver(options, start_calls=DirectCalls))

    assert [(context.id, context.content, context.origin) for context in trace.contexts] == [
        ("faq-12", TEXTS["faq-12"], ContextOrigin.RESOLVER),
        ("faq-07", TEXTS["faq-07"], ContextOrigin.RESOLVER),
    ]
    assert trace.extraction.gap is None
