"""What dashboards' expressions give as time passes: gaps, births, roll-backs, two monitors; by promtool."""

from __future__ import annotations

from typing import NamedTuple

import pytest
import yaml

from services.grafana import fill_expression, list_asked, list_marks, read_dashboard
from services.promtool import require_tool, run_tool

pytestmark = pytest.mark.integration

BOARDS = {name: read_dashboard(name) for name in ("quality", "pipeline", "judges")}
ASKED = {
    f"{name}-{asked.panel['id']}-{asked.ref_id}": asked.expression
    for name, board in BOARDS.items()
    for asked in list_asked(board)
}
MARKS = {mark.panel["name"]: mark.expression for board in BOARDS.values() for mark in list_marks(board)}
SHOP = 'app="shop",environment="production"'
GPT, LEXICAL = "gpt@3fa2c1", "lexical@0123ab"


class Case(NamedTuple):
    """Series as promtool takes them (a sample each 15 s), and what an expression gives at a time.

    Attributes:
        expected: value by the labels that are shown, as promtool writes them.
    """

    series: dict[str, str]
    expression: str
    at: str
    expected: dict[str, float]


def check(folder, case):
    """Fails with what promtool says where the expression gives something else."""
    (folder / "none.yaml").write_text("groups: []")
    test = {
        "interval": "15s",
        "input_series": [{"series": name, "values": values} for name, values in case.series.items()],
        "promql_expr_test": [
            {
                "expr": f"round({case.expression}, 0.0001)",
                "eval_time": case.at,
                "exp_samples": [
                    {"labels": labels, "value": value} for labels, value in case.expected.items()
                ],
            }
        ],
    }
    tests = {"rule_files": ["none.yaml"], "evaluation_interval": "1m", "tests": [test]}
    (folder / "tests.yaml").write_text(yaml.safe_dump(tests))
    code, told = run_tool(require_tool("promtool"), "test", "rules", str(folder / "tests.yaml"))
    assert code == 0, told


def score(part, *, judge=LEXICAL, release="1", **labels):
    more = "".join(f',{name}="{value}"' for name, value in labels.items())
    return f'ragsonde_score{part}{{scorer="p",judge="{judge}",{SHOP},release="{release}"{more}}}'


PARKED = 'ragsonde_parked_total{reason="invalid_json"}'


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ("5000x100", {'{reason="invalid_json"}': 0}),
        ("5000x35 stale 5000x60", {'{reason="invalid_json"}': 0}),
        ("5000x30 stale _x6 5000x60", {'{reason="invalid_json"}': 0}),
        ("_x38 7x60", {'{reason="invalid_json"}': 7}),
        ("_x38 7 9x60", {'{reason="invalid_json"}': 9}),
        ("_x20 7x60", {'{reason="invalid_json"}': 0}),
    ],
    ids=["steady", "a failed scrape", "two minutes away", "born", "born and grown", "born before"],
)
def test_a_gap_is_no_birth_and_a_birth_counts_whole(tmp_path, values, expected):
    # each point is of the minute before it: what fails is the scrape at its beginning
    check(tmp_path, Case({PARKED: values}, fill_expression(ASKED["pipeline-401-A"]), "10m", expected))


def test_a_mean_stands_still_through_a_failed_scrape(tmp_path):
    series = {
        score("_sum"): "90000x10 90000+1x270 stale 90271+1x300",
        score("_count"): "100000x10 100000+10x270 stale 102710+10x300",
    }
    expression = fill_expression(ASKED["quality-201-A"])
    for at in ("70m30s", "130m15s", "130m30s", "130m45s"):
        labels = f'{{judge="{LEXICAL}", scorer="p"}}'
        check(tmp_path, Case(series, expression, at, {labels: 0.1}))


