from __future__ import annotations

import dataclasses
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from ragsonde.servers.backoff import Backoff
from ragsonde.servers.process_event import Change, ProcessEvent
from ragsonde.servers.process_tree import Child, FinalExitError, ProcessTree
from services.waiting import wait_for

pytestmark = pytest.mark.integration

WAIT = "import signal; signal.sigwait({signal.SIGUSR2})"


def quick() -> Backoff:
    return Backoff(shortest_seconds=0.01, longest_seconds=0.05)


@pytest.fixture
def child(directory):
    def make(name: str, code: str = WAIT, **options) -> Child:
        return Child(
            name,
            argv=[sys.executable, "-c", code, str(directory)],
            log_path=directory / "log" / f"{name}.log",
            backoff=quick,
            **options,
        )

    return make


class Story:
    """What a tree told; sets `until` when `is_enough` says so."""

    def __init__(self, is_enough) -> None:
        self.until = threading.Event()
        self.events: list[ProcessEvent] = []
        self._is_enough = is_enough

    def __call__(self, event: ProcessEvent) -> None:
        self.events.append(event)
        if self._is_enough(self):
            self.until.set()

    def told(self, change: Change) -> list[str]:
        return [event.name for event in self.events if event.change is change]


def run(*children: Child, is_enough, **options) -> Story:
    story = Story(is_enough)
    watchdog = threading.Timer(30.0, story.until.set)
    watchdog.start()
    ProcessTree(children, **options).run(story.until, on_event=story)
    watchdog.cancel()
    return story


def test_children_start_in_order_and_stop_in_reverse(child):
    story = run(
        child("one"),
        child("two"),
        child("three"),
        is_enough=lambda story: len(story.told(Change.STARTED)) == 3,
    )

    assert story.told(Change.STARTED) == ["one", "two", "three"]
    assert story.told(Change.STOPPED) == ["three", "two", "one"]
    assert {event.exit_code for event in story.events if event.change is Change.STOPPED} == {-signal.SIGTERM}


def test_each_is_stopped_only_after_the_one_before_it_has_ended(child, directory):
    slow = (
        "import pathlib, signal, sys, threading\n"
        "signal.signal(signal.SIGTERM, lambda *_: sys.exit())\n"
        "place = pathlib.Path(sys.argv[1])\n"
        "(place / 'slow is ready').touch()\n"
        "try: signal.pause()\n"
        "finally: threading.Event().wait(0.3); (place / 'slow has ended').touch()\n"
    )
    first = (
        "import pathlib, signal, sys\n"
        "place = pathlib.Path(sys.argv[1])\n"
        "def stop(*_):\n"
        "    (place / f'first saw {(place / \"slow has ended\").exists()}').touch(); sys.exit()\n"
        "signal.signal(signal.SIGTERM, stop)\n"
        "(place / 'first is ready').touch()\n"
        "while True: signal.pause()\n"
    )
    story = Story(lambda _story: False)

    def stop_when_ready():
        if (directory / "slow is ready").exists() and (directory / "first is ready").exists():
            story.until.set()
        return ()

    ProcessTree([child("first", first), child("slow", slow)], tend=stop_when_ready).run(
        story.until, on_event=story
    )

    assert (directory / "first saw True").exists()


def test_a_child_that_dies_is_started_again_and_its_last_words_are_told(child):
    story = run(
        child("weak", "import sys; sys.exit('Error: no room')"),
        child("strong"),
        is_enough=lambda story: len(story.told(Change.DIED)) == 3,
    )

    deaths = [event for event in story.events if event.change is Change.DIED]
    assert [death.exit_code for death in deaths] == [1, 1, 1]
    assert [death.restart_in_seconds for death in deaths] == [0.01, 0.02, 0.04]
    assert {death.detail for death in deaths} == {"Error: no room"}
    assert story.told(Change.STARTED).count("weak") == 3
    assert story.told(Change.STARTED).count("strong") == 1
    assert story.told(Change.STOPPED) == ["strong"]


def test_a_child_that_ends_with_a_final_code_ends_the_tree_with_what_it_said_in_its_last_life(
    child, directory, processes_below
):
    (directory / "log").mkdir()
    (directory / "log" / "second.log").write_text("of an earlier run\n")
    refusing = child("second", "import sys; sys.exit('ragsonde: thread: unknown\\nragsonde: x: wrong')")
    final = dataclasses.replace(refusing, final_codes=frozenset({1}))

    with pytest.raises(FinalExitError) as caught:
        run(child("first"), final, is_enough=lambda _: False)

    assert (caught.value.name, caught.value.exit_code) == ("second", 1)
    assert caught.value.said == ("ragsonde: thread: unknown", "ragsonde: x: wrong")
    assert processes_below(directory) == {}


