"""The alert and recording rules, by Prometheus' own tools."""

import re
import shlex
import shutil
import subprocess

import pytest
import yaml

from builders.alert_rules import PROMETHEUS, RULES, TESTS, read_rules
from builders.rule_mutants import list_mutants
from ragsonde.settings.fields import Ports
from services.promtool import require_tool, run_tool
from services.rule_trial import find_failure, notice

pytestmark = pytest.mark.integration

HOW_TO = (PROMETHEUS.parents[1] / "docs" / "how-to" / "alert-with-prometheus.md").read_text()
EXAMPLE = (PROMETHEUS / "prometheus.yaml").read_text()
ALERTS = [rule.name for rule in read_rules() if rule.is_alert]
MUTANTS_TRIED = 30
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


def test_the_how_to_followed_literally_ends_well(promtool, tmp_path):
    copying, trying = re.findall(r"```sh\n(.*?)```", HOW_TO, re.DOTALL)

    def follow(script, *, folder):
        command = ["sh", "-e", "-c", script]  # -e: each of its lines must end well
        result = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        told = result.stdout + result.stderr
        assert result.returncode == 0, told
        return told

    follow(copying.replace("FOLDER", str(tmp_path)), folder=PROMETHEUS.parents[1])
    copied = sorted((tmp_path / "tests").glob("*.yaml"))
    assert [path.name for path in copied] == sorted(path.name for path in TESTS.glob("*.yaml"))
    for path in copied:
        if path.stem not in {"healthy", "RagsondeParked"}:
            path.unlink()  # each alert has a test of its own above, and all of them take minutes
    told = follow(trying.replace("promtool", shlex.quote(promtool)), folder=tmp_path)
    assert "6 rule files found" in told
    assert "SUCCESS" in told


def test_with_a_token_the_lines_that_are_commented_out_are_all_it_takes(promtool, tmp_path):
    shutil.copytree(PROMETHEUS / "rules", tmp_path / "rules")
    (tmp_path / "token").write_text("secret")
    text = re.sub(r"/run/secrets/ragsonde-(metrics|receiver)", str(tmp_path / "token"), EXAMPLE)
    text = re.sub(r"^( *)# (authorization:|  credentials_file:)", r"\1\2", text, flags=re.MULTILINE)
    settings = yaml.safe_load(text)
    with_token = {job["job_name"] for job in settings["scrape_configs"] if "authorization" in job}
    assert with_token == {job["job_name"] for job in settings["scrape_configs"]}
    (tmp_path / "prometheus.yaml").write_text(text)
    code, told = run_tool(promtool, "check", "config", str(tmp_path / "prometheus.yaml"))
    assert code == 0, told


def test_what_is_said_of_remote_write_is_what_prometheus_reads(promtool, tmp_path):
    (told,) = re.findall(r"```yaml\n(.*?)```", HOW_TO, re.DOTALL)
    commented = EXAMPLE[EXAMPLE.index("# remote_write:") : EXAMPLE.index("\nalerting:")]
    assert yaml.safe_load(re.sub("^# ", "", commented, flags=re.MULTILINE)) == yaml.safe_load(told)
    (tmp_path / "prometheus.yaml").write_text(told)
    code, said = run_tool(promtool, "check", "config", str(tmp_path / "prometheus.yaml"))
    assert code == 0, said
    (relabel,) = yaml.safe_load(told)["remote_write"][0]["write_relabel_configs"]
    assert relabel in yaml.safe_load(EXAMPLE)["alerting"]["alert_relabel_configs"]


def test_the_example_scrapes_each_kind_of_process_on_the_port_that_it_serves_first():
    jobs = yaml.safe_load(EXAMPLE)["scrape_configs"]
    ports = {
        job["job_name"]: min(
            int(target.rpartition(":")[2]) for one in job["static_configs"] for target in one["targets"]
        )
        for job in jobs
    }
    usual = Ports()
    assert ports == {
        "ragsonde": usual.worker_metrics,
        "ragsonde-receiver": usual.receiver,
        "ragsonde-monitor": usual.monitor,
    }
