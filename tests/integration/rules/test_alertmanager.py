"""The example of Alertmanager's settings, in a real one: who is told what, and what is silenced by what."""

import re
from pathlib import Path

import pytest
import yaml

from builders.alert_rules import read_rules
from services.alertmanager import run_alertmanager
from services.promtool import require_tool, run_tool
from services.waiting import wait_for

pytestmark = pytest.mark.integration

SETTINGS = Path(__file__).parents[3] / "deploy" / "alertmanager" / "alertmanager.yaml"
ALERTS = {rule.name: rule.body["labels"]["severity"] for rule in read_rules() if rule.is_alert}
FROM_THE_DETECTOR = {"RagsondeRegression", "RagsondeRegressionSuspected", "RagsondeRegressionFallback"}


@pytest.fixture
def alertmanager(tmp_path):
    settings = yaml.safe_load(SETTINGS.read_text())
    settings["global"].pop("smtp_auth_password_file")
    settings["route"]["group_wait"] = "1h"  # nobody is told in this test
    with run_alertmanager(settings, folder=tmp_path) as running:
        yield running


def alert(name, **place):
    return {"alertname": name, "severity": ALERTS.get(name, "page"), **place}


SHOP = {"app": "shop", "environment": "production"}
BLOG = {"app": "blog", "environment": "production"}


@pytest.mark.parametrize(
    ("source", "silenced", "told"),
    [
        (
            alert("RagsondeJudgeDown"),
            [alert("RagsondeRegression", **SHOP), alert("RagsondeCoverageDrop", **BLOG)],
            [alert("RagsondeEmptyRetrieval", **SHOP), alert("RagsondeJudgeErrors")],
        ),
        (
            alert("RagsondeDatabaseErrors"),
            [
                alert("RagsondeMonitorStale"),
                alert("RagsondeWorkerStalled"),
                alert("RagsondeNoTraces", **SHOP),
            ],
            [alert("RagsondeParked"), alert("RagsondeJudgePaused")],
        ),
        (
            alert("RagsondeWorkerStalled"),
            [alert("RagsondeQueueOld"), alert("RagsondeQueueGrowing"), alert("RagsondeNoTraces", **SHOP)],
            [alert("RagsondeMonitorStale")],
        ),
        (alert("RagsondeQueueOld"), [alert("RagsondeQueueGrowing")], [alert("RagsondeNoTraces", **SHOP)]),
        (
            alert("RagsondeEmptyRetrieval", **SHOP),
            [alert("RagsondeRegressionSuspected", **SHOP)],
            [alert("RagsondeCoverageDrop", **BLOG), alert("RagsondeRegression", **SHOP)],
        ),
    ],
    ids=lambda value: value["alertname"] if isinstance(value, dict) else "",
)
def test_a_cause_silences_what_follows_from_it_and_nothing_else(alertmanager, source, silenced, told):
    alertmanager.fire(source, *silenced, *told)
    expected = {one["alertname"] for one in silenced}
    # the inhibitor hears of an alert a moment after it was taken
    wait_for(lambda: list_inhibited(alertmanager) == expected, seconds=20, what=f"silence of {expected}")
    assert len(alertmanager.read()) == 1 + len(silenced) + len(told)


def list_inhibited(alertmanager):
    return {one["labels"]["alertname"] for one in alertmanager.read() if one["status"]["inhibitedBy"]}


def test_each_alert_goes_to_whom_its_severity_says():
    amtool = require_tool("amtool")
    for name, severity in ALERTS.items():
        receiver = {"page": "on-call", "warn": "team-mail"}[severity]
        labels = (f"alertname={name}", f"severity={severity}")
        code, told = run_tool(amtool, "config", "routes", "test", f"--config.file={SETTINGS}", *labels)
        assert (code, told.splitlines()[0]) == (0, receiver), name


def test_it_names_alerts_that_exist_and_groups_by_app_and_environment():
    settings = yaml.safe_load(SETTINGS.read_text())
    assert settings["route"]["group_by"] == ["app", "environment"]
    known = set(ALERTS) | FROM_THE_DETECTOR
    for rule in settings["inhibit_rules"]:
        for matcher in (*rule["source_matchers"], *rule["target_matchers"]):
            pattern = matcher.partition("=")[2].strip('~ "')
            wanted = re.split(r"[()|]", pattern)
            assert any(re.fullmatch(pattern, name) for name in known), matcher
            prefix = wanted[0]
            for ending in filter(None, wanted[1:]):
                assert prefix + ending in known, matcher
