"""The monitor's jobs for gathered traces, on a real Postgres with a broker in memory."""

from __future__ import annotations

import pytest
from prometheus_client.parser import text_string_to_metric_families as read_plain

from builders.spans import make_span
from fakes.broker import ListBroker
from fakes.clock import FakeClock
from ragsonde.exposition.registry import Series
from ragsonde.exposition.series import MONITOR_SERIES
from ragsonde.monitor.chores import ASSEMBLY, JOB_NAMES, Chores, MonitorOptions
from ragsonde.storage.partitions import drop_expired
from ragsonde.storage.span_buffer import PostgresSpanBuffer
from ragsonde_schemas.errors import BrokerLostError
from ragsonde_schemas.open_record import OpenRecordKey

pytestmark = pytest.mark.integration


class Deployment:
    """A buffer of spans and a monitor's jobs on one clock."""

    def __init__(self, engine):
        self.engine = engine
        self.clock = FakeClock()
        self.spans = PostgresSpanBuffer(engine, clock=self.clock)
        self.broker = ListBroker()
        self.series = Series(MONITOR_SERIES)

    def make_chores(self, *, sweeping_broker=None, **options):
        return Chores(
            options=MonitorOptions(**{"queued_for_seconds": 150} | options),
            engine=self.engine,
            sweeping_broker=sweeping_broker or ListBroker(),
            closing_broker=self.broker,
            counting_broker=ListBroker(),
            series=self.series,
            clock=self.clock,
            should_pause=lambda: False,
        )

    def gather(self, *numbers):
        spans = [make_span(1, trace_id=name_trace(number)) for number in numbers]
        self.spans.absorb(spans, format_name="otlp_json", whole=frozenset())

    def read_open(self):
        return [
            sample.value
            for family in read_plain(self.series.render().body.decode())
            for sample in family.samples
            if sample.name == "ragsonde_open_traces"
        ]


def name_trace(number):
    return f"{number:032x}"


@pytest.fixture
def deployment(engine):
    return Deployment(engine)


def test_a_trace_is_published_when_it_is_due_and_once(deployment):
    deployment.gather(1)
    chores = deployment.make_chores()
    chores.close_traces()
    assert deployment.broker.published == []
    deployment.clock.advance(5)
    chores.close_traces()
    chores.close_traces()
    assert deployment.broker.published == [OpenRecordKey(trace_id=name_trace(1))]


def test_the_job_turns_every_second_and_only_one_monitor_does_it(deployment):
    (job,) = [job for job in deployment.make_chores().build_jobs() if job.name == ASSEMBLY]
    assert (job.interval_seconds, job.retry_seconds, job.is_exclusive) == (1.0, 1.0, True)
    deployment.gather(1)
    deployment.clock.advance(5)
    job.run()
    assert len(deployment.broker.published) == 1


def test_every_job_has_its_name(deployment):
    assert sorted(job.name for job in deployment.make_chores().build_jobs()) == sorted(JOB_NAMES)


def test_a_backlog_is_published_in_batches(deployment):
    deployment.gather(*range(1, 8))
    deployment.clock.advance(5)
    deployment.make_chores(sweep_batch=3).close_traces()
    assert deployment.broker.batches == [3, 3, 1]


def test_a_work_queue_full_of_evaluations_keeps_no_trace_open(deployment):
    deployment.gather(1, 2, 3)
    deployment.clock.advance(5)
    options = MonitorOptions(queued_for_seconds=150)
    deployment.broker = ListBroker(waiting=options.sweep_queue_limit)
    deployment.make_chores().close_traces()
    assert len(deployment.broker.published) == 3


def test_a_work_queue_at_the_limit_of_traces_gets_no_more(deployment):
    deployment.gather(1, 2, 3)
    deployment.clock.advance(5)
    deployment.broker = ListBroker(waiting=9)
    deployment.make_chores(assembly_queue_limit=10).close_traces()
    assert len(deployment.broker.published) == 1


def test_what_was_taken_and_not_published_comes_again(deployment):
    deployment.gather(1)
    deployment.clock.advance(5)
    deployment.broker.refuses_publishing = True
    with pytest.raises(BrokerLostError):
        deployment.make_chores().close_traces()
    deployment.broker.refuses_publishing = False
    deployment.clock.advance(150)
    deployment.make_chores().close_traces()
    assert len(deployment.broker.published) == 1


def test_the_open_traces_are_shown(deployment):
    deployment.make_chores().count_gathered()
    assert deployment.read_open() == [0]
    deployment.gather(1, 2)
    deployment.make_chores().count_gathered()
    assert deployment.read_open() == [2]


def test_spans_of_closed_traces_are_dropped_at_their_age(deployment):
    deployment.gather(1)
    deployment.clock.advance(5)
    deployment.spans.settle(deployment.spans.claim(name_trace(1)), admitted=())
    deployment.clock.advance(2 * 86_400)
    drop_expired(deployment.engine, today=deployment.clock.now().date(), retention={"span": 1})
    deployment.gather(1)
    deployment.clock.advance(5)
    assert not deployment.spans.claim(name_trace(1)).closed_before
