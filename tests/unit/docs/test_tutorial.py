"""tutorial.md: what needs no running stack prints what the page shows; the rest runs in tests/e2e."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from services.tutorial import (
    ACTIVATE,
    INSTALL,
    PAGE,
    ROOT,
    WRITTEN,
    find_missing,
    list_blocks,
    make_clone,
    run_block,
)


def run_section(heading, folder):
    """Pairs of a block and what it printed."""
    return [(block, run_block(block, folder)) for block in list_blocks(heading)]


def write_files(folder):
    """The reader's trace and program, without sending or running them."""
    for block in list_blocks("Publish a trace of your own"):
        written, end, _ = block.commands.partition("\nEOF\n")
        run_block(block._replace(commands=written + end), folder)


def run_ruff(folder, *arguments):
    """Its exit code and words, by the settings of this repository."""
    shutil.copy(ROOT / "pyproject.toml", folder)
    command = [str(Path(sys.executable).with_name("ruff")), *arguments, "--no-cache", "."]
    ended = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60, check=False)
    return ended.returncode, ended.stdout + ended.stderr


@pytest.fixture
def folder(tmp_path):
    make_clone(tmp_path)
    return tmp_path


def test_a_file_is_scored_as_shown(folder):
    ((block, printed),) = run_section("Score a file", folder)
    assert len(block.shown) == 5
    assert find_missing(block, printed) == []


def test_the_scorer_of_ones_own_scores_as_shown(folder):
    write_files(folder)
    ran = run_section("Add a scorer of your own", folder)
    assert [block.commands for block, _ in ran][1] == INSTALL
    block, printed = ran[-1]
    assert len(block.shown) == 3
    assert find_missing(block, printed) == []


def test_what_is_not_printed_is_seen(folder):
    ((block, printed),) = run_section("Score a file", folder)
    wrong = block._replace(shown=[*block.shown, "context_position 0.999"])
    assert find_missing(wrong, printed) == ["context_position 0.999"]


def test_every_block_of_commands_belongs_to_a_section_that_a_test_runs():
    sections = re.findall(r"^## \d\. (.*)$", PAGE, re.MULTILINE)
    assert sections == [
        "Start it",
        "Look at a trace",
        "Publish a trace of your own",
        "Ask why",
        "Score a file",
        "Add a scorer of your own",
        "See the alert",
        "Remove the demo",
    ]
    assert sum(len(list_blocks(one)) for one in sections) == PAGE.count("```sh\n")


def test_the_terminal_is_prepared_before_the_first_command_of_ours():
    assert PAGE.count(ACTIVATE) == 1
    assert PAGE.index(ACTIVATE) < re.search(r"^(ragsonde|python) ", PAGE, re.MULTILINE).start()
    assert ".venv/bin/" not in PAGE.replace(ACTIVATE, "")


def test_what_the_reader_writes_is_in_one_folder_that_git_and_the_checks_leave_out(folder):
    before = {path.name for path in folder.iterdir()}
    write_files(folder)
    for block in list_blocks("Add a scorer of your own"):
        run_block(block, folder)
    written = {path.name for path in folder.iterdir()} - before
    assert written == {WRITTEN.name, "installed"}
    assert f"{WRITTEN}/" in (ROOT / ".gitignore").read_text().splitlines()
    (folder / "tests").unlink()
    shutil.rmtree(folder / "installed")
    for check in (["check", "--quiet"], ["format", "--check", "--quiet"]):
        assert run_ruff(folder, *check) == (0, ""), check
    (folder / WRITTEN).rename(folder / "elsewhere")
    assert run_ruff(folder, "check")[0] == 1, "a file of the reader's is one that the checks refuse"


def test_the_readers_program_is_formatted_as_ours_is(folder):
    write_files(folder)
    (folder / "tests").unlink()
    (folder / WRITTEN / "publish.py").rename(folder / "publish.py")
    assert run_ruff(folder, "format", "--check", "--quiet") == (0, "")
