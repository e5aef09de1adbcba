import pytest

from fakes.clock import NOON
from ragsonde.cli.story import tell_history
from ragsonde_schemas.history import GatheredSpans, TraceHistory
from ragsonde_schemas.open_record import ClosingReason


def tell(**options):
    history = TraceHistory(trace_id="demo-0001", revisions=(), parked=())
    return [line.text for line in tell_history(history, **options)]


def test_of_a_trace_that_was_never_seen_the_similar_ids_are_told_as_commands():
    first, *rest = tell(similar_ids=("20261130T015104-demo-0001", "demo-0001 b'"))

    assert first.startswith("demo-0001: never seen.")
    assert rest == [
        "stored ids that contain it, the newest days first:",
        "  ragsonde why 20261130T015104-demo-0001",
        "  ragsonde why 'demo-0001 b'\"'\"''",
    ]


def test_without_similar_ids_nothing_is_promised():
    assert len(tell()) == 1


SPANS = GatheredSpans(
    format="otlp_protobuf",
    span_count=3,
    has_root=False,
    first_received_at=NOON,
    last_received_at=NOON,
    next_close_at=None,
    reason=ClosingReason.NO_ROOT,
    is_stored=True,
)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        (
            {"next_close_at": NOON},
            "trace demo-0001: waiting: 3 spans came (otlp_protobuf), the root is not; ",
        ),
        (
            {"next_close_at": NOON, "has_root": True},
            "the root is among them; evaluated after 2026-06-15 12:00",
        ),
        ({}, "3 spans came (otlp_protobuf), taken as complete: no root came, and nothing new"),
        ({"is_stored": False}, "not stored: none of them tells of retrieval or of a model"),
    ],
)
def test_of_spans_it_is_told_whether_they_wait_and_what_they_became(changes, told):
    history = TraceHistory(
        trace_id="demo-0001", revisions=(), parked=(), spans=SPANS.model_copy(update=changes)
    )
    (line,) = tell_history(history)
    assert told in line.text


@pytest.mark.parametrize("reason", ClosingReason)
def test_every_reason_to_take_a_trace_as_complete_has_words(reason):
    history = TraceHistory(
        trace_id="t", revisions=(), parked=(), spans=SPANS.model_copy(update={"reason": reason})
    )
    (line,) = tell_history(history)
    assert len(line.text) > len("trace t: 3 spans came (otlp_protobuf), taken as complete: ")
