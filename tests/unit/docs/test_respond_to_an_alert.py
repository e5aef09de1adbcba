"""respond-to-an-alert.md: its commands are read by the command line, its numbers are those of the code."""

import re
import shlex
from pathlib import Path

import pytest

from ragsonde.cli.alert_decisions import EXIT_CODES
from ragsonde.cli.failures import ExitCode
from ragsonde.cli.main import load_command
from ragsonde.regression.baseline import LEAST_PINNED, PSEUDO_TRACES
from ragsonde.regression.release_comparison import ALPHA
from ragsonde.regression.threshold import PAGE_DAYS, RESOLVE_DAYS
from ragsonde.regression.verification import Recovery

DOCS = Path(__file__).parents[3] / "docs"
PAGE = (DOCS / "how-to" / "respond-to-an-alert.md").read_text()
COMMANDS = [line for block in re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL) for line in block.splitlines()]


@pytest.mark.parametrize("line", COMMANDS)
def test_each_command_is_read(line):
    program, name, *arguments = shlex.split(line)
    assert program == "ragsonde"
    read = load_command(name).make_context(name, list(arguments)).params
    assert read["action"].value in arguments


def test_every_action_is_there():
    actions = {tuple(shlex.split(line)[1:3]) for line in COMMANDS}
    assert actions == {
        *(("alerts", one) for one in ("list", "show", "ack", "verify", "accept", "false")),
        *(("baseline", one) for one in ("list", "pin", "drop", "floor")),
    }


def test_its_numbers_are_those_of_the_code():
    assert EXIT_CODES == {
        Recovery.RECOVERED: ExitCode.OK,
        Recovery.NOT_YET: ExitCode.BELOW,
        Recovery.TOO_FEW: ExitCode.UNDECIDED,
    }
    assert [int(code) for code in EXIT_CODES.values()] == [0, 1, 3]
    text = " ".join(PAGE.split())
    assert f"Below {LEAST_PINNED} traces since the fall it only warns" in text
    assert f"{ALPHA * 100:.0f} % each way" in text
    assert f"once recovery has {RESOLVE_DAYS:.0f} days of evidence" in text
    assert f"last {PAGE_DAYS:.0f} days were false" in text
    decided = (DOCS / "adr" / "0022-what-people-choose-stands-beside.md").read_text()
    assert f"the moved mean weighing {PSEUDO_TRACES} traces" in " ".join(decided.split())


def test_what_it_links_to_is_there():
    for name in re.findall(r"\]\(([\w-]+\.md)\)", PAGE):
        assert (DOCS / "how-to" / name).exists()
