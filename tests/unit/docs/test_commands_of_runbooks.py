"""Commands of runbooks are some that exist, name nothing of somebody else's, and end by themselves."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ragsonde.cli.main import COMMANDS, load_command

if TYPE_CHECKING:
    from collections.abc import Iterator

DOCS = Path(__file__).parents[3] / "docs"
RUNBOOKS = sorted((DOCS / "runbooks").glob("*.md"))
PLACEHOLDERS = {"NUMBER": "1", "TIME": "2h"}
"""What stands for a value that must be read as something else than a text."""


def list_commands(page: str) -> Iterator[str]:
    """Lines of shell blocks, parted at `;`, and what stands in backticks."""
    for block in re.findall(r"```sh\n(.*?)```", page, re.DOTALL):
        for line in block.splitlines():
            yield from (part.strip() for part in line.split(";"))
    outside = re.sub(r"```.*?```", "", page, flags=re.DOTALL)
    yield from (" ".join(part.split()) for part in re.findall(r"`([^`]+)`", outside))


def list_ours(path: Path) -> list[str]:
    return [one for one in list_commands(path.read_text()) if one.startswith("ragsonde ")]


def find_mistake(command: str) -> str | None:
    """What the parser of the command line says of it; nothing is run. A command's bare name is a name."""
    _, name, *words = shlex.split(command)
    if name not in COMMANDS:
        return f"{name}: no such command"
    loaded = load_command(name)
    try:
        if words:
            loaded.make_context(name, [PLACEHOLDERS.get(word, word) for word in words])
    except Exception as error:  # noqa: BLE001 - its class is of a package inside of typer
        return error.format_message()
    return None


@pytest.mark.parametrize("path", RUNBOOKS, ids=lambda path: path.stem)
def test_each_command_is_one_with_its_options(path):
    for command in list_ours(path):
        assert find_mistake(command) is None, command


def test_most_runbooks_have_a_command_and_a_wrong_one_is_seen():
    assert len(RUNBOOKS) == 23
    assert sum(bool(list_ours(path)) for path in RUNBOOKS) >= 21
    for wrong in (
        "ragsonde ledgr",
        "ragsonde ledger --ap shop",
        "ragsonde parked lst",
        "ragsonde cost --days x",
    ):
        assert find_mistake(wrong), wrong


@pytest.mark.parametrize("path", RUNBOOKS, ids=lambda path: path.stem)
def test_judges_apps_and_traces_are_placeholders(path):
    """The reader's own have other names than ours."""
    for command in list_ours(path):
        found = re.findall(r"--(?:ask|judge|app|trace) (\S+)", command) + re.findall(
            r"ragsonde why (\S+)", command
        )
        assert [name for name in found if not name.isupper()] == [], command


@pytest.mark.parametrize("path", sorted(DOCS.rglob("*.md")), ids=lambda path: path.stem)
def test_a_request_to_a_process_that_may_hang_has_an_end(path):
    for command in list_commands(path.read_text()):
        if command.startswith("curl ") and (path in RUNBOOKS or "/health" in command):
            assert re.search(r" -m \d+ ", command), command
            assert not re.search(r":\d{4}/", command), f"{command}: the port may be another one"
