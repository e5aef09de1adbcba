"""try-the-demo.md: its commands are read by the command line, its numbers are those of the history."""

import re
import shlex
from pathlib import Path

import pytest

from ragsonde.cli.main import load_command
from ragsonde.demo.history import DAYS, FAULT_AFTER, PARTS
from ragsonde.demo.verdicts import JUDGE

DOCS = Path(__file__).parents[3] / "docs"
PAGE = (DOCS / "how-to" / "try-the-demo.md").read_text()
COMMANDS = [
    line.split("#")[0].strip()
    for block in re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)
    for line in block.splitlines()
    if line.strip()
]


@pytest.mark.parametrize("line", COMMANDS)
def test_each_command_is_read(line):
    program, name, *arguments = shlex.split(line)
    assert program == "ragsonde"
    load_command(name).make_context(name, list(arguments))


def test_the_way_from_the_alert_to_its_cause_is_there():
    names = [tuple(shlex.split(line)[1:3]) for line in COMMANDS]
    assert names == [
        ("up", "--demo"),
        ("alerts", "list"),
        ("alerts", "show"),
        ("why", "ID"),
        ("alerts", "verify"),
        ("drop-demo",),
    ]


def test_its_numbers_are_those_of_the_history():
    day, hours = FAULT_AFTER.days + 1, FAULT_AFTER.seconds
    assert f"On day {day} at {hours // 3600:02}:{hours // 60 % 60:02} UTC" in PAGE
    assert f"of the last {DAYS} days" in PAGE
    assert PARTS == 3, "a third of its pages"
    assert f"judge `{JUDGE}`" in PAGE


def test_what_it_links_to_is_there():
    links = [link for link in re.findall(r"\]\(([^)#]+)\)", PAGE) if "://" not in link]
    assert links
    assert [link for link in links if not (DOCS / "how-to" / link).exists()] == []
