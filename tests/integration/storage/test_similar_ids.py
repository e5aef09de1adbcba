"""Stored trace ids that contain what a person typed."""

from __future__ import annotations

from datetime import timedelta

import pytest

from fakes.clock import NOON, FakeClock
from fakes.evaluations import make_trace, plan_free
from ragsonde.storage.history import find_similar_ids
from services.stores import PostgresStores

pytestmark = pytest.mark.integration
SINCE = NOON.date() - timedelta(days=30)


@pytest.fixture
def stores(engine):
    return PostgresStores(FakeClock(), engine)


def find(stores, part, **options):
    return find_similar_ids(stores.engine, part, **{"since": SINCE, **options})


def test_an_id_is_found_by_its_end_its_beginning_and_its_middle(stores):
    stores.traces.admit(make_trace("20261130T015104-demo-0001"), (plan_free(),))
    stores.traces.admit(make_trace("other"), (plan_free(),))
    for part in ("demo-0001", "20261130", "-DEMO-"):
        assert find(stores, part) == ("20261130T015104-demo-0001",)
    assert find(stores, "demo-0002") == ()


@pytest.mark.parametrize("part", ["%", "_", "\\", "/"])
def test_no_character_is_a_pattern(stores, part):
    stores.traces.admit(make_trace("plain"), (plan_free(),))
    assert find(stores, part) == ()
    stores.traces.admit(make_trace(f"a{part}b"), (plan_free(),))
    assert find(stores, part) == (f"a{part}b",)


def test_the_newest_days_come_first_each_id_once_and_no_more_than_asked_for(stores):
    for days, name in ((0, "t-a"), (1, "t-b"), (1, "t-a"), (0, "t-c")):
        trace = make_trace(name, occurred_at=NOON - timedelta(days=days))
        stores.traces.admit(trace, (plan_free(),))
        stores.clock.advance(1)
    assert find(stores, "t-") == ("t-c", "t-a", "t-b")
    assert find(stores, "", limit=1) == ("t-c",)
    assert find(stores, "t-", since=NOON.date()) == ("t-c", "t-a")


def test_only_the_apps_ids_are_found(stores):
    stores.traces.admit(make_trace("t-1", app="other"), (plan_free(),))
    assert find(stores, "t-1", app="shop") == ()
    assert find(stores, "t-1", app="other") == ("t-1",)
