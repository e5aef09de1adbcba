"""What a monitor shows of the fleet: the same as any other, and nothing that is not true any more."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from http.client import HTTPConnection
from threading import Barrier, Event, Thread
from time import monotonic
from typing import TYPE_CHECKING

import pytest
from prometheus_client.parser import text_string_to_metric_families as read_plain
from sqlalchemy import make_url

from fakes.broker import ListBroker
from fakes.clock import FakeClock
from fakes.evaluations import PAID, PAID_PRINT, make_trace, plan_free, plan_paid
from ragsonde.bootstrap.clock import SystemClock
from ragsonde.exposition import snapshot
from ragsonde.exposition.birth import KnownLabels
from ragsonde.exposition.health import Health
from ragsonde.exposition.http import serve
from ragsonde.exposition.registry import Series
from ragsonde.exposition.routes import METRICS, build_routes
from ragsonde.exposition.series import MONITOR_SERIES, QUEUE_MESSAGES
from ragsonde.monitor.chores import JOB_NAMES, Chores, MonitorOptions
from ragsonde.monitor.ledger_jobs import LedgerChores
from ragsonde.monitor.loop import Job, Monitor
from ragsonde.storage.engine import build_engine
from ragsonde.storage.locks import try_job_lock
from ragsonde_schemas.errors import Cause
from ragsonde_schemas.evaluation import EvaluationState
from services.network import Network
from services.stores import PostgresStores
from services.waiting import wait_for

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Engine

pytestmark = pytest.mark.integration

ABOUT_ITSELF = ("ragsonde_monitor_", "ragsonde_swept_", "ragsonde_series_dropped_", "ragsonde_build_")


class Watcher:
    """A monitor's series and jobs on a database, with a broker in memory."""

    def __init__(self, engine: Engine, *, clock, broker: ListBroker | None = None, **options: float) -> None:
        self.series = Series(MONITOR_SERIES, known=KnownLabels(jobs=JOB_NAMES))
        self.broker = broker or ListBroker()
        chores = Chores(
            options=MonitorOptions(queued_for_seconds=150, **options),
            engine=engine,
            sweeping_broker=self.broker,
            closing_broker=self.broker,
            counting_broker=self.broker,
            series=self.series,
            clock=clock,
            should_pause=lambda: False,
        )
        ledger = LedgerChores(engine=engine, series=self.series, clock=clock, kept_days=90)
        self.jobs = {job.name: job for one in (chores, ledger) for job in one.build_jobs()}
        self.monitor = Monitor(
            try_lock=lambda name: try_job_lock(engine, name), series=self.series, clock=clock
        )

    def look(self) -> None:
        for job in self.jobs.values():
            if not job.is_exclusive:
                job.run()

    def read(self) -> dict[tuple[str, ...], float]:
        return {
            (sample.name, *sample.labels.values()): sample.value
            for family in read_plain(self.series.render().body.decode())
            for sample in family.samples
            if sample.name.startswith("ragsonde_") and not sample.name.startswith(ABOUT_ITSELF)
        }

    @contextmanager
    def running(self, *jobs: Job) -> Iterator[None]:
        thread = Thread(target=self.monitor.run, args=(jobs,))
        thread.start()
        try:
            yield
        finally:
            self.monitor.stop()
            thread.join(20)
            assert not thread.is_alive()


@pytest.fixture
def clock():
    return FakeClock(datetime.now(UTC))


@pytest.fixture
def stores(engine, clock):
    return PostgresStores(clock, engine)


def admit(stores, trace_id, *planned):
    return stores.traces.admit(make_trace(trace_id, occurred_at=stores.clock.now()), planned)


def test_work_that_is_due_has_an_age_and_work_that_is_put_off_has_none(engine, stores, clock):
    watcher = Watcher(engine, clock=clock)
    age = ("ragsonde_queue_oldest_seconds",)
    watcher.look()
    assert watcher.read()[age] == 0
    (key,) = admit(stores, "t-1", plan_paid(EvaluationState.WAITING)).pending
    admit(stores, "t-2", plan_free(), plan_paid(EvaluationState.SAMPLED_OUT))
    clock.advance(40)
    watcher.look()
    assert watcher.read()[age] == 40
    claimed = stores.traces.claim(key)
    watcher.look()
    assert watcher.read()[age] == 0, "somebody works on it"
    stores.traces.postpone(claimed, until=clock.now() + timedelta(seconds=100), cause=Cause.JUDGE_UNAVAILABLE)
    clock.advance(100)
    watcher.look()
    assert watcher.read()[age] == 0
    clock.advance(7)
    watcher.look()
    assert watcher.read()[age] == 7
    stores.traces.claim(key)
    clock.advance(10_000)
    watcher.look()
    assert 0 < watcher.read()[age] < 10_000, "since its worker's lease was over"


