"""Every snapshot is renewed by one job of the monitor, which each monitor does for itself."""

from collections import Counter

from fakes.clock import FakeClock
from ragsonde.exposition.declaration import Kind
from ragsonde.exposition.registry import Series
from ragsonde.exposition.series import MONITOR_SERIES, WORKER_SERIES
from ragsonde.monitor.backfill_jobs import BackfillChores
from ragsonde.monitor.check_jobs import CheckChores
from ragsonde.monitor.chores import Chores, MonitorOptions
from ragsonde.monitor.judge_jobs import JudgeChores
from ragsonde.monitor.ledger_jobs import LedgerChores
from ragsonde.watching.block_jobs import BlockChores
from ragsonde.watching.gauge_jobs import RegressionGaugeChores

SNAPSHOTS = [declared for declared in MONITOR_SERIES if declared.kind is Kind.SNAPSHOT]


def build_all_jobs():
    shared = {"engine": None, "series": Series(MONITOR_SERIES), "clock": FakeClock()}
    queued = {"queued_for_seconds": 150}
    brokers = dict.fromkeys(("sweeping_broker", "closing_broker", "counting_broker"))
    judges = {"judges": (), "fingerprints": {}}
    chores = (
        Chores(options=MonitorOptions(**queued), should_pause=bool, **brokers, **shared),
        JudgeChores(**judges, **shared),
        CheckChores(paid=frozenset(), broker=None, **judges, **queued, **shared),
        BackfillChores(assignments={}, broker=None, should_pause=bool, **queued, **shared),
        LedgerChores(kept_days=1, **shared),
        BlockChores(kept_days=1, **shared),
        RegressionGaugeChores(page_days=365, **shared),
    )
    return [job for one in chores for job in one.build_jobs()]


JOBS = build_all_jobs()


def test_each_snapshot_is_shown_by_one_job():
    shown = Counter(declared.name for job in JOBS for declared in job.shows)
    assert shown == Counter(declared.name for declared in SNAPSHOTS)


def test_no_job_that_is_left_to_another_monitor_shows_a_snapshot():
    """A monitor whose job is always done by the other would show nothing, or what was true long ago."""
    assert [job.name for job in JOBS if job.is_exclusive and job.shows] == []


def test_a_gauge_of_the_monitor_that_is_no_snapshot_is_about_its_own_jobs():
    gauges = [declared for declared in MONITOR_SERIES if declared.kind is Kind.GAUGE]
    assert {declared.labels for declared in gauges} == {("job_name",)}


def test_a_worker_has_no_snapshots():
    """Nothing in a worker says when they would be renewed."""
    assert [declared.name for declared in WORKER_SERIES if declared.kind is Kind.SNAPSHOT] == []
