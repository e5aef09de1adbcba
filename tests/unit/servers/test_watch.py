from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ragsonde.servers.backoff import Backoff
from ragsonde.servers.log_file import LogFile
from ragsonde.servers.process_event import Change, ProcessEvent
from ragsonde.servers.watch import Watch
from ragsonde_schemas.errors import SetupError

if TYPE_CHECKING:
    from pathlib import Path


class Mortal:
    """A process that dies when it is told to."""

    def __init__(self, folder: Path) -> None:
        self.name = "mortal"
        self.log = LogFile(folder / "mortal.log", limit_bytes=100)
        self.pid = 0
        self.exit_code: int | None = None
        self.obstacle: SetupError | None = None

    def start(self) -> None:
        if self.obstacle is not None:
            raise self.obstacle
        self.pid += 1
        self.exit_code = None


@pytest.fixture
def mortal(tmp_path):
    return Mortal(tmp_path)


class Clock:
    """Stands still between two looks at the process."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def watch(mortal, clock):
    backoff = Backoff(shortest_seconds=1.0, longest_seconds=4.0)
    return Watch(mortal, backoff=backoff, final_codes={2}, monotonic=clock)


def tend_after(seconds: float, watch: Watch, clock: Clock) -> tuple[ProcessEvent, ...]:
    clock.now += seconds
    return watch.tend()


def test_nothing_happens_while_it_lives(watch):
    assert watch.begin() == ProcessEvent("mortal", Change.STARTED, pid=1)
    assert [watch.tend() for _ in range(3)] == [(), (), ()]


def test_a_death_is_told_once_and_followed_by_a_new_life(mortal, watch, clock):
    watch.begin()
    mortal.log.path.write_text("Error: no room\n")
    mortal.exit_code = 1

    assert watch.tend() == (
        ProcessEvent(
            "mortal", Change.DIED, pid=1, exit_code=1, restart_in_seconds=1.0, detail="Error: no room"
        ),
    )
    assert tend_after(1.0, watch, clock) == (ProcessEvent("mortal", Change.STARTED, pid=2),)
    assert watch.tend() == ()


def test_the_last_line_of_what_was_killed_says_nothing_and_is_not_told(mortal, watch):
    watch.begin()
    mortal.log.path.write_text("ready\n")
    mortal.exit_code = -9

    assert watch.tend()[0].detail == ""


def test_what_cannot_be_started_is_tried_again_after_a_longer_pause(mortal, watch, clock):
    watch.begin()
    mortal.exit_code = 1
    mortal.obstacle = SetupError("disk full")
    watch.tend()

    failures = [tend_after(seconds, watch, clock)[0] for seconds in (1.0, 2.0, 4.0)]

    assert [failure.change for failure in failures] == [Change.NOT_STARTED] * 3
    assert [failure.restart_in_seconds for failure in failures] == [2.0, 4.0, 4.0]
    assert failures[0].detail == "disk full"
    mortal.obstacle = None
    assert tend_after(4.0, watch, clock)[0].change == Change.STARTED


def test_it_does_not_begin_before_the_pause_is_over(mortal, watch, clock):
    watch.begin()
    mortal.exit_code = 1
    watch.tend()

    assert tend_after(0.99, watch, clock) == ()
    assert mortal.pid == 1


def test_the_log_is_kept_short(mortal, watch):
    watch.begin()
    mortal.log.path.write_text("x" * 101)
    watch.tend()

    assert mortal.log.size_bytes() == 0


def test_what_ends_with_a_final_code_is_told_and_not_started_again(mortal, watch, clock):
    watch.begin()
    mortal.log.path.write_text("Error: told in whole by who ends the tree\n")
    mortal.exit_code = 2

    assert watch.tend() == (ProcessEvent("mortal", Change.DIED, pid=1, exit_code=2),)
    assert tend_after(3600.0, watch, clock) == ()
    assert (watch.has_given_up, mortal.pid) == (True, 1)
