"""No alert without its test, its runbook and its links; no series in a rule that nobody exposes."""

import json
import re
import shlex
from itertools import pairwise
from pathlib import Path

import pytest
import yaml

from builders.alert_rules import THRESHOLDS, list_test_files, read_rules
from ragsonde.cli.main import COMMANDS, load_command
from ragsonde.exposition.declaration import Kind
from ragsonde.exposition.series import MONITOR_SERIES, RECEIVER_SERIES, WORKER_SERIES
from ragsonde.page.alerts import ALERTS as EXPLAINED
from ragsonde.scoring.formula import Direction
from ragsonde.scoring.table import FORMULAS

ROOT = Path(__file__).parents[3]
RUNBOOKS = ROOT / "docs" / "runbooks"
RULES = read_rules()
ALERTS = {rule.name: rule.body for rule in RULES if rule.is_alert}
DECLARED = {one.full_name: one for one in (*WORKER_SERIES, *MONITOR_SERIES, *RECEIVER_SERIES)}
EXTERNAL = {"ragsonde_page", "ragsonde_runbooks"}
TARGET_LABELS = {"instance", "job"}
PLACED = {
    "RagsondeEmptyRetrieval",
    "RagsondeInsufficientUp",
    "RagsondeNoContextShareUp",
    "RagsondeNoTraces",
    "RagsondeCoverageDrop",
    "RagsondeExtractionChanged",
    "RagsondeRegression",
    "RagsondeRegressionSuspected",
    "RagsondeRegressionFallback",
}
EVERYWHERE = {
    "RagsondeMonitorStale",
    "RagsondeJudgeDown",
    "RagsondeJudgePaused",
    "RagsondeJudgeErrors",
    "RagsondeBudgetNearlySpent",
    "RagsondeQueueGrowing",
    "RagsondeQueueOld",
    "RagsondeParked",
    "RagsondeDeadLetters",
    "RagsondeWorkerStalled",
    "RagsondeDatabaseErrors",
    "RagsondeJudgeMoved",
    "RagsondeConfigDiffers",
    "RagsondeLedgerBroken",
}
HEADINGS = ["Meaning", "Impact", "Diagnosis", "Mitigation"]


def declared_of(name):
    """The declaration of a series as it is scraped; a histogram has three names."""
    return DECLARED.get(name) or DECLARED[re.sub(r"_(bucket|count|sum)$", "", name)]


def is_declared(name):
    stem = re.sub(r"_(bucket|count|sum)$", "", name)
    return name in DECLARED or (stem in DECLARED and DECLARED[stem].kind is Kind.HISTOGRAM)


def list_series(text):
    """Exposed series that a text names; what is recorded has colons."""
    return set(re.findall(r"(?<![:\w])ragsonde_[a-z_]+(?![:\w])", text)) - EXTERNAL


def read_tests(alert):
    return [test for file in list_test_files(alert) for test in yaml.safe_load(file.read_text())["tests"]]


def list_commands(text):
    """Command lines of ragsonde in a page, in blocks and in the running text."""
    blocks = re.findall(r"```sh\n(.*?)```", text, re.DOTALL)
    inline = re.findall(r"`(ragsonde [a-z][^`]*)`", text)
    lines = [line for block in blocks for line in block.splitlines()] + inline
    return [shlex.split(line, comments=True) for line in lines if line.startswith("ragsonde ")]


def test_the_alerts_are_those_of_the_reference():
    assert set(ALERTS) == PLACED | EVERYWHERE


@pytest.mark.parametrize("name", sorted(ALERTS))
def test_an_alert_has_all_its_parts(name):
    alert = ALERTS[name]
    assert re.fullmatch(r"\d+m", alert["for"])
    assert alert["labels"].keys() == {"severity"}
    assert alert["labels"]["severity"] in {"page", "warn"}
    annotations = alert["annotations"]
    assert annotations.keys() == {"summary", "description", "runbook_url", "page_url"}
    assert annotations["runbook_url"] == f"{{{{ $externalLabels.ragsonde_runbooks }}}}/{name}.md"
    place = (
        "?app={{ $labels.app | urlquery }}&environment={{ $labels.environment | urlquery }}"
        if name in PLACED
        else ""
    )
    assert annotations["page_url"] == f"{{{{ $externalLabels.ragsonde_page }}}}/alerts/{name}{place}"


@pytest.mark.parametrize("name", sorted(ALERTS))
def test_an_alert_is_tested_firing_and_silent_and_silent_before_it_fires(name):
    tests = read_tests(name)
    assert {test["name"].partition(":")[0] for test in tests} == {"fires", "silent"}
    labels = {"severity", "app", "environment"} if name in PLACED else {"severity"}
    waited = 0
    for test in tests:
        checks = test["alert_rule_test"]
        assert {check["alertname"] for check in checks} == {name}
        fired = [bool(check["exp_alerts"]) for check in checks]
        assert any(fired) == test["name"].startswith("fires:"), test["name"]
        waited += (False, True) in set(pairwise(fired))
        for alert in (alert for check in checks for alert in check["exp_alerts"]):
            assert alert["exp_labels"].keys() <= labels
            assert alert["exp_annotations"].keys() == ALERTS[name]["annotations"].keys()
    assert waited, "no test is silent first and then fires"


@pytest.mark.parametrize("name", sorted(ALERTS))
def test_the_tests_of_an_alert_load_its_file_and_what_it_reads(name):
    (group,) = {rule.group for rule in RULES if rule.name == name}
    file = f"../rules/{group.removeprefix('ragsonde_')}.yaml"
    for tests in map(yaml.safe_load, (path.read_text() for path in list_test_files(name))):
        assert tests["rule_files"] == ["../rules/thresholds.yaml", "../rules/recording.yaml", file]
        assert tests["group_eval_order"] == [THRESHOLDS, "ragsonde_recording", group]


