"""The monitor's loop: jobs that raise, hang or are done elsewhere stop no other."""

from __future__ import annotations

import logging
import time
from contextlib import contextmanager
from threading import Event, Thread
from threading import enumerate as enumerate_threads
from typing import TYPE_CHECKING

import pytest
from prometheus_client.parser import text_string_to_metric_families as read_plain

from ragsonde.bootstrap.clock import SystemClock
from ragsonde.exposition.birth import KnownLabels
from ragsonde.exposition.registry import Series
from ragsonde.exposition.series import MONITOR_SERIES
from ragsonde.monitor import loop as monitor_module
from ragsonde.monitor.loop import Job, Monitor
from ragsonde_schemas.errors import DatabaseLostError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SOON = 0.005
DEADLINE_SECONDS = 10.0


class Runs:
    """Counts the runs of a job and lets a test wait for one."""

    def __init__(self, *, failing: Exception | None = None) -> None:
        self.count = 0
        self.failing = failing
        self._reached: dict[int, Event] = {}

    def __call__(self) -> None:
        self.count += 1
        for number, event in list(self._reached.items()):
            if self.count >= number:
                event.set()
        if self.failing is not None:
            raise self.failing

    def wait_for(self, number: int) -> None:
        event = self._reached.setdefault(number, Event())
        if self.count < number and not event.wait(DEADLINE_SECONDS):
            pytest.fail(f"{self.count} runs, expected {number}")


class Locks:
    """The jobs' locks, some of them in the hands of another monitor."""

    def __init__(self, *taken: str) -> None:
        self.taken = set(taken)
        self.asked: list[str] = []
        self.lost: Exception | None = None

    @contextmanager
    def try_lock(self, name: str) -> Iterator[bool]:
        self.asked.append(name)
        if self.lost is not None:
            raise self.lost
        yield name not in self.taken


class Watch:
    """A monitor that runs in a thread of the test."""

    def __init__(self, locks: Locks | None = None) -> None:
        self.series = Series(MONITOR_SERIES, known=KnownLabels(jobs=("one", "two")))
        self.monitor = Monitor(try_lock=(locks or Locks()).try_lock, series=self.series, clock=SystemClock())

    @contextmanager
    def running(self, *jobs: Job) -> Iterator[None]:
        thread = Thread(target=self.monitor.run, args=(jobs,))
        thread.start()
        try:
            yield
        finally:
            self.monitor.stop()
            thread.join(DEADLINE_SECONDS)
            assert not thread.is_alive(), "the monitor did not stop"

    def read(self, name: str, job: str) -> float:
        for family in read_plain(self.series.render().body.decode()):
            for sample in family.samples:
                if sample.name == f"ragsonde_{name}" and sample.labels.get("job_name") == job:
                    return sample.value
        raise AssertionError(f"no series {name} for {job}")


def wait_until(is_so: Callable[[], bool]) -> None:
    ends_at = time.monotonic() + DEADLINE_SECONDS
    while not is_so():
        assert time.monotonic() < ends_at, "waited in vain"
        Event().wait(SOON)


@pytest.fixture(autouse=True)
def _impatient(monkeypatch):
    monkeypatch.setattr(monitor_module, "_TURN_SECONDS", SOON)
    monkeypatch.setattr(monitor_module, "RETRY_SECONDS", SOON)
    monkeypatch.setattr(monitor_module, "GRACE_SECONDS", 0.3)


def test_a_job_runs_again_and_again_and_tells_when_it_last_succeeded():
    watch, runs, begun = Watch(), Runs(), time.time()
    with watch.running(Job(name="one", interval_seconds=SOON, run=runs)):
        runs.wait_for(3)
    assert begun - 1 <= watch.read("monitor_job_last_success_timestamp_seconds", "one") <= time.time() + 1
    assert watch.read("monitor_job_failures_total", "one") == 0
    assert watch.read("monitor_job_seconds", "one") >= 0


def test_a_job_rests_for_its_interval_after_a_success():
    watch, hourly, quick = Watch(), Runs(), Runs()
    with watch.running(
        Job(name="one", interval_seconds=3600, run=hourly), Job(name="two", interval_seconds=SOON, run=quick)
    ):
        quick.wait_for(10)
    assert hourly.count == 1


def test_an_hourly_job_that_failed_is_tried_again_soon():
    watch, runs = Watch(), Runs(failing=DatabaseLostError("Postgres is away"))
    with watch.running(Job(name="one", interval_seconds=3600, run=runs)):
        runs.wait_for(3)
    assert watch.read("monitor_job_failures_total", "one") >= 2
    assert watch.read("monitor_job_last_success_timestamp_seconds", "one") == 0


def test_a_job_that_raises_stops_no_other():
    watch, broken, sound = Watch(), Runs(failing=ZeroDivisionError()), Runs()
    with watch.running(
        Job(name="one", interval_seconds=SOON, run=broken), Job(name="two", interval_seconds=SOON, run=sound)
    ):
        broken.wait_for(3)
        sound.wait_for(sound.count + 3)
        assert watch.monitor.find_stopped_loop() is None
    assert watch.read("monitor_job_failures_total", "two") == 0


