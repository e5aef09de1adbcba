"""The alert and recording rules, by Prometheus' own tools."""

import shutil

import pytest
import yaml

from builders.alert_rules import PROMETHEUS, RULES, TESTS, read_rules
from builders.rule_mutants import list_mutants
from services.promtool import require_tool, run_tool
from services.rule_trial import find_failure, notice

pytestmark = pytest.mark.integration

ALERTS = [rule.name for rule in read_rules() if rule.is_alert]
MUTANTS_TRIED = 15
"""Of all, evenly spread: `make mutate-rules` tries every one."""


@pytest.fixture(scope="module")
def promtool():
    return require_tool("promtool")


def test_prometheus_takes_the_rules_without_a_remark(promtool):
    code, told = run_tool(promtool, "check", "rules", *map(str, sorted(RULES.glob("*.yaml"))))
    assert code == 0, told
    assert "duplicate" not in told


@pytest.mark.parametrize("alert", ALERTS)
def test_an_alert_is_silent_and_fires_as_its_tests_say(promtool, alert):
    assert find_failure(alert, read_rules(), promtool=promtool) == ""


@pytest.mark.parametrize("name", ["healthy", "RagsondeJudgeDown", "RagsondeQueueOld"])
def test_promtool_reads_the_files_of_tests_as_they_are(promtool, name):
    code, told = run_tool(promtool, "test", "rules", str(TESTS / f"{name}.yaml"))
    assert code == 0, told


def test_nine_of_ten_faults_in_the_rules_are_noticed(promtool):
    rules = read_rules()
    mutants = list_mutants(rules)
    tried = mutants[:: max(1, len(mutants) // MUTANTS_TRIED)]
    missed = [mutant for mutant in tried if not notice(mutant, rules, promtool=promtool)]
    assert len(missed) <= 0.1 * len(tried), [(mutant.rule.name, mutant.change) for mutant in missed]


def test_prometheus_takes_the_example_of_its_settings(promtool, tmp_path):
    for name in ("prometheus.yaml", "rules"):
        source = PROMETHEUS / name
        (shutil.copytree if source.is_dir() else shutil.copy)(source, tmp_path / name)
    settings = yaml.safe_load((tmp_path / "prometheus.yaml").read_text())
    for job in settings["scrape_configs"]:
        token = tmp_path / "token"
        token.write_text("secret")
        job["authorization"]["credentials_file"] = str(token)
    (tmp_path / "prometheus.yaml").write_text(yaml.safe_dump(settings))
    code, told = run_tool(promtool, "check", "config", str(tmp_path / "prometheus.yaml"))
    assert code == 0, told
    assert "5 rule files found" in told
