import json
import re
import time
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from fakes.traces import REFUND
from ragsonde.cli.main import run

ANSI = re.compile(r"\x1b\[[0-9;]*m")
DEMO = Path(__file__).parents[2] / "data" / "demo.jsonl"
VERDICTS = {
    "contexts": {
        "1": {"relevant": True, "level": "high", "used": True},
        "2": {"relevant": False, "level": "none", "used": False},
    },
    "essential": ["1.1"],
    "insufficient": False,
    "relevant_sentences": ["1.1"],
}
KEYS = ["scorer", "version", "status", "cause", "raw", "value", "band", "passed", "reason", "details"]


@pytest.fixture(autouse=True)
def _files(_neither_file_nor_variables):
    """Three traces, the last without contexts, and verdicts for them."""
    traces = [{**REFUND, "trace_id": f"t{number}"} for number in range(3)]
    traces[2]["contexts"] = []
    write_lines("traces.jsonl", traces)
    write_lines("verdicts.jsonl", [{"trace_id": f"t{number}", **VERDICTS} for number in range(3)])


def write_lines(name, values):
    Path(name).write_text("".join(json.dumps(value) + "\n" for value in values), encoding="utf-8")


def call(capsys, *arguments):
    with pytest.raises(SystemExit) as ended:
        run(["evaluate", *arguments])
    out, err = capsys.readouterr()
    return ended.value.code, ANSI.sub("", out), ANSI.sub("", err)


def call_json(capsys, *arguments):
    code, out, err = call(capsys, *arguments, "--output", "json")
    *items, last = [json.loads(line) for line in out.splitlines()]
    return code, items, last["summary"], err


def test_json_is_one_object_a_trace_and_then_the_summary(capsys):
    code, items, summary, err = call_json(capsys, "traces.jsonl", "--judge", "recorded:verdicts.jsonl")

    assert (code, err) == (0, "")
    assert [item["trace_id"] for item in items] == ["t0", "t1", "t2"]
    keys = ["trace_id", "judge", "answered_model", "answered_fingerprint", "scores"]
    assert [list(item) for item in items] == [keys] * 3
    # nobody was asked about the last one, which has no contexts
    answered = [summary["fingerprint"], summary["fingerprint"], None]
    assert [item["answered_fingerprint"] for item in items] == answered
    assert all(list(score) == KEYS for item in items for score in item["scores"])
    assert items[0]["judge"] == "recorded"
    position, skipped = items[0]["scores"][0], items[2]["scores"][0]
    assert (position["scorer"], position["status"], position["band"]) == (
        "context_position",
        "scored",
        "mixed",
    )
    assert (position["raw"], position["value"]) == (pytest.approx(2 / 3), 0.67)
    assert (position["cause"], position["passed"]) == (None, None)
    assert (skipped["status"], skipped["cause"], skipped["raw"]) == ("skipped", "empty_retrieval", None)
    assert summary["traces"] == 3
    assert summary["scores"]["context_position"] == {
        "mean": pytest.approx(2 / 3),
        "interval": None,  # of two scores
        "n": 2,
        "unscored": {"empty_retrieval": 1},
        "threshold": None,
        "passed": None,
    }


def test_the_table_names_judge_means_and_what_was_not_scored(capsys):
    code, out, _ = call(capsys, "traces.jsonl", "--judge", "recorded:verdicts.jsonl")

    assert code == 0
    assert "3 traces, judge recorded (" in out
    assert re.search(r"context_position +0\.667 +too few +2 +1 empty_retrieval +mixed", out)


def test_one_trace_is_counted_as_one(capsys):
    write_lines("traces.jsonl", [REFUND])

    _, out, _ = call(capsys, "traces.jsonl", "--fail-under", "context_position=0")

    assert out.startswith("1 trace, judge lexical (")
    assert re.search(r"found \d\.\d{4} over 1 trace\n", out)


def test_the_lexical_judge_is_the_default(capsys):
    _, items, summary, _ = call_json(capsys, "traces.jsonl")

    assert summary["judge"] == "lexical"
    assert {item["judge"] for item in items} == {"lexical"}


