"""Traces in, alerts out: a real worker and monitor, Prometheus with our rules, Alertmanager with our routes.

A minute of the rules is a second here (services.alert_stack): what people are told after 10 minutes comes
after 10 seconds. Each condition must make its own alert arrive, with its labels and links, and no other one.
"""

from __future__ import annotations

import json
import re
import time
import urllib.request
from contextlib import contextmanager
from datetime import UTC
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from builders.alert_rules import read_rules
from services.alert_stack import QUICK, RUNBOOKS, running_alert_stack
from services.judging_worker import make_judge
from services.mock_llm_process import running_llm
from services.planted_falls import planting
from services.traffic import ENVIRONMENT, Health
from services.waiting import wait_for
from services.webhook import Told

if TYPE_CHECKING:
    from collections.abc import Iterator

    from services.alert_stack import AlertStack

pytestmark = [pytest.mark.e2e, pytest.mark.integration]

DOCS = Path(__file__).parents[2] / "docs" / "runbooks"
LEXICAL = {"name": "lexical", "kind": "lexical"}
SEVERITIES = {rule.name: rule.body["labels"]["severity"] for rule in read_rules() if rule.is_alert}
HEALTHY = 20
"""Evaluations without an alert: all wait for 15 at most but the one of check sets, and there is none."""
AFTERWARDS = 10
"""Evaluations in which nothing else may be told. With those that its own alert took they are more than 15."""
SINCE_SECONDS = 1800
"""How far the told beginning of a fall may be from the planted one."""
GROWTH = 3
"""Messages a second by which a queue grows: none of them waits for the 10 seconds that would be too long."""
SELECTOR = re.compile(r"(?<![:\w])(ragsonde_[a-z_]+(?:\{[^}]*\})?)")
NOT_YET_THERE = {
    # there is no check set
    "ragsonde_judge_drift",
    "ragsonde_judge_drift_stderr",
    # rates of an hour are those of apps that had traces in an earlier one
    "ragsonde_judge_sample_rate",
    "name_app:ragsonde_sample_rate:avg1h",
    # every judge answers
    "judge_model:ragsonde_judge_down:calls15m",
    "name:ragsonde_judge_away:judges",
}


def told(alert, **place):
    """What people are told of an alert: by whom, and with exactly which labels."""
    severity = SEVERITIES[alert]
    receiver = {"page": "on-call", "warn": "team-mail"}[severity]
    return Told(receiver, frozenset({"alertname": alert, "severity": severity, **place}.items()))


def placed(alert, app):
    return told(alert, app=app, environment=ENVIRONMENT)


@pytest.fixture
def plant(rabbitmq_deployment):
    """Counts ten days of a stream of an app's scores, which the monitor has yet to judge."""

    def plant_stream(app, *, has_fallen):
        with planting(rabbitmq_deployment.database_url) as planted:
            planted.add(has_fallen=has_fallen, app=app, environment=ENVIRONMENT)
            return planted.fell_at

    return plant_stream


@pytest.fixture
def run_stack(rabbitmq_deployment):
    """Starts a stack whose traces are judged by the lexical judge, and by an LLM where one is given."""

    @contextmanager
    def run(*apps, llm=None) -> Iterator[AlertStack]:
        judges = [LEXICAL]
        if llm is not None:
            budget = {"calls_per_hour": 100_000, "calls_per_day": 1_000_000}
            judges.append(make_judge(llm.url, api_key="none", budget=budget))
        rabbitmq_deployment.settings["RAGSONDE_JUDGES"] = json.dumps(judges)
        with running_alert_stack(rabbitmq_deployment, apps=apps) as stack:
            yield stack

    return run


def expect_told(stack, expected, *, is_page_there=True):
    """Passes when exactly these alerts come, and no other one follows."""
    try:
        wait_for(lambda: stack.webhook.told >= expected, seconds=180, what=str(expected))
        stack.wait_for_evaluations(AFTERWARDS)
        assert stack.webhook.told == expected
    except AssertionError as error:
        error.add_note(f"told: {stack.webhook.told}\n{stack.describe_alerts()}")
        raise
    for alert in expected:
        check_links(stack, alert, is_page_there=is_page_there)


def check_links(stack, alert, *, is_page_there):
    """The runbook is one of ours, and the page, where it is there, tells of the alert."""
    name = dict(alert.labels)["alertname"]
    annotations = stack.webhook.read_annotations(alert)
    assert annotations.keys() == {"summary", "description", "runbook_url", "page_url"}
    assert annotations["summary"]
    assert annotations["description"]
    assert annotations["runbook_url"] == f"{RUNBOOKS}/{name}.md"
    assert (DOCS / f"{name}.md").exists()
    assert annotations["page_url"].startswith(f"{stack.monitor.url}/alerts/{name}")
    if not is_page_there:
        return
    with urllib.request.urlopen(annotations["page_url"], timeout=30) as answer:  # noqa: S310 - our page
        assert name in answer.read().decode()


