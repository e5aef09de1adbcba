"""The overview is kept where reading it takes long, and never shown when it is old."""

from __future__ import annotations

import threading

import pytest

from fakes.clock import FakeClock
from fakes.watching import SHOP, FakeWatching, make_place
from ragsonde.page.kept_watching import MOST_PAUSES, SHARE_OF_TIME, KeptWatching
from ragsonde_schemas.errors import DatabaseLostError
from services.waiting import wait_for

PAUSE = 30.0


class CountingWatching(FakeWatching):
    """Takes so many seconds to read, and counts how often it is asked to."""

    def __init__(self, clock: FakeClock, *, takes_seconds: float) -> None:
        super().__init__(places=[make_place()])
        self.clock = clock
        self.takes_seconds = takes_seconds
        self.readings = self.lowest_readings = 0
        self.is_read = threading.Event()

    def read_overview(self):
        self.readings += 1
        self.clock.advance(self.takes_seconds)
        self.is_read.set()
        return super().read_overview()

    def list_lowest(self, place, *, judge):
        self.lowest_readings += 1
        return super().list_lowest(place, judge=judge)


@pytest.fixture
def clock():
    return FakeClock()


def keep(clock, *, takes_seconds):
    watching = CountingWatching(clock, takes_seconds=takes_seconds)
    return watching, KeptWatching(watching, clock=clock, pause_seconds=PAUSE)


def test_what_is_read_quickly_is_read_for_each_request(clock):
    watching, kept = keep(clock, takes_seconds=0.1)
    kept.read_overview()
    kept.read_overview()
    assert watching.readings == 2


def test_what_takes_long_is_read_once_and_again_when_it_is_too_old(clock):
    watching, kept = keep(clock, takes_seconds=1.0)
    kept.read_overview()
    clock.advance(MOST_PAUSES * PAUSE)
    kept.read_overview()
    assert watching.readings == 1
    clock.advance(1)
    kept.read_overview()
    assert watching.readings == 2


def test_the_longer_it_takes_the_longer_it_is_kept(clock):
    watching, kept = keep(clock, takes_seconds=4.0)
    kept.read_overview()
    clock.advance(MOST_PAUSES * 4.0 / SHARE_OF_TIME - 1)
    kept.read_overview()
    assert watching.readings == 1


def test_nothing_is_kept_for_more_than_six_minutes(clock):
    watching, kept = keep(clock, takes_seconds=100.0)
    kept.read_overview()
    clock.advance(361)
    kept.read_overview()
    assert watching.readings == 2


def test_what_is_old_is_not_shown_in_place_of_a_lost_database(clock):
    watching, kept = keep(clock, takes_seconds=1.0)
    kept.read_overview()
    watching.is_away = True
    kept.read_overview()
    clock.advance(MOST_PAUSES * PAUSE + 1)
    with pytest.raises(DatabaseLostError):
        kept.read_overview()


def test_it_is_read_in_the_background_and_a_fault_ends_nothing(clock, caplog):
    watching, kept = keep(clock, takes_seconds=1.0)
    kept = KeptWatching(watching, clock=clock, pause_seconds=0.01)
    watching.is_away = True
    kept.start()
    try:
        wait_for(lambda: watching.readings >= 2)
        watching.is_away = False
        wait_for(lambda: kept._kept is not None)
    finally:
        kept.close()
    assert "overview_not_read" in {one.msg for one in caplog.records}
    assert not kept._thread.is_alive()


def test_the_worst_traces_are_kept_as_long(clock):
    watching, kept = keep(clock, takes_seconds=1.0)
    kept.list_lowest(SHOP, judge="lexical")
    kept.list_lowest(SHOP, judge="lexical")
    assert watching.lowest_readings == 1
    kept.list_lowest(SHOP, judge="gpt")
    clock.advance(PAUSE)
    kept.list_lowest(SHOP, judge="lexical")
    assert watching.lowest_readings == 3
