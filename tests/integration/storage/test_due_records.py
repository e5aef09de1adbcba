"""Gathered traces of more apps than one look looks at."""

from __future__ import annotations

import pytest

from builders.spans import make_span
from fakes.clock import FakeClock
from ragsonde.storage.due_records import DueRecords
from ragsonde.storage.span_buffer import PostgresSpanBuffer

pytestmark = pytest.mark.integration
APPS, MOST_APPS = 7, 3


@pytest.fixture
def clock():
    return FakeClock()


@pytest.fixture
def gather(engine, clock):
    """Adds a trace of an app, due in five seconds."""
    spans = PostgresSpanBuffer(engine, clock=clock)

    def add(number, app):
        span = make_span(1, trace_id=f"{number:032x}", resource={"service.name": app})
        spans.absorb((span,), format_name="otlp_json", whole=frozenset())

    return add


def take(records, engine, clock, *, limit=100):
    keys = records.take(engine, now=clock.now(), limit=limit, queued_for_seconds=150)
    return [int(key.trace_id, 16) for key in keys]


def test_each_look_goes_on_with_the_apps_after_those_of_the_look_before(engine, clock, gather):
    for number in range(1, APPS + 1):
        gather(number, f"app-{number}")
    clock.advance(5)
    records = DueRecords(most_apps=MOST_APPS)
    looks = [take(records, engine, clock) for _ in range(3)]
    assert all(len(look) <= MOST_APPS for look in looks)
    assert sorted(number for look in looks for number in look) == list(range(1, APPS + 1))


def test_after_the_last_app_it_begins_again(engine, clock, gather):
    for number in range(1, APPS + 1):
        gather(number, f"app-{number}")
    clock.advance(5)
    records = DueRecords(most_apps=MOST_APPS)
    for _ in range(3):
        take(records, engine, clock)
    gather(99, "app-1")
    clock.advance(5)
    assert [take(records, engine, clock) for _ in range(3)].count([99]) == 1


def test_apps_that_name_themselves_anew_in_each_trace_keep_no_other_waiting_for_long(engine, clock, gather):
    gather(99, "quiet")
    clock.advance(1)
    for number in range(1, 41):
        gather(number, f"new-{number:02}")
    clock.advance(5)
    records = DueRecords(most_apps=10)
    looks = [take(records, engine, clock, limit=2) for _ in range(5)]
    assert 99 in looks[-1]
    assert all(len(look) == 2 for look in looks[:-1])
