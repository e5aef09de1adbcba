"""docs/how-to/detect-regressions.md says what the command does."""

import json
import re
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest

from ragsonde.cli.main import run as run_command
from ragsonde.cli.score_file import NEEDED, OPTIONAL
from ragsonde.regression.arming import LEAST_PINNED, LEAST_PROVISIONAL
from ragsonde.regression.baseline import BASELINE_DAYS
from ragsonde.regression.fall_bounds import SMALLEST_DROP
from ragsonde.regression.strata import LEAST_TRACES, MOST_STRATA
from ragsonde.regression.threshold import ACTIVE_DAYS, PAGE_DAYS, RESOLVE_DAYS, WARN_DAYS

PAGE = (Path(__file__).parents[3] / "docs" / "how-to" / "detect-regressions.md").read_text()
EXAMPLE = json.loads(re.search(r"```json\n(.+)\n```", PAGE)[1])
START = datetime(2026, 9, 7, tzinfo=UTC).timestamp()
TOPICS = ("billing", "returns")


def test_the_example_is_what_the_command_tells(capsys, tmp_path):
    """A trace a minute on two topics by turns; of ten, eight score 1, and six from the tenth day on."""
    rows = [
        f"{START + place * 60:.0f},{int(place * 7919 % 1000 < (800 if place < 9 * 1440 else 600))},"
        f"{TOPICS[place % 2]},context_relevance,shop"
        for place in range(11 * 1440)
    ]
    (script,) = re.findall(r"```sh\n(awk .*?)```", PAGE, re.DOTALL)
    subprocess.run(["/bin/sh", "-c", script], cwd=tmp_path, check=True)
    assert (tmp_path / "scores.csv").read_text() == "\n".join(["time,value,stratum,scorer,app", *rows, ""])
    with pytest.raises(SystemExit):
        run_command(["detect", str(tmp_path / "scores.csv"), "--output", "json"])
    assert json.loads(capsys.readouterr().out.splitlines()[-1]) == EXAMPLE


def test_its_columns_are_those_that_are_read():
    table = PAGE.partition("| column | holds |")[2].partition("\n\n")[0]
    named = re.findall(r"`(\w+)`(?=[^|]*\|[^|]*\|$)", table, flags=re.MULTILINE)
    assert sorted(named) == sorted([*NEEDED, *OPTIONAL])


@pytest.mark.parametrize(
    "told",
    [
        f"`warn` at {WARN_DAYS:.0f} days of evidence",
        f"`page` at {PAGE_DAYS:.0f} days times the streams that had traces in the {ACTIVE_DAYS} days before",
        f"`resolve` at {RESOLVE_DAYS:.0f} days",
        f"`--baseline-days {BASELINE_DAYS}`",
        f"`--smallest-drop {SMALLEST_DROP:.2f}".replace("0.", "."),
        f"the {MOST_STRATA} largest strata with {LEAST_TRACES:,} traces",
        f"fewer than {LEAST_PINNED} traces",
        f"from {LEAST_PROVISIONAL:,} traces that lie 24 hours apart",
    ],
)
def test_its_numbers_are_those_of_the_code(told):
    assert told in " ".join(PAGE.split())
