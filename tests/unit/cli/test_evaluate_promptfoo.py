"""promptfoo's tests on the command line: the page's own example, and thresholds by test."""

import json
import re
import sys
from pathlib import Path

import pytest
import yaml

from ragsonde.cli.main import run

PAGE = (Path(__file__).parents[3] / "docs" / "how-to" / "evaluate-promptfoo.md").read_text()
EXAMPLE = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)[0]
COMMAND, TARGETED = re.findall(r"```sh\nragsonde (.*?)\n```", PAGE, re.DOTALL)
PRINTED = re.findall(r"```\n(2 traces.*?)```", PAGE, re.DOTALL)[0]
FILE = "promptfooconfig.yaml"


@pytest.fixture(autouse=True)
def _example(_neither_file_nor_variables):
    Path(FILE).write_text(EXAMPLE)


def call(capsys, *arguments):
    with pytest.raises(SystemExit) as ended:
        run([*arguments])
    out, err = capsys.readouterr()
    return ended.value.code, out, err


def call_json(capsys, *arguments):
    code, out, err = call(capsys, "evaluate", FILE, *arguments, "--output", "json")
    *items, last = [json.loads(line) for line in out.splitlines()]
    passed = {
        item["trace_id"]: {score["scorer"]: score["passed"] for score in item["scores"]} for item in items
    }
    return code, passed, last["summary"], err


def change(**changes):
    content = yaml.safe_load(EXAMPLE)
    content.update(changes)
    Path(FILE).write_text(yaml.safe_dump(content))


def test_the_example_prints_what_the_page_shows(capsys):
    code, out, err = call(capsys, *COMMAND.split())
    assert code == 1
    shown = [line for line in PRINTED.splitlines() if line != "..."]
    assert [line for line in shown if line not in [found.rstrip() for found in out.splitlines()]] == []
    assert err == (
        "ragsonde: promptfooconfig.yaml: test 2: assertions of type contains are not judged here; "
        "context-relevance is (essential_context)\n"
    )


def test_a_tests_threshold_decides_for_its_trace_and_scorer_only(capsys):
    code, passed, summary, _ = call_json(capsys, "--fail-each")
    assert code == 1
    assert {trace: scores["essential_context"] for trace, scores in passed.items()} == {
        "refund": True,
        "gift cards": False,
    }
    assert {scores["context_precision"] for scores in passed.values()} == {None}
    (check,) = summary["checks"]
    assert (check["met"], check["found"]) == (False, "1 below: gift cards (essential_context 0.25 < 0.3)")


def test_thresholds_that_are_reached_end_well(capsys):
    change(defaultTest={"assert": [{"type": "context-relevance", "threshold": 0.25}]})
    code, passed, _, _ = call_json(capsys, "--fail-each")
    assert (code, passed["gift cards"]["essential_context"]) == (0, True)


def test_a_tests_threshold_goes_before_the_settings_and_theirs_holds_where_it_has_none(capsys):
    Path("ragsonde.yaml").write_text("scorers: {strict: {scorer: essential_context, threshold: 0.9}}")
    change(
        defaultTest={},
        tests=[
            {"description": name, "vars": {"query": "a b c?", "context": ["a b c."]}, "assert": asserted}
            for name, asserted in (
                ("own", [{"type": "context-relevance", "threshold": 0}]),
                ("settings'", []),
            )
        ],
    )
    _, passed, summary, _ = call_json(capsys, "--config", "ragsonde.yaml")
    raws = summary["scores"]["strict"]
    assert passed["own"] == {"strict": True}
    assert passed["settings'"] == {"strict": raws["mean"] >= 0.9}


def test_without_any_threshold_fail_each_is_refused_as_for_other_files(capsys):
    change(defaultTest={})
    code, _, err = call(capsys, "evaluate", FILE, "--fail-each")
    assert code == 2
    assert "--fail-each: no scorer that is run has a threshold" in err


def test_fail_each_is_refused_where_the_scorer_that_is_asked_for_is_not_run(capsys):
    code, _, err = call(capsys, "evaluate", FILE, "--fail-each", "--scorers", "context_precision")
    assert code == 2
    assert "test 1 asks for essential_context, which is not run; name it in --scorers" in err


def test_a_target_answers_the_tests_and_their_thresholds_hold(capsys, monkeypatch):
    for name in ("my_app", "my_app.rag"):  # kept away from other tests' modules of that name
        monkeypatch.setitem(sys.modules, name, None)
        del sys.modules[name]
    Path("my_app").mkdir()
    Path("my_app/rag.py").write_text(
        "def answer(question):\n"
        "    return {'answer': question['query'], 'contexts': [question['query'], 'Something else.'] }\n"
    )
    monkeypatch.setattr(sys, "path", [*sys.path])
    code, out, _ = call(capsys, *TARGETED.split(), "--output", "json")
    items = [json.loads(line) for line in out.splitlines()][:-1]
    assert [item["trace_id"] for item in items] == ["refund", "gift cards"]
    found = [score for item in items for score in item["scores"] if score["scorer"] == "essential_context"]
    assert [score["passed"] for score in found] == [score["raw"] >= 0.3 for score in found]
    assert code == (0 if all(score["passed"] for score in found) else 1)


def test_where_a_target_answers_nothing_is_said_of_the_outputs_in_the_file(capsys):
    asserted = {"type": "context-relevance", "threshold": 0.3, "contextTransform": "output.context"}
    change(defaultTest={}, tests=[{"vars": {"query": "a b c?"}, "assert": [asserted]}])
    Path("app_without_outputs.py").write_text(
        "def answer(question):\n    return {'answer': 'a b c.', 'contexts': ['a b c.']}\n"
    )

    _, _, without = call(capsys, "evaluate", FILE)
    _, _, given = call(capsys, "evaluate", FILE, "--target", "app_without_outputs:answer")

    assert "--target gives one" in without
    assert given == ""


def test_a_file_that_cannot_be_read_as_tests_is_bad_input(capsys):
    Path(FILE).write_text("trace_id: a")
    code, _, err = call(capsys, "evaluate", FILE)
    assert code == 2
    assert "found a mapping with the keys trace_id, expected promptfoo's tests" in err
