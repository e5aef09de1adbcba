"""Rules and routes whose times are divided: all of them, and nothing else."""

import pytest

from builders.alert_rules import THRESHOLDS, Rule, read_rules
from builders.quick_rules import (
    BACKLOGS,
    KEPT,
    TIMES,
    Remembered,
    list_remembered,
    quicken_duration,
    quicken_expression,
    quicken_offset,
    quicken_routes,
    quicken_rule,
    quicken_text,
)


@pytest.mark.parametrize(
    ("given", "expected"),
    [("5m", "5000ms"), ("1h", "60000ms"), ("1h30m", "90000ms"), ("15s", "250ms"), ("1d", "1440000ms")],
)
def test_a_duration_is_divided(given, expected):
    assert quicken_duration(given, 60) == expected


@pytest.mark.parametrize("given", ["5", "m", "5 m", "-5m", "1.5h", "5x", "", "7ms"])
def test_what_is_no_duration_or_leaves_a_rest_is_refused(given):
    with pytest.raises(ValueError, match=r"expected a duration|cannot be divided"):
        quicken_duration(given, 60)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("15m", 15_000),
        ("1d", 86_400_000),
        ("1w", 7 * 86_400_000),
        ("23h30m", 86_400_000 - 30_000),
        ("24h30m", 86_400_000 + 30_000),
        ("167h30m", 7 * 86_400_000 - 30_000),
    ],
)
def test_whole_days_of_an_offset_stay(given, expected):
    assert quicken_offset(given, 60) == f"{expected}ms"


@pytest.mark.parametrize("given", ["12h", "36h", "-1h", "1.5h"])
def test_an_offset_between_days_or_into_the_future_is_refused(given):
    with pytest.raises(ValueError, match=r"as near to|expected a duration"):
        quicken_offset(given, 60)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("increase(a_total[5m]) > 0", "increase(a_total[5000ms]) > 0"),
        ("max_over_time(a[1h:1m]) or a[1h:]", "max_over_time(a[60000ms:1000ms]) or a[60000ms:]"),
        ("x:y:share15m > 2 * (x:y:share15m offset 15m)", "x:y:share15m > 2 * (x:y:share15m offset 15000ms)"),
        (
            'label_replace(a, "b", "5m [1h] 300", "c", "([^@]*).*")',
            'label_replace(a, "b", "5m [1h] 300", "c", "([^@]*).*")',
        ),
        ("a{b='[5m]'} / 4 + 0.05", "a{b='[5m]'} / 4 + 0.05"),
        ("a > time() % 86400 / 86400 + 0.05", "a > time() % 86400 / 86400 + 0.05"),
        ("time() - a > scalar(b:c:limit)", "time() - a > scalar(b:c:limit)"),
    ],
)
def test_an_expression_is_divided_where_it_holds_times(given, expected):
    assert quicken_expression(given, 60) == expected


@pytest.mark.parametrize(
    "given",
    [
        "time() - a < 300",
        "time() - a < 30",
        "a > 300",
        "a > time() % 7200 / 7200",
        "a > 5m",
        "a[5]",
        "a[$window]",
        "a offset -5m",
        "a @ end()",
    ],
)
def test_an_expression_with_a_time_that_is_not_known_is_refused(given):
    with pytest.raises(ValueError, match="expected"):
        quicken_expression(given, 60)


def test_queries_of_an_annotation_are_divided_and_its_words_are_not():
    text = (
        'For 15 minutes [1h]: {{ range query "sum(increase(a[1h])) > 0" }}{{ printf "%.0f" .Value }}{{ end }}'
    )
    assert quicken_text(text, 60) == text.replace("(a[1h])", "(a[60000ms])")


def test_all_committed_rules_are_known():
    rules = read_rules()
    quick = [quicken_rule(rule, 60) for rule in rules]
    assert [rule.name for rule in quick] == [rule.name for rule in rules]
    assert all(rule.body["for"].endswith("000ms") for rule in quick if rule.is_alert)
    assert {rule.name for rule in rules if rule.group == THRESHOLDS} == TIMES | BACKLOGS | KEPT
    assert {name for name in TIMES | BACKLOGS | KEPT if "seconds" in name} == TIMES


def test_a_threshold_that_is_not_known_is_refused():
    rule = Rule(THRESHOLDS, {"record": "ragsonde:new_thing:limit", "expr": "vector(5)"})
    with pytest.raises(ValueError, match="is it a time"):
        quicken_rule(rule, 60)


def test_a_key_that_is_not_known_is_refused():
    with pytest.raises(ValueError, match="keep_firing_for"):
        quicken_rule(Rule("g", {"alert": "A", "expr": "a", "keep_firing_for": "5m"}), 60)


def test_what_is_read_of_a_day_or_more_ago_is_listed():
    rules = [
        Rule("g", {"record": "a:b:c1h", "expr": "a:b:d1h offset 167h30m < a:b:d1h offset 23h30m"}),
        Rule("g", {"alert": "A", "expr": "(a:b:e1h offset 1d) - a:b:e1h offset 15m"}),
        Rule("g", {"record": "a:b:f1h", "expr": "avg_over_time(a:b:g1h[7d] offset 1d)"}),
    ]
    days = {("a:b:d1h", 7), ("a:b:d1h", 1), ("a:b:e1h", 1), ("a:b:g1h", 1)}
    expected = {Remembered(*one) for one in days}
    assert list_remembered(rules) == expected


def test_waits_of_routes_are_divided_at_every_depth():
    settings = {
        "global": {"resolve_timeout": "5m", "smtp_from": "5m"},
        "route": {"group_wait": "1m", "receiver": "a", "routes": [{"repeat_interval": "2h"}]},
        "receivers": [],
    }
    assert quicken_routes(settings, 60) == {
        "global": {"resolve_timeout": "5000ms", "smtp_from": "5m"},
        "route": {"group_wait": "1000ms", "receiver": "a", "routes": [{"repeat_interval": "120000ms"}]},
        "receivers": [],
    }