def test_two_monitors_at_once_show_the_same_and_sweep_each_evaluation_once(engine, stores, clock):
    keys = [
        key
        for number in range(30)
        for key in admit(stores, f"t-{number}", plan_free(), plan_paid(EvaluationState.WAITING)).pending
    ]
    clock.advance(151)
    broker, start = ListBroker(), Barrier(2)
    watchers = [Watcher(engine, clock=clock, broker=broker, sweep_batch=size) for size in (4, 500)]

    def run_all(watcher: Watcher) -> None:
        start.wait(20)
        for job in watcher.jobs.values():
            watcher.monitor._attempt(job)

    threads = [Thread(target=run_all, args=(watcher,)) for watcher in watchers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert sorted(map(str, broker.published)) == sorted(map(str, keys))
    for watcher in watchers:
        watcher.look()
    first, second = (watcher.read() for watcher in watchers)
    assert first == second
    assert first["ragsonde_ledger_evaluations", PAID, "waiting"] == 30
    assert first["ragsonde_ledger_violations", "scored_has_score"] == 0
    assert PAID_PRINT[:6] not in str(first)


def test_without_postgres_the_page_is_fast_and_shows_ages_instead_of_what_was(monkeypatch):
    monkeypatch.setattr(snapshot, "SHOWN_SECONDS", 0.2)
    clock, is_away = FakeClock(datetime.now(UTC)), Event()
    nowhere = build_engine("postgresql://u@127.0.0.1:1/x", application_name="test")
    watcher = Watcher(nowhere, clock=clock)
    hanging = Job(name="ledger", interval_seconds=1, run=lambda: is_away.wait(20) and None)

    def count_once() -> None:
        if is_away.is_set():
            raise ConnectionError
        watcher.series.replace(QUEUE_MESSAGES, {("ragsonde.work",): 7.0})

    counting = Job(
        name="queues", interval_seconds=0.01, run=count_once, is_exclusive=False, shows=(QUEUE_MESSAGES,)
    )
    server = serve("127.0.0.1", 0, routes=build_routes(watcher.series, live=Health({}), ready=Health({})))
    depth = ("ragsonde_queue_messages", "ragsonde.work")
    watcher.monitor._try_lock = lambda _: pytest.fail("only jobs that look are run here")
    try:
        with watcher.running(
            counting,
            watcher.jobs["gathered"],
            Job(name="ledger", interval_seconds=1, run=hanging.run, is_exclusive=False),
        ):
            wait_for(lambda: watcher.read().get(depth) == 7.0)
            is_away.set()
            wait_for(lambda: depth not in watcher.read(), seconds=20)
            begun = monotonic()
            connection = HTTPConnection(server.host, server.port, timeout=5)
            connection.request("GET", METRICS)
            page = connection.getresponse().read().decode()
            connection.close()
            assert monotonic() - begun < 1
    finally:
        server.close()
        nowhere.dispose()
    lines = dict(line.rsplit(" ", 1) for line in page.splitlines() if not line.startswith("#"))
    assert float(lines['ragsonde_monitor_job_last_success_timestamp_seconds{job_name="queues"}']) > 0
    assert float(lines['ragsonde_monitor_job_last_success_timestamp_seconds{job_name="gathered"}']) == 0
    assert float(lines['ragsonde_monitor_job_failures_total{job_name="gathered"}']) > 0
    for absent in ("ragsonde_queue_messages{", "ragsonde_open_traces ", "ragsonde_queue_oldest_seconds "):
        assert f"\n{absent}" not in page


def test_a_postgres_that_stands_still_is_a_failure_while_it_does_and_old_numbers_go(
    monkeypatch, database_url, clock
):
    monkeypatch.setattr(snapshot, "SHOWN_SECONDS", 0.2)
    with Network(make_url(database_url).port or 5432) as network:
        url = make_url(database_url).set(host="127.0.0.1", port=network.port)
        engine = build_engine(url.render_as_string(hide_password=False), application_name="test")
        watcher = Watcher(engine, clock=clock)
        # the clock of the loop must go, as the deadline is its
        monitor = Monitor(try_lock=try_job_lock, series=watcher.series, clock=SystemClock())
        watcher.monitor = monitor
        jobs = [
            replace(watcher.jobs[name], interval_seconds=0.05, deadline_seconds=0.5)
            for name in ("gathered", "ledger")
        ]
        age = ("ragsonde_queue_oldest_seconds",)

        def read_failures() -> float:
            (family,) = (
                family
                for family in read_plain(watcher.series.render().body.decode())
                if family.name == "ragsonde_monitor_job_failures"
            )
            return sum(one.value for one in family.samples if one.labels["job_name"] == "gathered")

        try:
            with watcher.running(*jobs):
                wait_for(lambda: watcher.read().get(age) == 0.0)
                assert read_failures() == 0
                with network.black_hole():
                    wait_for(lambda: read_failures() >= 2)
                    wait_for(lambda: age not in watcher.read())
                wait_for(lambda: watcher.read().get(age) == 0.0)
        finally:
            engine.dispose()
