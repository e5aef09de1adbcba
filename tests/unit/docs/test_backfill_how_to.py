"""What docs/how-to/backfill.md says and shows holds."""

import re
import shlex
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from ragsonde.cli.backfill import DEFAULT_RATE
from ragsonde.cli.backfill_comparison import MOST_PAIRS_A_DAY
from ragsonde.cli.backfill_start import DEFAULT_DAYS
from ragsonde.cli.backfill_steering import Action
from ragsonde.cli.main import load_command
from ragsonde.exposition.series import MONITOR_SERIES, WORKER_SERIES
from ragsonde.intake.backfill_feed import count_places
from ragsonde.monitor.backfill_jobs import LIVE_LIMIT, MOST_SILENT_SECONDS
from ragsonde.settings.fields import RetentionDays
from ragsonde.storage.budgets import BACKFILL_SHARE

PAGE = (Path(__file__).parents[3] / "docs" / "how-to" / "backfill.md").read_text()
COMMANDS = re.findall(r"^ragsonde backfill (\w+)(.*)$", PAGE, re.MULTILINE)
WORDS = " ".join(PAGE.split())


@pytest.mark.parametrize(("action", "rest"), COMMANDS)
def test_every_action_and_option_is_one(action, rest):
    assert action in set(Action)
    app = typer.Typer()
    app.command()(load_command("backfill").callback)
    known = CliRunner().invoke(app, ["--help"], env={"COLUMNS": "300"}).output
    assert [word for word in shlex.split(rest) if word.startswith("--") and word not in known] == []


def test_every_action_is_shown():
    assert {action for action, _ in COMMANDS} == set(Action)


def test_its_figures_are_those_of_the_code():
    assert (f"the last {'seven' if DEFAULT_DAYS == 7 else DEFAULT_DAYS} days") in WORDS
    assert f"`--rate` a second at most ({DEFAULT_RATE:g})" in WORDS
    assert "fewer than eleven messages" in WORDS
    assert LIVE_LIMIT == 10
    assert "fewer than a quarter of its threads" in WORDS
    assert count_places(16) == 4
    assert "is half of what the budget allows" in WORDS
    assert BACKFILL_SHARE == 0.5
    assert f"at most {MOST_PAIRS_A_DAY} scores" in WORDS
    assert "for an hour nothing was published" in WORDS
    assert MOST_SILENT_SECONDS == 3600
    assert f"{RetentionDays().trace_text} days by default" in WORDS


def test_its_series_are_exposed():
    exposed = {declared.name for declared in (*WORKER_SERIES, *MONITOR_SERIES)}
    named = set(re.findall(r"`((?:backfill|queue|unscored|evaluations|end_to_end)\w*(?:_\w+)+)[`{]", PAGE))
    assert named
    assert named <= exposed
