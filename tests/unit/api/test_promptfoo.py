import json
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from builders.promptfoo_tests import (
    ASSERTED,
    CONTEXT,
    QUESTION,
    fail,
    fail_one,
    ignore,
    read,
    read_one,
    write,
)
from ragsonde.api.promptfoo import collect_notes, is_promptfoo
from ragsonde.api.traces import read_items


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_yaml_is_read_as_tests_by_its_name():
    assert [is_promptfoo(name) for name in ("a.yaml", "b/A.YML", "a.jsonl", "-")] == [
        True,
        True,
        False,
        False,
    ]


def test_a_test_is_a_trace_with_question_contexts_answer_and_metadata():
    variables = {"query": QUESTION, "context": [CONTEXT, "Shipping is free."], "answer": "14 days."}
    write([{"description": "refund", "vars": variables, "metadata": {"team": "shop"}}])

    (item,), bad = read_items(Path("rag.yaml"))

    assert bad == []
    assert item.place == "rag.yaml: test 1"
    trace = item.trace
    assert (trace.trace_id, trace.query, trace.answer) == ("refund", QUESTION, "14 days.")
    assert [context.content for context in trace.contexts] == [CONTEXT, "Shipping is free."]
    assert trace.metadata == {"team": "shop"}


def test_a_list_of_tests_and_a_configuration_with_tests_read_alike():
    test = {"vars": {"query": QUESTION, "context": CONTEXT}, "assert": [ASSERTED]}

    assert read([test]) == read({"prompts": ["{{query}}"], "providers": ["echo"], "tests": [test]})


def test_one_text_stays_one_text_so_that_its_lines_are_told_apart():
    _, message = read_one(vars={"context": f"{CONTEXT}\nShipping is free."})

    assert message["contexts"] == f"{CONTEXT}\nShipping is free."


@pytest.mark.parametrize(
    "documents",
    [
        [{"content": CONTEXT, "id": "faq-12", "score": 0.9}],
        [{"pageContent": CONTEXT, "metadata": {"score": "0.9"}, "id": "faq-12"}],
        json.dumps([{"text": CONTEXT, "id": "faq-12", "score": 0.9}]),
        {"content": CONTEXT, "id": "faq-12", "score": 0.9},
    ],
)
def test_contexts_may_be_objects_as_any_library_writes_them(documents):
    _, message = read_one(vars={"context": documents})

    (context,) = message["contexts"]
    assert (context["content"], context["id"], context["score"]) == (CONTEXT, "faq-12", 0.9)


def test_a_context_without_a_text_is_refused():
    assert fail_one(vars={"context": [CONTEXT, {"id": "faq-7"}]}) == (
        "rag.yaml: test 1: context 2 has no text, only an id or a score"
    )


@pytest.mark.parametrize(
    ("variables", "query"),
    [
        ({"question": QUESTION}, QUESTION),
        ({"query": QUESTION, "question": "another"}, QUESTION),
        ({"query": 42}, "42"),
    ],
)
def test_the_question_is_query_else_question(variables, query):
    (one,) = read([{"vars": variables}])

    assert json.loads(one.body)["query"] == query


def test_a_test_without_a_question_is_refused_with_the_variables_it_has():
    assert fail([{"vars": {"topic": "x", "language": "y"}}]) == (
        "rag.yaml: test 1: vars: found topic, language, expected `query` (or `question`)"
    )


def test_a_list_of_questions_is_refused_as_it_means_several_tests():
    assert "vars.query: found a list, expected one question" in fail([{"vars": {"query": ["a", "b"]}}])


def test_trace_ids_are_descriptions_else_numbers_and_never_the_same():
    tests = [{"description": name, "vars": {"query": QUESTION}} for name in ("refund", "", "refund", "a\nb")]

    assert [test.trace_id for test in read(tests)] == ["refund", "test 2", "refund (3)", "a b"]


@given(st.lists(st.text(max_size=200), min_size=1, max_size=5))
def test_any_descriptions_give_trace_ids_that_are_accepted_and_differ(tmp_path_factory, names):
    file = tmp_path_factory.mktemp("tests") / "rag.yaml"
    tests = [{"description": name, "vars": {"query": QUESTION}} for name in names]
    file.write_text(yaml.safe_dump(tests), encoding="utf-8")

    items, bad = read_items(file)

    assert bad == []
    assert len({item.trace.trace_id for item in items}) == len(names)


