"""The measurement of the lexical judge on files of labelled rows, as `make bench-judge` runs it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[4] / "tests/benchmarks/judge/measure_judge.py"
TOWER = {"text": "The Eiffel Tower was completed in March 1889.", "relevant": True}
LOUVRE = {"text": "Photosynthesis turns light into chemical energy.", "relevant": False}
ROW = {
    "query": "When was the Eiffel Tower completed?",
    "expected": "March 1889",
    "source": "towers",
    "id": "1",
    "contexts": [TOWER, LOUVRE],
}


def _measure(path):
    return subprocess.run(
        [sys.executable, SCRIPT, path], capture_output=True, text=True, check=False, timeout=60
    )


def test_it_prints_figures_per_source_and_over_all_and_a_time_per_context(tmp_path):
    path = tmp_path / "rows.jsonl"
    alone = ROW | {"expected": "", "source": "no_answers"}
    path.write_text(json.dumps(ROW) + "\n\n" + json.dumps(alone) + "\n")
    done = _measure(path)
    assert done.returncode == 0, done.stderr
    cells = {
        line.split("│")[1].strip(): line.split("│")[2:-1] for line in done.stdout.splitlines() if "│" in line
    }
    # one relevant and one irrelevant context, told apart: AUC 1, F1 1
    assert [cell.strip() for cell in cells["towers"]][:6] == [
        "1/2",
        "1.000",
        "1.000",
        "1.000",
        "1.000",
        "0.000",
    ]
    assert [cell.strip() for cell in cells["no_answers"]][:3] == ["1/2", "1.000", "-"]
    assert [cell.strip() for cell in cells["macro"]][:4] == ["2 sources", "1.0000", "1.0000", "1.0000"]
    assert sum(int(cells[f"{tenth / 10:.1f} to {tenth / 10 + 0.1:.1f}"][0]) for tenth in range(10)) == 4
    assert "ms a context" in done.stdout


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{", "line 1"),
        ("[]", "line 1"),
        (json.dumps(ROW) + "\n" + json.dumps({"query": "?"}), "line 2: no 'contexts'"),
        (json.dumps(ROW | {"contexts": [{"text": "x"}]}), "no 'relevant'"),
        (json.dumps(ROW | {"contexts": [{"text": "x", "relevant": "yes"}]}), "'yes'"),
        ("", "no row with a context"),
        (None, "cannot be read"),
    ],
)
def test_a_wrong_file_is_named_with_what_was_expected(tmp_path, text, told):
    path = tmp_path / "rows.jsonl"
    if text is not None:
        path.write_text(text)
    done = _measure(path)
    assert done.returncode == 2
    assert str(path) in done.stderr
    assert told in done.stderr
    assert "expected" in done.stderr
    assert "Traceback" not in done.stderr