def test_sixty_traces_need_no_network_and_less_than_five_seconds(capsys, monkeypatch):
    def refuse(*_arguments: object, **_options: object):
        raise AssertionError("a socket was opened")

    monkeypatch.setattr("socket.socket", refuse)
    begun = time.process_time()

    code, items, _, _ = call_json(capsys, str(DEMO))

    assert (code, len(items)) == (0, 60)
    assert time.process_time() - begun < 5


def test_scorers_are_named_from_the_settings_and_from_the_table(capsys):
    Path("ragsonde.yaml").write_text(
        "scorers: {strict: {scorer: context_position, scale: 10}}\n", encoding="utf-8"
    )

    _, items, _, _ = call_json(
        capsys,
        "traces.jsonl",
        "--judge",
        "recorded:verdicts.jsonl",
        "--scorers",
        "strict, context_precision,strict",
    )
    configured = call_json(capsys, "traces.jsonl", "--judge", "recorded:verdicts.jsonl")[1]

    assert [(score["scorer"], score["value"]) for score in items[0]["scores"]] == [
        ("strict", 6.67),
        ("context_precision", 1),
    ]
    assert [score["scorer"] for score in configured[0]["scores"]] == ["strict"]


def test_a_judge_of_the_settings_is_used_by_its_name(capsys):
    Path("ragsonde.yaml").write_text(
        "judges: [{name: people, kind: recorded, path: verdicts.jsonl}]\n", encoding="utf-8"
    )

    _, items, _, _ = call_json(capsys, "traces.jsonl", "--judge", "people")

    assert items[0]["judge"] == "people"
    assert items[0]["scores"][0]["raw"] == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("demand", "code", "met"),
    [
        ("context_position=0.66", 0, True),
        ("context_position=0.67", 1, False),
        ("context_precision=1", 0, True),
    ],
)
def test_fail_under_is_on_the_mean(demand, code, met, capsys):
    ended, _, summary, _ = call_json(
        capsys, "traces.jsonl", "--judge", "recorded:verdicts.jsonl", "--fail-under", demand
    )

    assert ended == code
    assert [check["met"] for check in summary["checks"]] == [met]


def test_a_mean_that_does_not_exist_is_not_reached(capsys):
    write_lines("traces.jsonl", [{**REFUND, "contexts": []}])

    code, _, summary, _ = call_json(capsys, "traces.jsonl", "--fail-under", "context_position=0")

    assert code == 1
    assert summary["checks"][0]["found"] == "no trace was scored"


@pytest.mark.parametrize(("threshold", "code"), [(0.6, 0), (0.7, 1)])
def test_fail_each_is_on_the_threshold_of_each_trace(threshold, code, capsys):
    Path("ragsonde.yaml").write_text(
        f"scorers: {{context_position: {{threshold: {threshold}}}}}\n", encoding="utf-8"
    )

    ended, out, _ = call(capsys, "traces.jsonl", "--judge", "recorded:verdicts.jsonl", "--fail-each")

    assert ended == code
    below = "2 below: t0 (context_position 0.666667 < 0.7), t1 (context_position 0.666667 < 0.7)\n"
    assert (below in out) is (code == 1)


@pytest.mark.parametrize(
    "demand",
    [["--fail-each"], ["--max-unscored", "9"], ["--fail-under", "context_position=0"]],
)
@pytest.mark.parametrize("form", ["table", "json", "junit"])
def test_what_was_demanded_is_not_met_where_nothing_was_scored(demand, form, capsys):
    write_lines("traces.jsonl", [{**REFUND, "contexts": []}] * 2)
    Path("ragsonde.yaml").write_text("scorers: {context_position: {threshold: 0}}\n", encoding="utf-8")

    code, out, err = call(capsys, "traces.jsonl", *demand, "--output", form)

    assert code == 1
    told = out if form == "table" else err
    assert re.search(r"NOT MET: .*; found .*(no trace was scored|no trace that has one was scored)\n", told)