def test_an_assertion_sets_the_threshold_of_the_formula_that_computes_it():
    one, _ = read_one(**{"assert": [ASSERTED]})

    assert one.thresholds == {"essential_context": 0.3}


def test_of_several_thresholds_the_highest_holds_also_in_sets_and_from_templates():
    content = {
        "assertionTemplates": {"strict": {"type": "context-relevance", "threshold": 0.8}},
        "tests": [
            {
                "vars": {"query": QUESTION},
                "assert": [
                    {"type": "assert-set", "assert": [ASSERTED, {"$ref": "#/assertionTemplates/strict"}]},
                ],
            }
        ],
    }
    (one,) = read(content)

    assert one.thresholds == {"essential_context": 0.8}


def test_an_assertion_without_a_threshold_sets_none():
    one, _ = read_one(**{"assert": [{"type": "context-relevance"}]})

    assert (one.thresholds, one.notes) == ({}, ())


@pytest.mark.parametrize("threshold", [1.5, -0.1, "high", True, [0.3]])
def test_a_threshold_that_is_no_number_from_0_to_1_is_refused(threshold):
    message = fail_one(**{"assert": [{"type": "context-relevance", "threshold": threshold}]})

    assert message == (
        f"rag.yaml: test 1: assert context-relevance: threshold: found {threshold!r}, "
        "expected a number from 0 to 1"
    )


def test_other_assertions_are_named_once_with_the_tests_that_have_them():
    tests = [
        {"vars": {"query": QUESTION}, "assert": [{"type": kind}, {"type": kind}]}
        for kind in ("contains", "contains", "contains", "llm-rubric", "contains")
    ]

    assert collect_notes(read(tests)) == [
        f"rag.yaml: test 1, rag.yaml: test 2, rag.yaml: test 3 and 1 more: {ignore('contains')}",
        f"rag.yaml: test 4: {ignore('llm-rubric')}",
    ]


def test_the_expected_answer_is_the_variable_else_what_context_recall_names():
    recall = {"type": "context-recall", "value": "14 days"}

    assert read_one(**{"assert": [recall]})[1]["reference"] == "14 days"
    assert read_one(vars={"reference": "two weeks"}, **{"assert": [recall]})[1]["reference"] == "two weeks"


def test_default_test_is_merged_and_what_a_test_says_itself_holds():
    content = {
        "defaultTest": {
            "vars": {"context": "from the default", "question": "from the default"},
            "assert": [ASSERTED],
            "metadata": {"team": "shop", "kind": "default"},
        },
        "tests": [
            {"vars": {"query": QUESTION}, "metadata": {"kind": "own"}},
            {"vars": {"query": QUESTION, "context": "own"}, "options": {"disableDefaultAsserts": True}},
        ],
    }
    first, second = read(content)

    message = json.loads(first.body)
    assert (message["query"], message["contexts"]) == (QUESTION, "from the default")
    assert message["metadata"] == {"team": "shop", "kind": "own"}
    assert (first.thresholds, second.thresholds) == ({"essential_context": 0.3}, {})
    assert json.loads(second.body)["contexts"] == "own"


@pytest.mark.parametrize(
    ("given", "answer"),
    [
        ({"providerOutput": "14 days."}, "14 days."),
        ({"providerOutput": {"answer": "14 days.", "context": []}}, "14 days."),
        ({"providerOutput": '{"response": "14 days."}'}, "14 days."),
        ({"vars": {"output": "14 days.", "answer": "not this"}}, "14 days."),
        (
            {"providerOutput": {"data": {"said": "14 days."}}, "options": {"transform": "output.data.said"}},
            "14 days.",
        ),
        ({"providerOutput": {"tool_calls": []}}, None),
        ({}, None),
    ],
)
def test_the_answer_is_the_output_or_its_part(given, answer):
    _, message = read_one(**given)

    assert message["answer"] == answer


def test_a_template_in_the_question_is_named_as_it_is_not_filled_in():
    one, _ = read_one(vars={"query": "What is {{topic}}?"})

    assert one.notes == ("vars.query holds a template, which is not filled in",)
