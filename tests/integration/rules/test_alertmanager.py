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
REGRESSIONS = ("RagsondeRegression", "RagsondeRegressionSuspected", "RagsondeRegressionFallback")


@pytest.fixture
def alertmanager(tmp_path):
    settings = yaml.safe_load(SETTINGS.read_text())
    settings["global"].pop("smtp_auth_password_file")
    settings["route"]["group_wait"] = "1h"  # nobody is told in this test
    with run_alertmanager(settings, folder=tmp_path) as running:
        yield running


def alert(name, **place):
    return {"alertname": name, "severity": ALERTS[name], **place}


SHOP = {"app": "shop", "environment": "production"}
BLOG = {"app": "blog", "environment": "production"}


@pytest.mark.parametrize(
    ("source", "silenced", "told"),
    [
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
        (
            alert("RagsondeRegression", **SHOP),
            [alert("RagsondeRegressionSuspected", **SHOP), alert("RagsondeRegressionFallback", **SHOP)],
            [
                alert("RagsondeRegressionSuspected", **BLOG),
                alert("RagsondeRegressionFallback", app="shop", environment="staging"),
                alert("RagsondeInsufficientUp", **SHOP),
            ],
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


def test_a_judge_that_is_away_silences_nothing_that_another_judge_may_have_seen(alertmanager):
    judges = ("RagsondeJudgeDown", "RagsondeJudgePaused", "RagsondeJudgeMoved")
    seen = [alert(name, **SHOP) for name in (*REGRESSIONS[1:], "RagsondeCoverageDrop")]
    # what is silenced here tells that the inhibitor has heard of all
    cause, known = alert("RagsondeQueueOld"), alert("RagsondeQueueGrowing")
    alertmanager.fire(*(alert(name) for name in judges), *seen, cause, known)
    wait_for(
        lambda: "RagsondeQueueGrowing" in list_inhibited(alertmanager), seconds=20, what="silence of one"
    )
    assert list_inhibited(alertmanager) == {"RagsondeQueueGrowing"}
    assert len(alertmanager.read()) == len(judges) + len(seen) + 2


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
    for rule in settings["inhibit_rules"]:
        for matcher in (*rule["source_matchers"], *rule["target_matchers"]):
            pattern = matcher.partition("=")[2].strip('~ "')
            wanted = re.split(r"[()|]", pattern)
            assert any(re.fullmatch(pattern, name) for name in ALERTS), matcher
            prefix = wanted[0]
            for ending in filter(None, wanted[1:]):
                assert prefix + ending in ALERTS, matcher
