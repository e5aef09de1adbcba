"""An alert's own numbers, as the monitor counts them."""

from __future__ import annotations

from datetime import timedelta

import pytest

from builders.alert_rules import read_rules
from fakes.watching import NOON
from ragsonde.exposition.series import MONITOR_SERIES
from ragsonde.page.alerts import ALERTS
from ragsonde.page.standing import describe_queues, list_blocks
from ragsonde_schemas.watched_alert import MOST_WAITING, JudgeStanding
from ragsonde_schemas.watched_list import Sign
from services.page_client import ask


def read(values):
    return lambda name: values.get(name, {})


def blocks(name, values, *standings):
    return list_blocks(name, read(values), list_standings=lambda: standings, now=NOON)


def test_what_waits_in_each_queue_stands_beside_the_limit():
    growing, oldest = blocks(
        "RagsondeQueueGrowing",
        {
            "queue_messages": {("ragsonde.work",): 12.0, ("ragsonde.traces",): 1299.0},
            "queue_oldest_seconds": {(): 75.0},
        },
    )
    assert growing.rows == (("ragsonde.traces", "1,299"), ("ragsonde.work", "12"))
    assert growing.limit.startswith("1,000 messages")
    assert oldest.rows == (("all", "75 s"),)


def test_a_paused_judge_says_since_when_and_why():
    standing = JudgeStanding(
        judge="gpt",
        fingerprint="f" * 16,
        waiting=MOST_WAITING,
        waits_since=NOON - timedelta(hours=2),
        paused_since=NOON - timedelta(minutes=5),
        pause_message="401 no such key",
    )
    *_, judges = blocks("RagsondeJudgePaused", {}, standing)
    assert judges.rows == (
        (
            "gpt@ffffff",
            (
                "paused since 5 min ago: 401 no such key; "
                "10,000 or more evaluations wait, the oldest born 2 h ago"
            ),
        ),
    )


def test_the_job_that_has_not_succeeded_for_longest_comes_first():
    now = NOON.timestamp()
    (jobs,) = blocks(
        "RagsondeMonitorStale",
        {
            "monitor_job_last_success_timestamp_seconds": {
                ("queues",): now - 2,
                ("ledger",): now - 6000,
                ("drift",): 0.0,
            }
        },
    )
    assert jobs.rows == (
        ("drift", "not yet since this monitor began"),
        ("ledger", "6,000 s ago"),
        ("queues", "2 s ago"),
    )


@pytest.mark.parametrize(
    ("name", "series", "values", "row"),
    [
        (
            "RagsondeBudgetNearlySpent",
            "judge_budget_ratio",
            {("gpt", "day"): 0.84},
            ("gpt, day", "84\u00a0%"),
        ),
        ("RagsondeJudgeMoved", "judge_drift", {("gpt", "x"): -0.0412}, ("gpt, x", "-0.041")),
        (
            "RagsondeRegression",
            "regression_drop",
            {("context_precision", "lexical@0123ab", "shop", "production"): 0.123},
            ("context_precision, lexical@0123ab, shop, production", "0.12"),
        ),
        ("RagsondeConfigDiffers", "config_info", {("a20b",): 1.0}, ("a20b", "in force here")),
        (
            "RagsondeLedgerBroken",
            "ledger_violations",
            {("scored_has_score",): 3.0},
            ("scored_has_score", "3"),
        ),
    ],
)
def test_each_alert_shows_its_own_number(name, series, values, row):
    assert blocks(name, {series: values})[0].rows == (row,)


def test_evidence_of_a_fall_stands_beside_what_a_page_needs():
    stream = ("context_precision", "lexical@0123ab", "shop", "production")
    values = {
        "regression_evidence_days": {stream: 1234.5},
        "regression_page_threshold_days": {stream: 730.0},
        "regression_baseline_mean": {stream: 0.706},
    }
    drop, evidence, page, mean = blocks("RagsondeRegressionSuspected", values)
    assert drop.rows == ()
    assert [one.rows[0][1] for one in (evidence, page, mean)] == ["1,234 days", "730 days", "0.71"]
    values["regression_evidence_days"][stream] = 0.02
    assert blocks("RagsondeRegressionSuspected", values)[1].rows[0][1] == "less than a day"


@pytest.mark.parametrize("name", [name for name, one in ALERTS.items() if one.sign is Sign.NONE])
def test_an_alert_that_no_trace_shows_has_numbers(name):
    assert name == "RagsondeParked" or blocks(name, {})


def test_only_series_that_the_monitor_holds_are_asked_for():
    held = {one.name for one in MONITOR_SERIES}
    asked: set[str] = set()

    def note(name):
        asked.add(name)
        return {}

    for rule in read_rules():
        list_blocks(rule.name, note, list_standings=tuple, now=NOON)
    assert asked
    assert asked <= held


def test_nobody_says_that_nothing_waits_while_the_broker_holds_messages(start):
    held = {"queue_messages": {("ragsonde.traces",): 299.0, ("ragsonde.work",): 0.0}}
    assert describe_queues(read(held)) == "Messages that wait in queues: 299 in ragsonde.traces."
    assert "299 in ragsonde.traces" in ask(start(series=held), "/")[2]
    assert "not known" in describe_queues(read({}))
