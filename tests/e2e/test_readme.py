"""What the README shows works as printed."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()


def find_blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


COMMANDS = [
    line.split("#")[0].removeprefix(".venv/bin/ragsonde ").strip()
    for block in find_blocks("sh")
    for line in block.splitlines()
    if line.startswith(".venv/bin/ragsonde ")
]


def test_there_is_something_to_run():
    assert len(COMMANDS) >= 3
    assert len(find_blocks("python")) == 1


@pytest.mark.parametrize("command", COMMANDS)
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


def test_the_python_code_prints_a_mean():
    (code,) = find_blocks("python")
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    assert 0 <= float(result.stdout) <= 1


def test_every_file_it_links_to_is_there():
    links = [link for link in re.findall(r"\]\(([^)#]+)\)", README) if "://" not in link]
    assert links
    assert [link for link in links if not (ROOT / link).exists()] == []
