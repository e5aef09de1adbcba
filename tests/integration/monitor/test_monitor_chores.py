"""The monitor's jobs on a real Postgres, with a broker in memory."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from threading import Barrier, Event, Thread
from typing import TYPE_CHECKING

import pytest
from prometheus_client.parser import text_string_to_metric_families as read_plain
from sqlalchemy import text

from fakes.broker import ListBroker
from fakes.traces import make_trace
from ragsonde.bootstrap.clock import SystemClock
from ragsonde.exposition.registry import Series
from ragsonde.exposition.series import MONITOR_SERIES
from ragsonde.monitor.chores import Chores, MonitorOptions
from ragsonde.monitor.loop import Job, Monitor
from ragsonde.storage.locks import try_job_lock
from ragsonde.storage.partitions import ensure_partitions
from ragsonde.storage.trace_store import PostgresTraceStore
from ragsonde_schemas.errors import BrokerLostError, Cause
from ragsonde_schemas.evaluation import EvaluationState, PlannedEvaluation

if TYPE_CHECKING:
    from sqlalchemy import Engine

pytestmark = pytest.mark.integration

DEADLINE_SECONDS = 20.0


class SetClock:
    """A clock that is set by the test."""

    def __init__(self) -> None:
        self.time = datetime.now(UTC)

    def now(self) -> datetime:
        return self.time

    def monotonic(self) -> float:
        return self.time.timestamp()

    def pass_seconds(self, seconds: float) -> None:
        self.time += timedelta(seconds=seconds)


class Deployment:
    """A migrated database, its trace store, and what a monitor needs."""

    def __init__(self, engine: Engine) -> None:
        self.clock = SetClock()
        self.engine = engine
        self.traces = PostgresTraceStore(self.engine, clock=self.clock)
        self.broker = ListBroker()
        self.series = Series(MONITOR_SERIES)

    def make_chores(self, *, broker: ListBroker | None = None, **options: int) -> Chores:
        broker = broker or self.broker
        return Chores(
            options=MonitorOptions(**{"queued_for_seconds": 150} | options),
            engine=self.engine,
            sweeping_broker=broker,
            closing_broker=broker,
            counting_broker=broker,
            series=self.series,
            clock=self.clock,
            should_pause=lambda: False,
        )

    def admit(self, trace_id: str, *, state: EvaluationState = EvaluationState.WAITING):
        trace = make_trace(
            trace_id=trace_id,
            occurred_at=self.clock.now().isoformat(),
            received_at=self.clock.now(),
        )
        planned = PlannedEvaluation(judge="gpt", fingerprint="3fa2c1d4e5f60718", state=state, sample_rate=1.0)
        return self.traces.admit(trace, [planned])

    def read(self, name: str) -> dict[tuple[str, ...], float]:
        return {
            tuple(sample.labels.values()): sample.value
            for family in read_plain(self.series.render().body.decode())
            for sample in family.samples
            if sample.name == f"ragsonde_{name}"
        }


@pytest.fixture
def deployment(engine):
    deployment = Deployment(engine)
    ensure_partitions(deployment.engine, today=deployment.clock.now().date(), days_ahead=0)
    return deployment


def test_an_evaluation_in_its_own_tasks_hands_is_left_to_it(deployment):
    deployment.admit("t1")
    deployment.make_chores().sweep()
    assert deployment.broker.published == []


def test_a_lost_evaluation_is_published_once_and_again_when_that_was_lost_too(deployment):
    (key,) = deployment.admit("t1").pending
    chores = deployment.make_chores()
    deployment.clock.pass_seconds(151)
    chores.sweep()
    chores.sweep()
    assert deployment.broker.published == [key]
    deployment.clock.pass_seconds(151)
    chores.sweep()
    assert deployment.broker.published == [key, key]
    assert deployment.read("swept_total") == {(): 2}


def test_a_postponed_evaluation_is_published_when_it_is_due(deployment):
    (key,) = deployment.admit("t1").pending
    claimed = deployment.traces.claim(key)
    until = deployment.clock.now() + timedelta(seconds=40)
    deployment.traces.postpone(claimed, until=until, cause=Cause.JUDGE_UNAVAILABLE)
    deployment.clock.pass_seconds(39)
    deployment.make_chores().sweep()
    assert deployment.broker.published == []
    deployment.clock.pass_seconds(1)
    deployment.make_chores().sweep()
    assert deployment.broker.published == [key]


def test_an_evaluation_whose_worker_died_is_published_when_its_lease_is_over(deployment):
    (key,) = deployment.admit("t1").pending
    assert deployment.traces.claim(key) is not None
    deployment.clock.pass_seconds(149)
    deployment.make_chores().sweep()
    assert deployment.broker.published == []
    deployment.clock.pass_seconds(2)
    deployment.make_chores().sweep()
    assert deployment.broker.published == [key]


def test_a_finished_evaluation_is_never_published(deployment):
    deployment.admit("t1", state=EvaluationState.SAMPLED_OUT)
    deployment.clock.pass_seconds(10_000)
    deployment.make_chores().sweep()
    assert deployment.broker.published == []


def test_a_backlog_is_published_in_batches(deployment):
    keys = [key for number in range(7) for key in deployment.admit(f"t{number}").pending]
    deployment.clock.pass_seconds(151)
    deployment.make_chores(sweep_batch=3).sweep()
    assert sorted(map(str, deployment.broker.published)) == sorted(map(str, keys))
    assert deployment.broker.batches == [3, 3, 1]


def test_a_full_work_queue_gets_no_more_than_its_limit(deployment):
    for number in range(5):
        deployment.admit(f"t{number}")
    deployment.clock.pass_seconds(151)
    deployment.make_chores(broker=ListBroker(waiting=10), sweep_queue_limit=10).sweep()
    broker = ListBroker(waiting=8)
    deployment.make_chores(broker=broker, sweep_queue_limit=10).sweep()
    assert len(broker.published) == 2


def test_nothing_is_taken_while_the_broker_is_away(deployment):
    (key,) = deployment.admit("t1").pending
    deployment.clock.pass_seconds(151)
    deployment.broker.is_away = True
    with pytest.raises(BrokerLostError):
        deployment.make_chores().sweep()
    deployment.broker.is_away = False
    deployment.make_chores().sweep()
    assert deployment.broker.published == [key]


def test_what_was_taken_and_not_published_comes_again(deployment):
    (key,) = deployment.admit("t1").pending
    deployment.clock.pass_seconds(151)
    deployment.broker.refuses_publishing = True
    with pytest.raises(BrokerLostError):
        deployment.make_chores().sweep()
    deployment.broker.refuses_publishing = False
    deployment.clock.pass_seconds(151)
    deployment.make_chores().sweep()
    assert deployment.broker.published == [key]


def test_two_sweepers_at_once_publish_each_evaluation_once(deployment):
    keys = [key for number in range(40) for key in deployment.admit(f"t{number}").pending]
    deployment.clock.pass_seconds(151)
    brokers, start = (ListBroker(), ListBroker()), Barrier(2)

    def sweep(broker: ListBroker) -> None:
        start.wait(DEADLINE_SECONDS)
        deployment.make_chores(broker=broker, sweep_batch=3).sweep()

    threads = [Thread(target=sweep, args=(broker,)) for broker in brokers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(DEADLINE_SECONDS)
    published = [str(key) for broker in brokers for key in broker.published]
    assert sorted(published) == sorted(map(str, keys))


def test_two_monitors_never_do_the_same_job_at_once(deployment):
    running: list[str] = []
    overlaps: list[str] = []
    finished = {name: Event() for name in ("first", "second")}

    def work_as(name: str) -> None:
        if running:
            overlaps.append(name)
        running.append(name)
        Event().wait(0.02)
        running.remove(name)
        finished[name].set()

    monitors = {
        name: Monitor(
            try_lock=lambda job: try_job_lock(deployment.engine, job),
            series=Series(MONITOR_SERIES),
            clock=SystemClock(),
        )
        for name in finished
    }
    threads = [
        Thread(
            target=monitor.run,
            args=([Job(name="sweeper", interval_seconds=0.005, run=lambda name=name: work_as(name))],),
        )
        for name, monitor in monitors.items()
    ]
    for thread in threads:
        thread.start()
    both_ran = all(event.wait(DEADLINE_SECONDS) for event in finished.values())
    for monitor in monitors.values():
        monitor.stop()
    for thread in threads:
        thread.join(DEADLINE_SECONDS)
    assert both_ran, "one monitor never got the job"
    assert overlaps == []


def test_the_ledger_shows_the_last_day_by_judge_and_state(deployment):
    deployment.admit("old")
    deployment.clock.pass_seconds(25 * 3600)
    ensure_partitions(deployment.engine, today=deployment.clock.now().date(), days_ahead=0)
    deployment.admit("t1")
    deployment.admit("t2")
    deployment.admit("t3", state=EvaluationState.SAMPLED_OUT)
    deployment.make_chores().count_ledger()
    assert deployment.read("ledger_evaluations") == {("gpt", "waiting"): 2, ("gpt", "sampled_out"): 1}


def test_the_queues_depth_is_shown(deployment):
    deployment.make_chores(broker=ListBroker(waiting=7)).count_queues()
    assert deployment.read("queue_messages") == {("ragsonde.traces",): 0, ("ragsonde.work",): 7}


def _list_tables(deployment: Deployment) -> set[str]:
    with deployment.engine.connect() as connection:
        names = connection.execute(text("SELECT relname FROM pg_class WHERE relkind = 'r'"))
        return set(names.scalars())