@pytest.mark.parametrize("name", sorted(ALERTS))
def test_what_tests_feed_is_what_processes_expose(name):
    for test in read_tests(name):
        for fed in test["input_series"]:
            series, _, labels = fed["series"].partition("{")
            assert is_declared(series), series
            given = set(re.findall(r"(\w+)=", labels))
            assert given <= {*declared_of(series).labels, *TARGET_LABELS}, fed["series"]
            if declared_of(series).kind in {Kind.COUNTER, Kind.HISTOGRAM}:
                # a float overshoots, and reads as a counter that was reset
                assert "." not in fed["values"], fed
            assert not re.search(r"\.\d+[+-]\d|[+-]\d*\.\d+x", fed["values"].lstrip("-")), fed


def test_every_series_of_a_rule_is_declared_with_the_labels_it_is_chosen_by():
    named = {name for rule in RULES for name in list_series(rule.text)}
    assert len(named) > 20
    assert {name for name in named if not is_declared(name)} == set()
    for rule in RULES:
        for name, matchers in re.findall(r"(?<![:\w])(ragsonde_[a-z_]+)\{([^}%]*)\}", rule.text):
            chosen = set(re.findall(r"(\w+)(?:=|!)", matchers))
            assert chosen <= set(declared_of(name).labels), (rule.name, name)


def test_every_recorded_series_that_is_read_is_recorded_and_every_threshold_is_read():
    recorded = {rule.name for rule in RULES if not rule.is_alert}
    read = {name for rule in RULES for name in rule.needs}
    assert read <= recorded
    assert {rule.name for rule in RULES if rule.group == THRESHOLDS} <= read
    assert len(recorded) == sum(not rule.is_alert for rule in RULES)


def test_the_coarse_rule_leaves_out_scorers_that_are_good_near_a_target():
    (left_out,) = re.findall(r'scorer!~"([^"]+)"', ALERTS["RagsondeRegressionFallback"]["expr"])
    for formula in FORMULAS:
        for label in (formula.id, f"{formula.id}:answer", f"{formula.id}@0123ab"):
            is_left_out = re.fullmatch(left_out, label) is not None
            assert is_left_out is (formula.direction is Direction.TARGET), label


def test_a_suspected_fall_is_told_in_the_words_of_a_certain_one():
    certain, suspected = (
        ALERTS[name]["annotations"]["description"].split("sort_desc", 1)[1]
        for name in ("RagsondeRegression", "RagsondeRegressionSuspected")
    )
    assert suspected == certain.replace("} == 2))", "} == 1))")


def test_every_runbook_belongs_to_an_alert_and_every_alert_has_one():
    assert {file.stem for file in RUNBOOKS.glob("*.md")} == set(ALERTS)


@pytest.mark.parametrize("name", sorted(ALERTS))
def test_a_runbook_says_what_it_means_what_it_does_and_what_to_do(name):
    page = (RUNBOOKS / f"{name}.md").read_text()
    assert page.startswith(f"# {name}\n")
    parts = re.split(r"^## (.+)$", page, flags=re.MULTILINE)
    assert parts[1::2] == HEADINGS
    assert all(part.strip() for part in parts[2::2])
    assert {one for one in list_series(page) if not is_declared(one)} == set()
    recorded = set(re.findall(r"\b[a-z_]+:[a-z_]+:[a-z0-9_]+\b", page))
    assert recorded <= {rule.name for rule in RULES}
    for target in re.findall(r"\]\((\w+\.md)\)", page):
        assert (RUNBOOKS / target).is_file(), target


@pytest.mark.parametrize("name", sorted(ALERTS))
def test_a_runbook_names_commands_and_options_that_exist(name):
    lines = list_commands((RUNBOOKS / f"{name}.md").read_text())
    assert lines
    for _, command, *arguments in lines:
        assert command in COMMANDS, command
        options = {option for one in load_command(command).params for option in one.opts}
        for argument in arguments:
            assert not argument.startswith("-") or argument in options, (command, argument)


def test_the_how_to_lists_every_alert_with_its_severity_and_labels():
    page = (ROOT / "docs" / "how-to" / "alert-with-prometheus.md").read_text()
    rows = re.findall(r"^\| \[(\w+)\]\(\.\./runbooks/(\w+)\.md\) \| (\w+) \|([^|]*)\|", page, re.MULTILINE)
    assert {(name, link, severity, labels.strip()) for name, link, severity, labels in rows} == {
        (name, name, alert["labels"]["severity"], "app, environment" if name in PLACED else "")
        for name, alert in ALERTS.items()
    }


def test_the_page_explains_every_alert():
    assert set(ALERTS) <= set(EXPLAINED)


def test_a_runbook_names_panels_that_are_on_a_dashboard():
    dashboards = [json.loads(file.read_text()) for file in (ROOT / "deploy" / "grafana").glob("*.json")]
    if not dashboards:
        pytest.skip("there are no dashboards")
    known = {board["title"] for board in dashboards}
    known |= {panel["title"] for board in dashboards for panel in board["panels"]}
    for file in RUNBOOKS.glob("*.md"):
        page = " ".join(file.read_text().split())
        named = set(re.findall(r"(?<!\*)\*([^*|]+)\*(?!\*)", page))
        assert named <= known, file.name


def test_a_runbook_names_pages_of_the_documentation_that_exist():
    for file in RUNBOOKS.glob("*.md"):
        for page in re.findall(r"docs/[\w/-]+\.md", file.read_text()):
            assert (ROOT / page).is_file(), (file.name, page)
