"""The detector's benchmark in its short form: every bar that few streams can tell is met."""

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.integration
SCRIPT = Path(__file__).parents[2] / "benchmarks/detector/measure_detector.py"
BARS = ("<= 1", "<= 1,300 (2,200)", "<= 20 min", "<= 900", "<= 200", "0", "<= 1", "<= 200 us")


def test_the_short_form_meets_its_bars():
    ended = subprocess.run(
        [sys.executable, SCRIPT, "--short"], capture_output=True, text=True, check=False, timeout=300
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in ended.stdout.splitlines()[2:]]
    held = [row for row in rows if len(row) > 3 and row[1]]
    assert tuple(row[1] for row in held) == BARS
    assert {row[3] for row in held} == {"yes"}
    assert "seed" in ended.stdout.lower()