def test_a_trace_without_a_score_does_not_spoil_those_that_reach_their_threshold(capsys):
    Path("ragsonde.yaml").write_text(
        "scorers: {context_position: {threshold: 0.5}, context_precision: {}}\n", encoding="utf-8"
    )

    code, out, _ = call(capsys, "traces.jsonl", "--judge", "recorded:verdicts.jsonl", "--fail-each")

    assert code == 0
    assert "met: every trace reaches its thresholds; found 0 below\n" in out


@pytest.mark.parametrize("form", ["json", "junit"])
def test_a_demand_that_is_not_met_is_told_beside_what_is_for_machines(form, capsys):
    code, _, err = call(capsys, "traces.jsonl", "--fail-under", "context_position=1", "--output", form)

    assert code == 1
    assert re.fullmatch(
        r"ragsonde: NOT MET: mean of context_position >= 1; found 0\.\d{4} over 2 traces\n", err
    )


@pytest.mark.parametrize(("most", "code"), [("1", 0), ("0", 1)])
def test_max_unscored_counts_traces_that_lack_any_score(most, code, capsys):
    ended, out, _ = call(capsys, "traces.jsonl", "--judge", "recorded:verdicts.jsonl", "--max-unscored", most)

    assert ended == code
    assert ("NOT MET: traces without every score <= 0; found 1: t2" in out) is (code == 1)


def test_lines_that_are_no_traces_are_all_named_and_nothing_is_judged(capsys):
    with Path("traces.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"trace_id": "x", "contexts": 5}\n{"trace_id": \n')

    code, out, err = call(capsys, "traces.jsonl")

    assert (code, out) == (2, "")
    lines = err.splitlines()
    assert lines[0].startswith("ragsonde: traces.jsonl:4: contexts")
    assert lines[1].startswith("ragsonde: traces.jsonl:5: ")
    assert "2 of 5 messages are no traces, nothing was judged" in lines[2]
    assert "--skip-bad" in lines[2]


def test_lines_that_are_no_traces_can_be_left_out_and_are_counted(capsys):
    with Path("traces.jsonl").open("a", encoding="utf-8") as file:
        file.write("{}\n")

    code, items, summary, err = call_json(capsys, "traces.jsonl", "--skip-bad")

    assert (code, len(items), summary["bad_messages"]) == (0, 3, 1)
    assert err.startswith("ragsonde: traces.jsonl:4: ")


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["gone.jsonl"], "gone.jsonl: cannot be read (No such file or directory)"),
        (["traces.jsonl", "--judge", "gtp"], "--judge gtp: no such judge"),
        (["traces.jsonl", "--judge", "lexicl"], "did you mean lexical"),
        (["traces.jsonl", "--judge", "recorded:"], "'recorded:': expected lexical, recorded:FILE"),
        (["traces.jsonl", "--output", "xml"], "'--output' / '-o': 'xml' is not one of 'table', 'json'"),
        (["traces.jsonl", "--judge", "recorded:gone"], "gone: cannot read the recorded verdicts"),
        (["traces.jsonl", "--scorers", "contxt_position"], "did you mean context_position"),
        (["traces.jsonl", "--scorers", ","], "--scorers: names none"),
        (
            ["traces.jsonl", "--fail-under", "context_position"],
            "expected SCORER=V, for example context_position=0.7",
        ),
        (["traces.jsonl", "--fail-under", "context_positon=1"], "did you mean context_position"),
        (["traces.jsonl", "--fail-under", "context_position=70"], "expected a raw score from 0 to 1"),
        (["traces.jsonl", "--fail-under", "context_position=nan"], "expected a raw score from 0 to 1"),
        (
            ["traces.jsonl", *["--fail-under", "context_position=0.9"] * 2],
            "context_position has 0.9 already; expected it once",
        ),
        (["traces.jsonl", "--fail-each"], "no scorer that is run has a threshold"),
        (["traces.jsonl", "--target", "nonsense"], "expected module:function"),
        (["traces.jsonl", "--config", "gone.yaml"], "gone.yaml: cannot be read"),
    ],
)
def test_a_mistake_is_one_line_and_exit_code_2(arguments, expected, capsys):
    code, out, err = call(capsys, *arguments)

    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert expected in err