def test_a_killed_child_is_started_again(child):
    def kill_the_first(story: Story) -> bool:
        started = [event for event in story.events if event.change is Change.STARTED]
        if len(story.events) == 1:
            os.kill(started[0].pid, signal.SIGKILL)
        return len(started) == 2

    story = run(child("one"), is_enough=kill_the_first)

    assert [event.change for event in story.events] == [
        Change.STARTED,
        Change.DIED,
        Change.STARTED,
        Change.STOPPED,
    ]
    assert story.events[1].exit_code == -signal.SIGKILL


def test_a_program_that_is_not_there_is_told(directory):
    absent = Child("absent", argv=["/nowhere"], log_path=directory / "absent.log", backoff=quick)
    story = run(absent, is_enough=lambda story: story.told(Change.DIED))

    assert story.events[1].detail == "cannot run /nowhere: No such file or directory"


def test_a_child_that_does_not_stop_in_time_is_killed_with_what_it_started(child, directory, processes_below):
    stubborn = (
        "import pathlib, signal, subprocess, sys\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "place = pathlib.Path(sys.argv[1])\n"
        "subprocess.Popen([sys.executable, '-c', 'import signal; signal.pause()', place])\n"
        "(place / 'ready').touch()\n"
        "while True: signal.pause()\n"
    )
    story = Story(lambda _story: False)

    def stop_when_ready():
        if (directory / "ready").exists():
            story.until.set()
        return ()

    ProcessTree([child("stubborn", stubborn, grace_seconds=0.2)], tend=stop_when_ready).run(
        story.until, on_event=story
    )

    assert story.told(Change.KILLED) == ["stubborn"]
    wait_for(lambda: processes_below(directory) == {}, what="the end of what it started")


def test_no_child_is_left_when_telling_fails(child, directory, processes_below):
    def fail(event: ProcessEvent) -> None:
        if event.name == "two":
            raise RuntimeError("the terminal is gone")

    with pytest.raises(RuntimeError, match="the terminal is gone"):
        ProcessTree([child("one"), child("two")]).run(threading.Event(), on_event=fail)
    assert processes_below(directory) == {}


def test_what_tending_returns_is_told(child):
    event = ProcessEvent("Valkey", Change.STARTED, pid=1)
    story = run(child("one"), tend=lambda: (event,), is_enough=lambda story: event in story.events)

    assert event in story.events


def test_the_environment_is_given_and_not_shown(child):
    code = "import os, sys; sys.exit(f\"Error: {os.environ['TOKEN'][:3]}\")"
    described = child("one", code, environment={"TOKEN": "secret"})
    story = run(described, is_enough=lambda story: story.told(Change.DIED))

    assert story.events[1].detail == "Error: sec"
    assert "secret" not in repr(described)


PARENT = """
import pathlib, sys, threading
from ragsonde.servers.process_tree import Child, FinalExitError, ProcessTree
place = pathlib.Path(sys.argv[1])
program = [sys.executable, "-c", "import signal; signal.pause()", str(place)]
children = [Child(name, program, place / f"{name}.log") for name in ("one", "two")]
ProcessTree(children).run(threading.Event(), on_event=lambda event: print(event, flush=True))
"""


@pytest.fixture
def parent(directory):
    with subprocess.Popen(
        [sys.executable, "-c", PARENT, directory], stdout=subprocess.PIPE, start_new_session=True
    ) as process:
        assert process.stdout is not None
        for name in (b"one", b"two"):
            assert process.stdout.readline().startswith(name)
        yield process
        process.kill()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a child of its parent's death")
def test_no_child_is_left_when_the_parent_is_killed(parent, directory, processes_below, wait_until):
    parent.kill()
    parent.wait()
    wait_until(lambda: not processes_below(directory))


def test_a_ctrl_c_at_the_terminal_reaches_only_the_parent_which_stops_them_in_order(parent):
    os.killpg(parent.pid, signal.SIGINT)  # what a terminal does
    out, _ = parent.communicate(timeout=20)

    assert [line.split()[0] for line in out.splitlines()] == [b"two", b"one"]
    assert out.count(b"stopped") == 2
    assert Path(f"/proc/{parent.pid}").exists() is False
