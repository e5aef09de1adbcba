"""report-to-the-owners.md: its commands are read, and what it says of the report holds."""

import re
import shlex
from pathlib import Path

import pytest

from ragsonde.cli.main import load_command
from ragsonde.cli.report import MOST_SPAN, USUAL_SPAN
from ragsonde.reporting.gathering import MOST_PLACES, WORST
from ragsonde.reporting.scorer_lines import MOST_RELEASES

PAGE = (Path(__file__).parents[3] / "docs" / "how-to" / "report-to-the-owners.md").read_text()
TEXT = " ".join(PAGE.split())
COMMANDS = [
    line
    for block in re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)
    for line in block.splitlines()
    if line.startswith("ragsonde ")
]


def test_there_are_commands():
    assert len(COMMANDS) == 4


@pytest.mark.parametrize("line", COMMANDS)
def test_each_command_is_read(line):
    _, name, *arguments = shlex.split(line)
    assert name == "report"
    load_command(name).make_context(name, list(arguments))


def test_its_numbers_are_those_of_the_code():
    assert f"Without `--since` it is the {USUAL_SPAN.days} days before" in TEXT
    assert f"The longest span is {MOST_SPAN.days} days" in TEXT
    assert f"At most {MOST_PLACES} apps and {MOST_RELEASES} releases" in TEXT
    assert WORST == 5
    assert "the five lowest of each app" in TEXT