def test_a_target_is_asked_and_its_failures_are_shown(capsys):
    Path("app_of_the_cli_test.py").write_text(
        "def answer(question):\n"
        "    if question['trace_id'] == 't1': raise RuntimeError('index is gone')\n"
        "    return {'answer': 'Within 14 days.', 'contexts': ['A refund takes 14 days.']}\n",
        encoding="utf-8",
    )
    arguments = ["traces.jsonl", "--target", "app_of_the_cli_test:answer"]

    code, items, summary, _ = call_json(capsys, *arguments)
    table = call(capsys, *arguments)[1]

    assert code == 0
    assert items[1] == {
        "trace_id": "t1",
        "judge": "lexical",
        "answered_model": None,
        "answered_fingerprint": None,
        "scores": [],
        "error": "RuntimeError: index is gone",
    }
    assert summary["target_failed"] == 1
    assert summary["scores"]["context_position"]["unscored"] == {"target_failed": 1}
    assert "target failed at traces.jsonl:2 (t1): RuntimeError: index is gone" in table


def test_a_target_that_nobody_serves_is_told_without_names_of_our_code(capsys):
    code, out, _ = call(capsys, "traces.jsonl", "--target", "http://127.0.0.1:1/ask")

    assert code == 4
    place = "target failed at traces.jsonl:1 (t0)"
    assert f"{place}: http://127.0.0.1:1/ask cannot be reached: Connection refused\n" in out


def test_junit_holds_a_case_for_each_trace_and_scorer_and_for_each_demand(capsys):
    Path("ragsonde.yaml").write_text(
        "scorers: {context_position: {threshold: 0.7}, context_precision: {threshold: 0.7}}\n",
        encoding="utf-8",
    )

    code, out, _ = call(
        capsys,
        "traces.jsonl",
        "--judge",
        "recorded:verdicts.jsonl",
        "--output",
        "junit",
        "--fail-under",
        "context_position=0.9",
    )
    suite = ET.fromstring(out).find("testsuite")  # noqa: S314 - our own output

    assert code == 1
    assert {name: suite.get(name) for name in ("tests", "failures", "errors", "skipped")} == {
        "tests": "7",
        "failures": "3",
        "errors": "0",
        "skipped": "2",
    }
    case = suite.find("testcase[@classname='context_position'][@name='t0']")
    assert case.find("failure").get("message").startswith("0.6667 is below the threshold")
    demand = suite.find("testcase[@classname='demands']")
    assert demand.get("name") == "mean of context_position >= 0.9"


def test_junit_is_well_formed_whatever_traces_and_errors_hold(capsys):
    write_lines("traces.jsonl", [{**REFUND, "trace_id": "a<&>\"'"}])
    Path("hostile_app_of_the_cli_test.py").write_text(
        "def answer(question):\n    raise RuntimeError('\\x00\\x1b\\ufffe]]><!--')\n", encoding="utf-8"
    )

    arguments = ["traces.jsonl", "--output", "junit", "--target", "hostile_app_of_the_cli_test:answer"]
    suite = ET.fromstring(call(capsys, *arguments)[1]).find("testsuite")  # noqa: S314 - our own output

    assert {case.get("name") for case in suite.iter("testcase")} == {"a<&>\"'"}
    assert suite.get("errors") == "5"
    assert suite.find("testcase/error").get("message") == "target: RuntimeError: \ufffd\ufffd\ufffd]]><!--"


def test_text_of_a_trace_cannot_steer_the_terminal(capsys):
    write_lines("traces.jsonl", [{**REFUND, "trace_id": "t [bold]x[/bold]", "contexts": []}])
    Path("ragsonde.yaml").write_text("scorers: {context_position: {}}\n", encoding="utf-8")

    _, out, _ = call(capsys, "traces.jsonl", "--max-unscored", "0")

    assert "t [bold]x[/bold]" in out
