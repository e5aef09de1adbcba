"""No job of the monitor may die unseen whose series alerts read, or without which work stands still."""

import re

from builders.alert_rules import read_rules
from fakes.clock import FakeClock
from ragsonde.monitor.backfill_jobs import BackfillChores
from ragsonde.monitor.check_jobs import CheckChores
from ragsonde.monitor.chores import Chores, MonitorOptions
from ragsonde.monitor.judge_jobs import JudgeChores
from ragsonde.monitor.label_jobs import LabelChores
from ragsonde.monitor.ledger_jobs import LedgerChores
from ragsonde.monitor.upkeep import Upkeep
from ragsonde.watching.block_jobs import BlockChores
from ragsonde.watching.gauge_jobs import RegressionGaugeChores
from ragsonde.watching.jobs import RegressionChores

RULES = read_rules()
(STALE,) = (rule for rule in RULES if rule.name == "RagsondeMonitorStale")
LIMITS = {
    rule.name: float(re.fullmatch(r"vector\((.+)\)", rule.body["expr"])[1])
    for rule in RULES
    if rule.name.endswith("age_seconds:limit")
}
WITHOUT_THEM_WORK_STANDS_STILL = {
    "sweeper",
    "assembly",
    "labels",
    "rates",
    "checks",
    "epochs",
    "partitions",
    "score_blocks",
    "regression",
}


def build_jobs():
    """All jobs of a monitor that has nothing to work on."""
    parts = {"engine": None, "clock": FakeClock()}
    judging = {"judges": (), "fingerprints": {}, "series": None}
    publishing = {"broker": None, "queued_for_seconds": 60, "series": None}
    never = {"should_pause": lambda: False}
    brokers = dict.fromkeys(("sweeping_broker", "closing_broker", "counting_broker"))
    chores = (
        Chores(options=MonitorOptions(queued_for_seconds=60), series=None, **brokers, **parts, **never),
        Upkeep(retention_days={}, texts=None, **parts, **never),
        JudgeChores(**judging, **parts),
        CheckChores(paid=frozenset(), **(judging | publishing), **parts),
        BackfillChores(assignments={}, **publishing, **parts, **never),
        LedgerChores(kept_days=1, series=None, **parts),
        LabelChores(**parts),
        BlockChores(kept_days=1, series=None, **parts),
        RegressionChores(options=None, **parts),
        RegressionGaugeChores(series=None, **parts),
    )
    return {job.name: job for one in chores for job in one.build_jobs()}


def list_watched():
    """Each job that the alert names, with its limit."""
    found = re.findall(r'job_name=~"([^"]+)"\}.*?scalar\((\S+)\)', STALE.body["expr"])
    assert len(found) == len(LIMITS) == 2
    return {job: LIMITS[limit] for jobs, limit in found for job in jobs.split("|")}


def test_every_job_is_watched_whose_series_alerts_read():
    text = "\n".join(rule.text for rule in RULES)
    read = {
        job.name
        for job in build_jobs().values()
        for shown in job.shows
        if re.search(rf"(?<![:\w]){shown.full_name}(?![:\w])", text)
    }
    assert {"queues", "gathered", "invariants", "pauses", "budgets", "drift", "regression_gauges"} <= read
    assert read | WITHOUT_THEM_WORK_STANDS_STILL <= list_watched().keys()


def test_only_jobs_are_watched_that_there_are_and_that_come_often_enough():
    jobs = build_jobs()
    for name, limit in list_watched().items():
        assert jobs[name].interval_seconds <= 0.7 * limit, name


def test_the_description_is_of_the_same_jobs_and_limits():
    (query,) = re.findall(r'with query "([^"]+)"', STALE.body["annotations"]["description"])
    inner = STALE.body["expr"].split("max(", 1)[1].rsplit(")\nor\nabsent", 1)[0]
    assert query.split() == inner.replace('"', "'").split()
