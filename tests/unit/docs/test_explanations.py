"""The figures of the explanations are those of the pages, vectors and code that they are of."""

import json
import re
from pathlib import Path

import pytest
import yaml

from ragsonde.regression.baseline import SMALLEST_DROP
from ragsonde.scoring.table import FORMULAS, build_scorers
from ragsonde.settings import Settings
from ragsonde_schemas.errors import Cause

ROOT = Path(__file__).parents[3]
EXPLANATION = ROOT / "docs" / "explanation"
VECTORS = json.loads((ROOT / "tests" / "golden" / "five_scorers.json").read_text())


def read(name):
    return (EXPLANATION / f"{name}.md").read_text()


def squeeze(text):
    return " ".join(text.split())


DETECTOR = squeeze((ROOT / "docs" / "benchmarks" / "detector.md").read_text()).partition(
    "## Since the error"
)[2]
PROMISES = read("what-the-detector-promises")
CHANGES = read("what-we-changed-against-the-originals")


@pytest.mark.parametrize(
    ("told", "row"),
    [
        (
            "a drop of .20 at 1 a minute, median | 154 traces, 2.7 hours",
            r"drop 0\.20 at 1/min: median traces \(p90\), 200 streams \| <= 200 \| 154 \(\d+\) = 2\.7 h",
        ),
        (
            "a drop of .10 at 10 a minute, median | 988 traces, 1.5 hours",
            r"drop 0\.10 at 10/min: median .*? \| 988 \(1,531\) = 1\.5 h",
        ),
        (
            "a drop of .05 at 10 a minute, median | 5,808 traces, 9.4 hours",
            r"drop 0\.05 at 10/min: median .*? \| 5,808 \(13,230\) = 9\.4 h",
        ),
        (
            "since when, median error at .10 and 10 a minute | 3 minutes",
            r"drop 0\.10 at 10/min: since when, median error \| <= 20 min \| 3 min",
        ),
        (
            "blips of ten minutes at 10 a minute, 50 streams: paged | 0",
            r"10-minute blip of -\.30 at 10/min, 50 streams: paged \| 0 \| 0 \|",
        ),
        (
            "pure shifts of the mix, 24 streams of a week: paged | 0",
            r"pure mix shift at 10/min, 24 streams of a week: paged \| <= 1 \| 0 \|",
        ),
    ],
)
def test_figures_of_the_detector_are_those_of_its_newest_table(told, row):
    assert f"| {told} |" in PROMISES
    assert re.search(row, DETECTOR)


def test_no_page_without_a_change_is_what_both_rows_say():
    assert "pages without a change, 120 stream-months at 1 trace a minute and 30 at 10 | 0 |" in PROMISES
    assert re.findall(
        r"pages without a change, (?:120|30) stream-months at \d+/min \| \| (\d+) \(and \d", DETECTOR
    ) == [
        "0",
        "0",
    ]


def test_what_is_promised_are_the_settings_defaults():
    regression = Settings().regression
    assert f"about once in {regression.page_days:g} days (`regression.page_days`)" in PROMISES
    assert f"(`regression.smallest_drop`, {SMALLEST_DROP:g})".replace("0.", ".") in PROMISES


def test_the_lexical_judges_figures_are_those_of_its_reference():
    reference = squeeze((ROOT / "docs" / "reference" / "lexical-judge.md").read_text())
    page = read("how-good-is-the-lexical-judge")
    question, answer = re.findall(r"\*\*macro\*\* \| \| \*\*(\.\d+)\*\* \| \*\*(\.\d+)\*\*", reference)[0]
    assert f"| {question} |" in page
    assert f"| {answer} |" in page
    assert "| RGB, English | source | .579 |" in reference
    assert "near chance (.58)" in page
    assert "makes 1 % of the contexts relevant" in squeeze(page)
    assert "makes 1 % of the contexts relevant" in reference


def find_case(note):
    (case,) = [one for one in VECTORS if note in one.get("note", "")]
    return case


@pytest.mark.parametrize(
    ("note", "peer", "status"),
    [
        ("peer normalises by VERDICT count -> 1.0 although 4 contexts", 1.0, "error"),
        ("doc example text: 2nd and 3rd relevant", 0.4, "scored"),
        ("literal reading gives 0.50, not 0.64", 0.5, "scored"),
    ],
)
def test_cases_that_the_page_tells_of_are_in_the_vectors(note, peer, status):
    case = find_case(note)
    assert (case["peer_score"], case["expected_status"]) == (peer, status)


def test_the_originals_names_are_the_aliases_that_settings_accept():
    told = dict(re.findall(r"^\| `(\w+)` \| `([\w:-]+)` \|$", CHANGES, re.MULTILINE))
    assert told == {formula.id: formula.aliases[0] for formula in FORMULAS if formula.is_default}
    options = re.findall(r"`(\w+[A-Z]\w+)`", CHANGES.rpartition("Options keep")[2])
    assert len(options) == 3
    build_scorers({"context_relevance": {"penalties": dict.fromkeys(options, 0.1)}})


def test_outcomes_that_are_told_are_causes_and_the_setting_is_one():
    page = read("why-not-zero")
    rows = re.findall(r"^\| `(?:skipped|error)` \|.*\| (.+) \|$", page, re.MULTILINE)
    causes = re.findall(r"`(\w+)`", " ".join(rows))
    assert len(causes) == 7
    assert set(causes) <= set(Cause)
    (block,) = re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)
    (scorer,) = build_scorers(yaml.safe_load(block)["scorers"])
    (plain,) = build_scorers({"context_precision": {}})
    assert set(scorer.versions).isdisjoint(plain.versions)


def test_the_bars_that_are_missed_are_those_of_the_pages():
    page = squeeze(read("limits"))
    decision = squeeze(next((ROOT / "docs" / "adr").glob("0015*.md")).read_text())
    assert "The bar stays 1.5 x and is shown as not met" in decision
    assert "2.8 x" in decision
    assert "3.6 x" in decision
    assert "2.8 to 3.6 times that of the bare call; the bar is 1.5" in page


def test_every_reading_that_misses_its_bar_is_told_with_its_figure():
    table = re.findall(r"^\| (.+?) \|.*\| *([\d.]*) *\| ([\d.]+) \|$", read("../scaling"), re.MULTILINE)
    page = squeeze(read("limits"))
    assert "may cost 1.3 times as much" in page
    missed = {what: (pages, time) for what, pages, time in table if max(float(pages or 0), float(time)) > 1.3}
    assert len(missed) == 9
    for what, (pages, time) in missed.items():
        told = time if float(time) > 1.3 else pages
        assert re.search(rf"\b{re.escape(told)} times", page), what


def test_the_bar_of_the_one_call_is_the_benchmarks():
    figures = (ROOT / "tests" / "benchmarks" / "judge_costs.py").read_text()
    assert '"<= 1,700", tokens <= 1700' in figures
    assert "to 1,700 tokens" in squeeze(read("why-one-call"))