def test_an_outage_is_logged_once_and_its_end_too(caplog):
    watch, runs = Watch(), Runs(failing=DatabaseLostError("Postgres is away"))
    with caplog.at_level(logging.INFO), watch.running(Job(name="one", interval_seconds=SOON, run=runs)):
        runs.wait_for(5)
        runs.failing = None
        wait_until(lambda: any(record.message == "monitor_job_recovered" for record in caplog.records))
    events = [record for record in caplog.records if record.message.startswith("monitor_job")]
    assert [record.message for record in events] == ["monitor_job_failed", "monitor_job_recovered"]
    assert vars(events[0])["error"] == "DatabaseLostError: Postgres is away"


def test_a_hanging_job_stops_neither_the_others_nor_the_end():
    watch, runs, release = Watch(), Runs(), Event()
    try:
        with watch.running(
            Job(name="one", interval_seconds=SOON, run=lambda: release.wait(DEADLINE_SECONDS) and None),
            Job(name="two", interval_seconds=SOON, run=runs),
        ):
            runs.wait_for(5)
            begun = time.monotonic()
        assert time.monotonic() - begun < 2
    finally:
        release.set()


def test_a_look_that_hangs_counts_as_failed_while_it_hangs_and_is_told_once(caplog):
    watch, release = Watch(), Event()
    job = Job(
        name="one",
        interval_seconds=SOON,
        run=lambda: release.wait(DEADLINE_SECONDS) and None,
        is_exclusive=False,
        deadline_seconds=0.02,
    )
    with caplog.at_level(logging.INFO), watch.running(job):
        try:
            wait_until(lambda: watch.read("monitor_job_failures_total", "one") >= 3)
            assert watch.read("monitor_job_last_success_timestamp_seconds", "one") == 0
        finally:
            release.set()
        wait_until(lambda: any(record.message == "monitor_job_recovered" for record in caplog.records))
    events = [record.message for record in caplog.records if record.message.startswith("monitor_job")]
    assert events == ["monitor_job_late", "monitor_job_recovered"]
    assert watch.read("monitor_job_last_success_timestamp_seconds", "one") > 0


def test_a_job_that_changes_things_may_take_as_long_as_there_is_work():
    watch, runs, release = Watch(), Runs(), Event()
    sweeping = Job(
        name="one",
        interval_seconds=SOON,
        run=lambda: release.wait(DEADLINE_SECONDS) and None,
        deadline_seconds=SOON,
    )
    with watch.running(sweeping, Job(name="two", interval_seconds=SOON, run=runs)):
        runs.wait_for(20)
        failures = watch.read("monitor_job_failures_total", "one")
        release.set()
    assert failures == 0


def test_a_job_in_another_monitors_hands_is_skipped_and_counted():
    watch, taken, free = Watch(Locks("one")), Runs(), Runs()
    with watch.running(
        Job(name="one", interval_seconds=SOON, run=taken), Job(name="two", interval_seconds=SOON, run=free)
    ):
        free.wait_for(3)
        wait_until(lambda: watch.read("monitor_job_skips_total", "one") >= 2)
    assert taken.count == 0
    assert watch.read("monitor_job_last_success_timestamp_seconds", "one") == 0


def test_a_job_that_was_elsewhere_is_taken_over():
    locks, runs = Locks("one"), Runs()
    watch = Watch(locks)
    with watch.running(Job(name="one", interval_seconds=SOON, run=runs)):
        wait_until(lambda: len(locks.asked) >= 2)
        assert runs.count == 0
        locks.taken.clear()
        runs.wait_for(1)


def test_a_job_that_only_looks_needs_no_lock():
    locks, runs = Locks("one"), Runs()
    locks.lost = DatabaseLostError("Postgres is away")
    with Watch(locks).running(Job(name="one", interval_seconds=SOON, run=runs, is_exclusive=False)):
        runs.wait_for(2)
    assert locks.asked == []


def test_a_lost_lock_is_a_failure_and_the_job_comes_back():
    locks, runs = Locks(), Runs()
    locks.lost = DatabaseLostError("Postgres is away")
    watch = Watch(locks)
    with watch.running(Job(name="one", interval_seconds=3600, run=runs)):
        wait_until(lambda: watch.read("monitor_job_failures_total", "one") >= 2)
        assert runs.count == 0
        locks.lost = None
        runs.wait_for(1)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_thread_that_ended_is_named_by_the_liveness_check():
    def end_thread() -> None:
        raise SystemExit

    watch, runs = Watch(), Runs()
    with watch.running(
        Job(name="one", interval_seconds=SOON, run=end_thread),
        Job(name="two", interval_seconds=SOON, run=runs),
    ):
        wait_until(lambda: watch.monitor.find_stopped_loop() == "ended: job-one")


def test_a_loop_that_stands_still_is_not_alive():
    class JumpingClock(SystemClock):
        seconds = 0.0

        def monotonic(self) -> float:
            return self.seconds

    clock = JumpingClock()
    monitor = Monitor(try_lock=Locks().try_lock, series=Series(MONITOR_SERIES), clock=clock)
    assert monitor.find_stopped_loop() is None
    clock.seconds = 61.0
    assert monitor.find_stopped_loop() == "has not turned for 61 s, expected once in 60 s"


def test_a_stopped_monitor_starts_no_further_run():
    watch, runs = Watch(), Runs()
    with watch.running(Job(name="one", interval_seconds=SOON, run=runs)):
        runs.wait_for(1)
    assert [thread.name for thread in enumerate_threads() if thread.name == "job-one"] == []
