"""Panels, vertical lines and rules make one value of several processes' gauges as the declarations say."""

from __future__ import annotations

import re

import pytest

from builders.alert_rules import read_rules
from ragsonde.exposition.declaration import Kind
from ragsonde.exposition.series import MONITOR_SERIES, RECEIVER_SERIES, WORKER_SERIES
from services.grafana import NAMES, list_asked, list_marks, read_dashboard

GAUGES = {
    one.full_name: one
    for one in (*WORKER_SERIES, *MONITOR_SERIES, *RECEIVER_SERIES)
    if one.kind in {Kind.GAUGE, Kind.SNAPSHOT, Kind.INFO}
}
AGGREGATIONS = {"sum", "min", "max", "avg", "count", "group", "stddev", "quantile", "topk", "bottomk"}
PRESENCE = {"present_over_time", "count_over_time", "absent"}
"""Functions after which it is asked no more what the gauge said."""
_CALLED = re.compile(r"(\w+)\s*(?:(?:by|without)\s*\([^()]*\)\s*)?$")
_QUOTED = re.compile(r"\"[^\"]*\"|'[^']*'|\{[^}]*\}")

EXPRESSIONS = [
    *(
        pytest.param(asked.expression, id=f"{name}-{asked.panel['id']}-{asked.ref_id}")
        for name in NAMES
        for asked in list_asked(read_dashboard(name))
        if asked.expression
    ),
    *(
        pytest.param(mark.expression, id=f"{name}-{mark.panel['name']}")
        for name in NAMES
        for mark in list_marks(read_dashboard(name))
        if mark.expression
    ),
    *(pytest.param(rule.body["expr"], id=rule.name) for rule in read_rules()),
]


def list_calls(expression, place):
    """What is called around a place, from the inside out."""
    calls, depth = [], 0
    for at in range(place - 1, -1, -1):
        if expression[at] == ")":
            depth += 1
        elif expression[at] == "(" and depth:
            depth -= 1
        elif expression[at] == "(":
            called = _CALLED.search(expression[:at])
            calls += [called[1]] if called else []
    return calls


def find_gauges(expression):
    """Each gauge of an expression with the first that is done with all processes' values of it, or ''."""
    plain = _QUOTED.sub(lambda found: "_" * len(found.group()), expression)
    for found in re.finditer(r"(?<![:\w])ragsonde_[a-z_]+(?![:\w])", plain):
        name = found.group().rstrip("_")
        gauge = GAUGES.get(name)
        calls = list_calls(plain, found.start())
        if gauge is not None and not PRESENCE & set(calls):
            yield gauge, next((call for call in calls if call in AGGREGATIONS), "")


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_a_gauge_is_put_together_as_its_declaration_says(expression):
    for gauge, aggregation in find_gauges(expression):
        # whether one is there at all is the same question for any number of processes
        assert aggregation in {gauge.over_processes, "group"}, gauge.full_name


@pytest.mark.parametrize(
    ("expression", "found"),
    [
        ("sum(ragsonde_queue_messages)", [("queue_messages", "sum")]),
        ('sum(max by (queue) (ragsonde_queue_messages{queue="a)"}))', [("queue_messages", "max")]),
        ("time() - (max(ragsonde_queue_oldest_seconds) > 0)", [("queue_oldest_seconds", "max")]),
        ("time() - ragsonde_queue_oldest_seconds", [("queue_oldest_seconds", "")]),
        (
            "max(abs(ragsonde_judge_drift) > sum(ragsonde_in_flight))",
            [("judge_drift", "max"), ("in_flight", "sum")],
        ),
        ("sum(count_over_time(ragsonde_build_info[1h]))", []),
        ("sum(increase(ragsonde_parked_total[1h]))", []),
    ],
)
def test_what_is_done_first_is_found(expression, found):
    assert [(gauge.name, aggregation) for gauge, aggregation in find_gauges(expression)] == found