def test_each_judge_has_a_mean_of_its_own_and_no_interval_below_twenty_scores(tmp_path):
    def scored(number, mean, **labels):
        squares = score("_squares_total", **labels)
        return {
            score("_count", **labels): f"_x10 {number}x60",
            score("_sum", **labels): f"_x10 {number * mean}x60",
            squares: f"_x10 {number}x60",
        }

    series = {**scored(20, 0.5, judge=LEXICAL), **scored(19, 0.9, judge=GPT), **scored(20, 0.1, judge="x@1")}
    for judge, mean, half in ((LEXICAL, 0.5, 1.96 * (0.75 / 20) ** 0.5), (GPT, 0.9, None)):
        labels = f'{{judge="{judge}", scorer="p"}}'
        for ref_id, sign in (("A", 0), ("B", -1), ("C", 1)):
            expression = fill_expression(ASKED[f"quality-301-{ref_id}"], {"one_judge": judge})
            is_absent = sign and half is None
            expected = {} if is_absent else {labels: round(mean + sign * (half or 0), 4)}
            check(tmp_path, Case(series, expression, "10m", expected))


def test_two_monitors_see_the_same_messages_once(tmp_path):
    series = {
        f'ragsonde_queue_messages{{queue="ragsonde.{queue}",instance="{monitor}"}}': f"{number}x40"
        for queue, number in (("traces", 700), ("work", 30))
        for monitor in ("m1", "m2")
    }
    check(tmp_path, Case(series, ASKED["pipeline-102-A"], "9m", {"{}": 730}))


def test_a_judge_that_made_no_call_has_no_share_of_failed_ones(tmp_path):
    calls = f'ragsonde_judge_calls_total{{judge="{GPT}",model="m",outcome="%s"}}'
    series = {
        calls % "ok": "0x20 90x400",
        calls % "judge_unavailable": "0x20 10x400",
        f'ragsonde_evaluations_total{{judge="{LEXICAL}",state="scored",cause=""}}': "0+1x420",
    }
    expression = fill_expression(ASKED["judges-202-A"])
    check(tmp_path, Case(series, expression, "30m", {f'{{judge="{GPT}"}}': 0.1}))
    check(tmp_path, Case(series, expression, "90m", {}))


HOURS = 240
"""Samples of an hour."""


@pytest.mark.parametrize(
    ("first", "second", "marked"),
    [
        (f"0+1x{9 * HOURS}", f"_x{8 * HOURS} 5+1x{HOURS}", {"2"}),
        # release 1 has been exposed all the time, and grows again since the eighth hour
        (
            f"0+1x{HOURS} {HOURS}x{7 * HOURS} {HOURS + 1}+1x{HOURS}",
            f"0+1x{8 * HOURS} {8 * HOURS}x{HOURS}",
            {"1"},
        ),
        # at night none grew
        (f"0+1x{HOURS} {HOURS}x{7 * HOURS} {HOURS + 1}+1x{HOURS}", f"5x{9 * HOURS}", set()),
        (f"0+1x{9 * HOURS}", f"0+1x{9 * HOURS}", set()),
        # a scrape that failed
        (f"0+1x{8 * HOURS} stale 0+1x{HOURS}", f"_x{9 * HOURS}", set()),
    ],
    ids=["a new release", "rolled back", "in the morning", "both go on", "a failed scrape"],
)
def test_a_release_is_marked_when_traces_turn_to_it(tmp_path, first, second, marked):
    series = {score("_count", release="1"): first, score("_count", release="2"): second}
    expression = fill_expression(MARKS["New release"])
    labels = {f'{{app="shop", environment="production", release="{release}"}}': 1 for release in marked}
    check(tmp_path, Case(series, expression, "8h2m", labels))


def test_a_judge_that_answers_again_is_marked(tmp_path):
    again = f"0+1x{HOURS} {HOURS}x{7 * HOURS} {HOURS + 1}+1x{HOURS}"
    series = {score("_count", judge=GPT): again, score("_count", judge=LEXICAL): f"0+1x{9 * HOURS}"}
    expression = fill_expression(MARKS["Judge or model changed"])
    check(tmp_path, Case(series, expression, "8h2m", {f'{{judge="{GPT}"}}': 1}))
    check(tmp_path, Case(series, expression, "8h20m", {}))
