"""tutorial.md: what needs no running stack prints what the page shows; the rest runs in tests/e2e."""

import re

import pytest

from services.tutorial import INSTALL, PAGE, find_missing, list_blocks, make_clone, run_block


def run_section(heading, folder):
    """Pairs of a block and what it printed."""
    return [(block, run_block(block, folder)) for block in list_blocks(heading)]


@pytest.fixture
def folder(tmp_path):
    make_clone(tmp_path)
    return tmp_path


def test_a_file_is_scored_as_shown(folder):
    ((block, printed),) = run_section("Score a file", folder)
    assert len(block.shown) == 5
    assert find_missing(block, printed) == []


def test_the_scorer_of_ones_own_scores_as_shown(folder):
    (trace, *_) = list_blocks("Publish a trace of your own")
    writes, _, _ = trace.commands.partition("curl")
    run_block(trace._replace(commands=writes), folder)
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
