"""Messages of real libraries, damaged, through the whole pipeline: stored, waiting, filtered or parked."""

import copy
import json
import math
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fakes.judge import FakeJudge
from fakes.stages import make_stages
from fakes.traces import make_envelope
from ragsonde.pipeline.closing import close_record
from ragsonde.pipeline.evaluate_trace import ingest
from ragsonde_schemas.errors import ParkReason
from ragsonde_schemas.open_record import OpenRecordKey

FOLDER = Path(__file__).parents[2] / "data" / "samples"
SAMPLES = {
    path.name: json.loads(path.read_bytes())
    for path in sorted(FOLDER.glob("*.json"))
    if path.name != "MANIFEST.json" and not path.name.endswith(".expected.json")
}
ODD = st.sampled_from(
    [
        None,
        True,
        0,
        -1,
        1e300,
        2**70,
        "",
        "\0",
        "x",
        "[1",
        '{"a": [1]}',
        [],
        {},
        [[]],
        {"0": {}},
        [None],
        "\ud800",
        math.inf,
        math.nan,
        json.loads("[" * 70 + "]" * 70),
    ]
)


def list_places(value, place=()):
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield (*place, key)
        yield from list_places(item, (*place, key))


PLACES = {name: list(list_places(value)) for name, value in SAMPLES.items()}


@st.composite
def damaged(draw):
    """A sample of which up to three values are something else."""
    name = draw(st.sampled_from(sorted(SAMPLES)))
    value = copy.deepcopy(SAMPLES[name])
    for place in draw(st.lists(st.sampled_from(PLACES[name]), min_size=1, max_size=3)):
        target = value
        try:
            for key in place[:-1]:
                target = target[key]
            # a copy: a later place may lie in it
            target[place[-1]] = copy.deepcopy(draw(ODD))
        except (TypeError, LookupError):
            continue
    return json.dumps(value).encode()


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(damaged())
def test_every_message_has_a_known_end(body):
    stages = make_stages(FakeJudge("lexical"))
    ingest(make_envelope(body), stages)
    stages.clock.advance(3600)
    for trace_id in list(stages.spans.open):
        close_record(OpenRecordKey(trace_id=trace_id), stages)
    ends = {name for name in stages.sink.names() if name in {"on_admitted", "on_filtered", "on_parked"}}
    assert ends
    assert ParkReason.INTERNAL_ERROR not in {parked.reason for parked in stages.parking.parked}
    for trace, _, _ in stages.sink.of("on_admitted"):
        json.dumps(trace.model_dump(mode="json"), allow_nan=False).encode()


def test_a_part_that_cannot_be_kept_is_told_on_its_trace_and_costs_no_other_one():
    export = copy.deepcopy(SAMPLES["langchain_openinference.otlp.json"])
    (resource_spans,) = export["resourceSpans"]
    (scope_spans,) = resource_spans["scopeSpans"]
    others = copy.deepcopy(scope_spans["spans"])
    for span in others:
        span["traceId"] = "0" * 31 + "1"
    scope_spans["spans"][-1]["attributes"].append({"key": "cost", "value": {"doubleValue": math.nan}})
    scope_spans["spans"] += others
    stages = make_stages(FakeJudge("lexical"))

    ingest(make_envelope(json.dumps(export).encode()), stages)

    damaged, sound = sorted(
        (trace for trace, _, _ in stages.sink.of("on_admitted")),
        key=lambda trace: trace.trace_id,
        reverse=True,
    )
    assert stages.parking.parked == []
    assert (sound.trace_id, sound.extraction.warnings) == ("0" * 31 + "1", ())
    assert "found NaN" in damaged.extraction.warnings[0]
    assert [context.content for context in damaged.contexts] == [
        context.content for context in sound.contexts
    ]
