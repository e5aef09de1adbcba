"""What docs/how-to/erase-personal-data.md shows and says holds."""

import re
import shlex
from pathlib import Path

import pytest

from ragsonde.cli.forget import UNREACHABLE
from ragsonde.cli.main import load_command
from ragsonde.exposition.series import WORKER_SERIES
from ragsonde.storage.erasure_map import HOLDINGS, WORDS

PAGE = (Path(__file__).parents[3] / "docs" / "how-to" / "erase-personal-data.md").read_text()
(BLOCK,) = re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)


def test_its_table_is_what_the_code_declares():
    rows = [f"| `{name}` | {holding.holds} | {WORDS[holding.reach]} |" for name, holding in HOLDINGS.items()]
    assert re.findall(r"(?m)^\| `.*$", PAGE) == rows


@pytest.mark.parametrize("line", BLOCK.splitlines())
def test_its_commands_are_accepted(line):
    _, command, *arguments = shlex.split(line)
    parsed = load_command(command).make_context(command, arguments, resilient_parsing=True)
    assert parsed.params["user"] == "ada@example.org"


def test_its_series_exist():
    exposed = {declared.full_name for declared in WORKER_SERIES}
    named = set(re.findall(r"ragsonde_\w+_total", PAGE))
    assert len(named) == 2
    assert named <= exposed


def test_it_names_as_many_places_that_are_not_reached_as_the_command():
    (sentence,) = re.findall(r"The command prints it: (.*?)\. After a backup", PAGE, re.DOTALL)
    assert len(re.sub(r"\(.*?\)", "", sentence, flags=re.DOTALL).split(",")) == len(UNREACHABLE)
