"""What docs/how-to/keep-the-database-small.md shows and says holds."""

import re
import shlex
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from ragsonde.cli.main import load_command
from ragsonde.monitor.upkeep import LOW_BELOW, MOST_DAYS_AT_ONCE, Upkeep, build_text_rule
from ragsonde.pipeline.waiting import LONGEST_WAIT
from ragsonde.scoring.formula import Direction
from ragsonde.scoring.table import FORMULAS, build_scorers
from ragsonde.settings import read_settings
from ragsonde.storage.table_names import PARTITIONED
from ragsonde.storage.text_keeping import DRAWN_BELOW, StoredTexts

PAGE = (Path(__file__).parents[3] / "docs" / "how-to" / "keep-the-database-small.md").read_text()
TEXT = " ".join(PAGE.split())
COMMANDS = re.findall(r"^ragsonde (\w+)([^#\n]*)", PAGE, re.MULTILINE)


def test_its_settings_are_accepted(tmp_path):
    (block,) = re.findall(r"```yaml\n# ragsonde.yaml\n(.*?)```", PAGE, re.DOTALL)
    file = tmp_path / "ragsonde.yaml"
    file.write_text(block)
    settings = read_settings(file)
    assert (settings.store_text, settings.retention_days.trace_text) == ("worst", 7)
    assert len(PARTITIONED) == 7


@pytest.mark.parametrize(("name", "arguments"), COMMANDS)
def test_its_commands_have_these_options(name, arguments):
    app = typer.Typer()
    app.command()(load_command(name).callback)
    shown = CliRunner().invoke(app, ["--help"], env={"COLUMNS": "300"}).output
    assert [word for word in shlex.split(arguments) if word.startswith("--") and word not in shown] == []


def test_its_figures_are_those_of_the_code():
    assert set(re.findall(r"^\| `(all|worst|none)` \|", PAGE, re.MULTILINE)) == set(StoredTexts)
    assert f"below {LOW_BELOW:g}" in TEXT
    assert f"{int(DRAWN_BELOW, 16)} in 256 traces" in TEXT
    assert MOST_DAYS_AT_ONCE == 3
    assert "More than three days of one table at once" in TEXT
    assert Upkeep.__dataclass_fields__["text_seconds"].default == 6 * 3600
    assert LONGEST_WAIT.total_seconds() == 24 * 3600


def test_a_scorer_counts_from_its_threshold_else_from_the_edge_where_more_is_better(tmp_path):
    file = tmp_path / "ragsonde.yaml"
    file.write_text(
        "scorers: {context_position: {threshold: 0.7}, context_relevance: {}, essential_context: {}}"
    )
    settings = read_settings(file)
    scorers = build_scorers(settings.scorers)
    assert build_text_rule(settings, scorers=scorers).limits == {
        "context_position": 0.7,
        "context_relevance": LOW_BELOW,
    }


def test_below_the_edge_bands_of_nearly_all_scorers_are_the_lowest_but_one():
    higher = [formula for formula in FORMULAS if formula.direction is Direction.HIGHER and formula.bands]
    with_edge = [formula for formula in higher if LOW_BELOW in {band.lower for band in formula.bands}]
    assert len(with_edge) >= len(higher) - 1
