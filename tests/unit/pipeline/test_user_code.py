"""A user's mapping or function that fails: the trace is stored, and its scores are errors."""

import json
import sys

import pytest

from fakes.judge import FakeJudge
from fakes.stages import make_stages
from fakes.traces import make_envelope
from fakes.user_code import DirectCalls
from ragsonde.extraction.mapping import Mappings
from ragsonde.extraction.mapping_options import ExtractionOptions
from ragsonde.pipeline.evaluate_trace import ingest
from ragsonde.resolving.resolver import UserCodeResolver
from ragsonde_schemas.errors import Cause

MODULE = "user_code_of_a_test"


FUNCTIONS = {
    "raises": lambda _trace: 1 / 0,
    "returns_numbers": lambda _trace: [1, 2],
    "exits": lambda _trace: sys.exit(3),
    "finds": lambda trace: [f"found for {trace.query}"],
    "finds_nothing": lambda _trace: [],
    "passes": lambda _trace: None,
}


@pytest.fixture(autouse=True)
def module(monkeypatch):
    """The functions, importable as a module of the user's."""
    made = type(sys)(MODULE)
    vars(made).update(FUNCTIONS)
    monkeypatch.setitem(sys.modules, MODULE, made)


def run(**entry):
    entries = [ExtractionOptions.model_validate(entry)]
    judges = FakeJudge("lexical"), FakeJudge("gpt", is_free=False, fingerprint="a" * 16)
    stages = make_stages(
        *judges, mappings=Mappings(entries), resolver=UserCodeResolver(entries, start_calls=DirectCalls)
    )
    ingest(make_envelope(), stages)
    return stages


def call(name, **options):
    return {"function": f"{MODULE}:{name}", **options}


def ends(stages):
    return {(stored.state.value, stored.result.cause) for stored in stages.traces.evaluations.values()}


@pytest.mark.parametrize(
    "contexts",
    [
        call("raises"),
        call("returns_numbers"),
        call("exits"),
        "length(query)",
        "sum(query)",
    ],
    ids=str,
)
def test_a_failure_is_an_error_of_every_scorer_and_asks_no_judge(contexts):
    stages = run(contexts=contexts)
    assert ends(stages) == {("failed", Cause.EXTRACTION_FAILED)}
    assert all(not assignment.judge.asked for assignment in stages.assignments.values())
    assert stages.parking.parked == []
    (stored, *_) = stages.traces.evaluations.values()
    assert {outcome.status for outcome in stored.result.outcomes} == {"error"}
    assert "contexts" in stored.trace.extraction.failure


def test_after_any_number_of_calls_that_hang_the_next_trace_is_scored(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sometimes.py").write_text(
        "import threading\n"
        "def contexts(trace):\n"
        "    if trace.app == 'hanging':\n"
        "        threading.Event().wait()\n"
        "    return ['found']\n"
    )
    source = {"function": "sometimes:contexts"}
    entries = [
        ExtractionOptions.model_validate(
            {"match": {"app": "hanging"}, "contexts": {**source, "timeout_seconds": 0.01}}
        ),
        ExtractionOptions.model_validate({"contexts": source}),
    ]
    stages = make_stages(FakeJudge("lexical"), mappings=Mappings(entries), resolver=UserCodeResolver(entries))
    for number in range(20):
        message = {"trace_id": f"t-{number}", "query": "q", "app": "hanging"}
        ingest(make_envelope(json.dumps(message).encode()), stages)
    ingest(make_envelope(json.dumps({"trace_id": "good", "query": "q"}).encode()), stages)

    states = [stored.state.value for stored in stages.traces.evaluations.values()]
    assert states == ["failed"] * 20 + ["scored"]


def test_what_a_function_finds_is_what_is_judged():
    stages = run(contexts=call("finds"))
    (trace, *_) = (one for one, _, _ in stages.sink.of("on_admitted"))
    assert [context.content for context in trace.contexts] == ["found for How long does a refund take?"]
    assert ends(stages) == {("scored", None)}


def test_nothing_found_is_final():
    assert ends(run(contexts=call("finds_nothing"))) == {("not_evaluable", Cause.FILTERED_EMPTY)}


def test_null_leaves_it_to_the_rules_and_is_told():
    stages = run(contexts=[call("passes"), "metadata.nowhere"])
    assert ends(stages) == {("scored", None)}
    assert stages.sink.of("on_mapped_to_nothing") == [("contexts",)]


def test_a_failure_that_is_gone_the_next_time_makes_a_revision_and_no_duplicate():
    stages = run(contexts=call("raises"))
    vars(sys.modules[MODULE])["raises"] = lambda _trace: None
    entries = [ExtractionOptions.model_validate({"contexts": call("raises")})]
    again = make_stages(
        *(assignment.judge for assignment in stages.assignments.values()),
        traces=stages.traces,
        mappings=Mappings(entries),
        resolver=UserCodeResolver(entries, start_calls=DirectCalls),
    )
    ingest(make_envelope(), again)
    (admission,) = (one for _, one, _ in again.sink.of("on_admitted"))
    assert admission.kind == "revision"
