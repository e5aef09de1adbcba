from __future__ import annotations

import time
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


def quick() -> Backoff:
    return Backoff(shortest_seconds=0.01, longest_seconds=0.04)


def tend_until_something_happens(watch: Watch) -> tuple[ProcessEvent, ...]:
    deadline = time.monotonic() + 10.0
    while time.monotonic() < deadline:
        if events := watch.tend():
            return events
    pytest.fail("nothing happened")


def test_nothing_happens_while_it_lives(mortal):
    watch = Watch(mortal, backoff=quick())

    assert watch.begin() == ProcessEvent("mortal", Change.STARTED, pid=1)
    assert [watch.tend() for _ in range(3)] == [(), (), ()]


def test_a_death_is_told_once_and_followed_by_a_new_life(mortal):
    watch = Watch(mortal, backoff=quick())
    watch.begin()
    mortal.log.path.write_text("Error: no room\n")
    mortal.exit_code = 1

    assert watch.tend() == (
        ProcessEvent(
            "mortal", Change.DIED, pid=1, exit_code=1, restart_in_seconds=0.01, detail="Error: no room"
        ),
    )
    assert tend_until_something_happens(watch) == (ProcessEvent("mortal", Change.STARTED, pid=2),)
    assert watch.tend() == ()


def test_the_last_line_of_what_was_killed_says_nothing_and_is_not_told(mortal):
    watch = Watch(mortal, backoff=quick())
    watch.begin()
    mortal.log.path.write_text("ready\n")
    mortal.exit_code = -9

    assert watch.tend()[0].detail == ""


def test_what_cannot_be_started_is_tried_again_after_a_longer_pause(mortal):
    watch = Watch(mortal, backoff=quick())
    watch.begin()
    mortal.exit_code = 1
    mortal.obstacle = SetupError("disk full")
    watch.tend()

    failures = [tend_until_something_happens(watch)[0] for _ in range(3)]

    assert [failure.change for failure in failures] == [Change.NOT_STARTED] * 3
    assert [failure.restart_in_seconds for failure in failures] == [0.02, 0.04, 0.04]
    assert failures[0].detail == "disk full"
    mortal.obstacle = None
    assert tend_until_something_happens(watch)[0].change == Change.STARTED


def test_it_does_not_begin_before_the_pause_is_over(mortal):
    watch = Watch(mortal, backoff=Backoff(shortest_seconds=3600.0))
    watch.begin()
    mortal.exit_code = 1
    watch.tend()

    assert watch.tend() == ()
    assert mortal.pid == 1


def test_the_log_is_kept_short(mortal):
    watch = Watch(mortal, backoff=quick())
    watch.begin()
    mortal.log.path.write_text("x" * 101)
    watch.tend()

    assert mortal.log.size_bytes() == 0
