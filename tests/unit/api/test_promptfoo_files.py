import json
from pathlib import Path

import pytest

from builders.promptfoo_tests import ASSERTED, CONTEXT, QUESTION, fail, ignore, read, write


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_tests_may_stand_in_other_files_relative_to_the_one_that_names_them():
    Path("more").mkdir()
    write([{"vars": "file://vars.json"}], "more/list.yaml")
    write(json.dumps({"query": QUESTION, "context": "file://faq.md"}), "more/vars.json")
    write(CONTEXT, "more/faq.md")
    write("\n".join(json.dumps({"vars": {"query": name}}) for name in "ab"), "lines.jsonl")
    write({"assert": [ASSERTED]}, "default.yaml")
    tests = ["file://more/list.yaml", "file://lines.jsonl"]

    read_ = read({"defaultTest": "file://default.yaml", "tests": tests})

    messages = [json.loads(test.body) for test in read_]
    assert [message["query"] for message in messages] == [QUESTION, "a", "b"]
    assert messages[0]["contexts"] == CONTEXT
    assert [test.thresholds for test in read_] == [{"essential_context": 0.3}] * 3


def test_a_line_of_csv_is_a_test_whose_columns_are_variables():
    lines = [
        "query,context,__expected,__description,__metadata:team,__threshold",
        f'"{QUESTION}","[""{CONTEXT}""]",context-relevance(0.4),refund,shop,',
        f'"{QUESTION}","{CONTEXT}",context-relevance:,,,0.5',
        f'"{QUESTION}","{CONTEXT}",contains: 14 days,,,',
    ]
    write("\n".join(lines), "tests.csv")

    first, second, third = read({"tests": "file://tests.csv"})

    message = json.loads(first.body)
    assert (first.trace_id, message["metadata"]) == ("refund", {"team": "shop"})
    assert [context["content"] for context in message["contexts"]] == [CONTEXT]
    assert (first.thresholds, second.thresholds) == ({"essential_context": 0.4}, {"essential_context": 0.5})
    assert third.notes == (ignore("contains"),)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("", "found nothing, expected promptfoo's tests"),
        ("[]", "holds no test"),
        (
            "trace_id: a\nquery: b",
            "found a mapping with the keys trace_id, query, expected promptfoo's tests",
        ),
        ("scenarios: []", "scenarios are not read: write them as tests"),
        ("just a text", "found a str, expected promptfoo's tests"),
        ("tests: [1]", "tests[0]: found a int, expected a test with `vars`"),
        ("tests: [{path: 'file://make.py:create'}]", "tests made by code are not run"),
        ("tests: file://make.js", "make.js: is not read; expected .yaml, .yml, .json, .jsonl or .csv"),
        ("tests: file://cases/*.yaml", "patterns are not read; name each file"),
        ("tests: file://absent.yaml", "absent.yaml: cannot be read (No such file or directory)"),
        ("tests: huggingface://datasets/x", "expected a mapping or file:// and a file"),
        ("tests:\n- vars: {query: [", ":2:18: no valid YAML"),
        ("- vars: [a]", "test 1: vars: found a list, expected a mapping"),
        ("- vars: {query: a}\n  assert: {type: x}", "test 1: assert: expected a list of assertions"),
        ("- vars: {query: a}\n  assert: [x]", "test 1: assert: found a str, expected for example"),
        ("- vars: {query: a}\n  assert: [{threshold: 1}]", "found a mapping without a type"),
        (
            "- vars: {query: a}\n  assert: [{$ref: '#/assertionTemplates/no'}]",
            "assertionTemplates hold no 'no'",
        ),
        ("defaultTest: [a]\ntests: [{vars: {query: a}}]", "expected a mapping as defaultTest"),
        ("[" * 5000, "no valid YAML"),
        ("- vars: &own {query: a, context: [*own]}", "test 1: cannot be written as JSON"),
        ("- vars: {query: a}\n  metadata: {1-2: {2026-01-01: b}}", "test 1: cannot be written as JSON"),
    ],
)
def test_what_is_no_file_of_tests_is_refused_with_its_place(content, problem):
    message = fail(content)

    assert message.startswith("rag.yaml")
    assert problem in message
