"""A fault that one trace meets while spans are taken in or closed leaves the others of its message alone."""

import pytest

from builders.rag_spans import RAG_SPANS, make_rag_spans, make_root
from builders.spans import write_export
from fakes.judge import FakeJudge
from fakes.stages import make_stages
from fakes.traces import make_envelope
from ragsonde.pipeline import absorbing, admitting, closing, reading
from ragsonde.pipeline.closing import close_record
from ragsonde.pipeline.evaluate_trace import ingest
from ragsonde_schemas.errors import DatabaseLostError, ParkReason
from ragsonde_schemas.open_record import OpenRecordKey

BAD_ID = f"{2:032x}"
IDS = [f"{number:032x}" for number in range(1, 4)]
MESSAGE = write_export(*(span for trace_id in IDS for span in make_rag_spans(trace_id=trace_id)))


class PlantedError(Exception):
    """With content of a trace in its words, as a library's may have."""

    def __init__(self):
        super().__init__("secret content")


@pytest.fixture
def faults():
    return []


@pytest.fixture
def stages(faults):
    return make_stages(
        FakeJudge("lexical"), on_fault=lambda error, trace_id: faults.append((type(error), trace_id))
    )


def find_ids(value):
    """The trace ids that an argument is about."""
    if hasattr(value, "trace_id"):
        return {value.trace_id}
    if hasattr(value, "root"):
        return {value.root.trace_id}
    if isinstance(value, str):
        return {value}
    return {span.trace_id for span in value}


def plant(monkeypatch, place, name, *, error=PlantedError):
    """Makes a function raise for the bad trace."""
    real = getattr(place, name)

    def explode(first, *rest, **options):
        if BAD_ID in find_ids(first):
            raise error
        return real(first, *rest, **options)

    monkeypatch.setattr(place, name, explode)


def list_stored(stages):
    return sorted({trace.trace_id for trace in stages.traces.traces})


PLACES = [
    (absorbing, "is_whole"),
    (closing, "gather_records"),
    (reading, "find_fields"),
    (reading, "build_trace"),
    (admitting, "plan_evaluations"),
]


@pytest.mark.parametrize(("module", "name"), PLACES)
def test_in_a_pure_stage_the_others_are_scored_and_it_is_when_the_fault_is_gone(
    stages, faults, monkeypatch, module, name
):
    if name == "build_trace":
        real = module.build_trace
        monkeypatch.setattr(
            module,
            name,
            lambda found, **options: _raise() if found.trace_id == BAD_ID else real(found, **options),
        )
    else:
        plant(monkeypatch, module, name)
    ingest(make_envelope(MESSAGE), stages)
    assert list_stored(stages) == [IDS[0], IDS[2]]
    assert faults == [(PlantedError, BAD_ID)]
    monkeypatch.undo()
    stages.clock.advance(151)
    close_record(OpenRecordKey(trace_id=BAD_ID), stages)
    assert list_stored(stages) == IDS


@pytest.mark.parametrize(
    ("module", "name"), [place for place in PLACES if place[1] not in {"is_whole", "build_trace"}]
)
def test_it_is_parked_by_name_and_kind_without_its_words(stages, monkeypatch, module, name):
    plant(monkeypatch, module, name)
    ingest(make_envelope(MESSAGE), stages)
    (parked,) = stages.parking.parked
    assert parked.reason is ParkReason.INTERNAL_ERROR
    assert BAD_ID in parked.message
    assert "PlantedError" in parked.message
    assert "secret" not in parked.message
    assert BAD_ID.encode() in parked.envelope.body


@pytest.mark.parametrize("method", ["absorb", "claim", "settle"])
def test_in_the_buffer_the_others_are_scored(stages, faults, monkeypatch, method):
    plant(monkeypatch, stages.spans, method)
    ingest(make_envelope(MESSAGE), stages)
    assert set(list_stored(stages)) >= {IDS[0], IDS[2]}
    assert faults == [(PlantedError, BAD_ID)]
    (parked,) = stages.parking.parked
    assert (parked.reason, BAD_ID in parked.message) == (ParkReason.INTERNAL_ERROR, True)
    monkeypatch.undo()
    stages.clock.advance(151)
    ingest(make_envelope(MESSAGE), stages)
    assert list_stored(stages) == IDS
    assert len(stages.traces.traces) == 3


def test_a_message_of_which_a_trace_was_not_taken_in_is_kept_whole(stages, monkeypatch):
    plant(monkeypatch, stages.spans, "absorb")
    ingest(make_envelope(MESSAGE), stages)
    (parked,) = stages.parking.parked
    assert parked.envelope.body == MESSAGE


@pytest.mark.parametrize("method", ["absorb", "claim", "settle"])
def test_a_lost_database_is_no_fault_of_a_trace(stages, faults, monkeypatch, method):
    plant(monkeypatch, stages.spans, method, error=DatabaseLostError("Postgres is away"))
    with pytest.raises(DatabaseLostError):
        ingest(make_envelope(MESSAGE), stages)
    assert (faults, stages.parking.parked) == ([], [])


def test_a_fault_in_one_record_of_a_trace_leaves_its_other_records(stages, monkeypatch):
    second = make_root(11, answer="Yes.", start=200)
    real = reading.find_fields
    monkeypatch.setattr(
        reading,
        "find_fields",
        lambda record, **options: _raise() if record.record_key else real(record, **options),
    )
    ingest(make_envelope(write_export(*RAG_SPANS, second)), stages)
    stages.clock.advance(5)
    close_record(OpenRecordKey(trace_id=RAG_SPANS[0].trace_id), stages)
    assert [trace.record_key for trace in stages.traces.traces] == [""]
    monkeypatch.undo()
    stages.clock.advance(151)
    close_record(OpenRecordKey(trace_id=RAG_SPANS[0].trace_id), stages)
    assert [trace.record_key for trace in stages.traces.traces] == ["", second.span_id]


def test_a_fault_that_stays_is_tried_three_times_and_closed(stages, faults, monkeypatch):
    plant(monkeypatch, closing, "gather_records")
    ingest(make_envelope(MESSAGE), stages)
    for _ in range(5):
        stages.clock.advance(151)
        close_record(OpenRecordKey(trace_id=BAD_ID), stages)
    assert len(faults) == 3
    assert stages.spans.count_open() == 0
    assert [parked.reason for parked in stages.parking.parked] == [ParkReason.INTERNAL_ERROR]
    assert stages.sink.of("on_filtered") == []


def _raise():
    raise PlantedError
