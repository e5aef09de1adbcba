from ragsonde.cli.story import tell_history
from ragsonde.storage.history import TraceHistory


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
