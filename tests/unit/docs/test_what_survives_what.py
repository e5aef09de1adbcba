"""Each line of the page names a test that is there."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "explanation" / "what-survives-what.md").read_text()
ROWS = [line for line in PAGE.splitlines() if line.startswith("| ") and "| shown by |" not in line]


def test_each_line_names_tests_that_exist():
    lines = [line for line in ROWS if not line.startswith("| ---")]
    assert len(lines) > 20
    for line in lines:
        named = re.findall(r"`([\w/]+\.py)`", line.split("|")[3])
        assert named, f"no test is named: {line}"
        for name in named:
            path = ROOT / name if "/" in name else ROOT / "tests" / "chaos" / name
            assert path.exists(), f"{name} is not there: {line}"