def test_healthy_traffic_is_silent_and_each_ill_app_makes_its_own_alert(run_stack, plant):
    plant("shop", has_fallen=False)
    with running_llm() as llm, run_stack("shop", "docs", "help", "blog", llm=llm) as stack:
        begun = time.time()
        stack.wait_for_evaluations(HEALTHY)
        check_that_alerts_could_have_fired(stack)
        fired = stack.prometheus.query_range(
            'ALERTS{alertstate="firing"}', since=begun, until=time.time(), step=1
        )
        assert fired == []
        assert stack.webhook.told == set()

        stack.traffic.turn("docs", Health.EMPTY)
        stack.traffic.turn("help", Health.LACKING)
        stack.traffic.turn("blog", Health.SILENT)
        with stack.deployment.publisher() as publisher:
            for number in range(20):
                publisher.publish_trace(b"no trace %d" % number, content_type="application/json")
        expect_told(
            stack,
            {
                placed("RagsondeEmptyRetrieval", "docs"),
                placed("RagsondeInsufficientUp", "help"),
                placed("RagsondeNoTraces", "blog"),
                told("RagsondeParked"),
            },
        )


def check_that_alerts_could_have_fired(stack):
    """Every rule is evaluated without error, and all that it reads is there, of now and of a day ago."""
    rules = stack.list_rules()
    assert {rule["name"] for rule in rules} == {rule.name for rule in read_rules()}
    assert [rule for rule in rules if rule["health"] != "ok" or rule.get("lastError")] == []
    read = {selector for rule in QUICK for selector in SELECTOR.findall(rule.body["expr"])}
    read |= {
        f"{name} offset {offset}"
        for rule in QUICK
        for name, offset in re.findall(r"([a-z_]+:[a-z_]+:\w+) offset (\w+)", rule.body["expr"])
    }
    read |= {rule.name for rule in QUICK if not rule.is_alert}
    assert len(read) > 60
    missing = {one for one in read if not stack.prometheus.ask("query", query=one)["result"]}
    assert missing <= NOT_YET_THERE


def test_a_judge_that_is_down_is_told(run_stack):
    with running_llm() as llm, run_stack("shop", llm=llm) as stack:
        llm.run_script("503")
        expect_told(stack, {told("RagsondeJudgeDown")})


def test_a_worker_that_is_killed_is_told(run_stack):
    with run_stack("shop", "docs") as stack:
        stack.worker.kill()
        expect_told(stack, {told("RagsondeWorkerStalled")})


def test_a_queue_that_grows_is_told(run_stack):
    # the judge's pace is the worker's, whatever the machine's: 20 traces a second at most
    with running_llm(latency_seconds=0.2) as llm, run_stack("shop", llm=llm) as stack:
        expected = {told("RagsondeQueueGrowing")}
        with stack.deployment.publisher() as publisher:
            begun = time.monotonic()

            def keep_growing():
                backlog = GROWTH * (time.monotonic() - begun)
                for _ in range(int(backlog) - publisher.count_messages()["ragsonde.traces"]):
                    body = json.dumps(stack.traffic.make("shop")).encode()
                    publisher.publish_trace(body, content_type="application/json")
                return stack.webhook.told

            wait_for(keep_growing, seconds=120, what=f"{expected}")
        expect_told(stack, expected)


def test_a_fall_of_scores_is_told_once_and_a_steady_stream_is_not(run_stack, plant):
    fell_at = plant("shop", has_fallen=True)
    plant("docs", has_fallen=False)
    expected = placed("RagsondeRegression", "shop")
    with run_stack("shop", "docs") as stack:
        expect_told(stack, {expected})
        states = 'ragsonde_regression_state{app="%s",judge="lexical@f"}'
        assert [stack.prometheus.query(states % app) for app in ("shop", "docs")] == [[2.0], [0.0]]
        words = stack.webhook.read_annotations(expected)["description"]
        ((drop, lower, upper, since),) = stack.deployment.query(
            "SELECT explanation ->> 'drop', explanation ->> 'drop_lower', explanation ->> 'drop_upper', "
            "since FROM alert WHERE closed_at IS NULL AND paged_at IS NOT NULL AND app = 'shop'"
        )
    assert abs(since - fell_at).total_seconds() <= SINCE_SECONDS
    interval = f"by {float(drop):.2f} ({float(lower):.2f} to {float(upper):.2f})"
    assert f"context_precision by lexical@f: {interval} from a mean of 0.80" in words
    assert f"since {since.astimezone(UTC):%Y-%m-%d %H:%M} UTC." in words


def test_without_a_monitor_a_fall_is_told_by_the_coarse_rule(run_stack):
    with run_stack("shop", "help") as stack:
        stack.monitor.kill()
        stack.traffic.turn("help", Health.RANKED_LOW)
        expected = {told("RagsondeMonitorStale"), placed("RagsondeRegressionFallback", "help")}
        # the page that they lead to is away with the monitor
        expect_told(stack, expected, is_page_there=False)
