import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders.promptfoo_tests import ASSERTED, CONTEXT, fail_one, read_one
from ragsonde.api.promptfoo import collect_notes
from ragsonde.api.promptfoo_paths import follow_path, read_path
from ragsonde_schemas.errors import InputError


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("transform", "output"),
    [
        ("output.context", {"context": [CONTEXT]}),
        ("output.context", json.dumps({"context": [CONTEXT]})),
        ("JSON.parse(output).context", json.dumps({"context": [CONTEXT]})),
        ("output?.retrieved?.chunks", {"retrieved": {"chunks": [CONTEXT]}}),
        ('output.results[1]["retrieved docs"];', {"results": [{}, {"retrieved docs": [CONTEXT]}]}),
        ("output['context']", {"context": [{"text": CONTEXT}]}),
        ("output", [CONTEXT]),
        ("context.vars.passages", {}),
    ],
)
def test_context_transform_is_a_path_on_the_output(transform, output):
    asserted = {**ASSERTED, "contextTransform": transform}
    one, message = read_one(
        vars={"passages": [CONTEXT], "context": "not this"}, providerOutput=output, **{"assert": [asserted]}
    )

    assert one.notes == ()
    assert [context["content"] for context in message["contexts"]] == [CONTEXT]


@pytest.mark.parametrize(
    "transform",
    [
        "output.retrieved.map(d => d.text)",
        "output.context.join('\\n')",
        "output.context || output.chunks",
        "(output) => output.context",
        "file://transform.js",
        "outputs.context",
        "output.context[i]",
        "",
    ],
)
def test_a_context_transform_that_needs_javascript_is_refused_with_what_is_supported(transform):
    message = fail_one(**{"assert": [{**ASSERTED, "contextTransform": transform}]})

    assert message.startswith(
        f"rag.yaml: test 1: assert context-relevance: contextTransform: {transform!r} needs JavaScript, "
        "which is not run; expected a path of names and indices on `output`"
    )


def test_a_context_transform_that_finds_nothing_leaves_the_contexts_unknown_and_says_so():
    asserted = {**ASSERTED, "contextTransform": "output.context"}
    one, message = read_one(vars={"output": {"chunks": []}}, **{"assert": [asserted]})

    assert message["contexts"] is None
    assert one.output_notes == ("contextTransform finds nothing in the output",)
    assert collect_notes([one]) == ["rag.yaml: test 1: contextTransform finds nothing in the output"]


def test_a_context_transform_without_an_output_waits_for_a_target():
    one, message = read_one(**{"assert": [{**ASSERTED, "contextTransform": "output.context"}]})

    assert message["contexts"] is None
    assert one.output_notes == ("contextTransform has no output to read; --target gives one",)
    assert collect_notes([one], has_target=True) == []


NAMES = st.from_regex(re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,6}"), fullmatch=True)


@given(st.lists(NAMES | st.integers(0, 3), max_size=5), st.text())
def test_a_path_finds_what_was_put_there(steps, value):
    tree = value
    for step in reversed(steps):
        tree = {step: tree} if isinstance(step, str) else [None] * step + [tree]
    written = "".join(f".{step}" if isinstance(step, str) else f"[{step}]" for step in steps)

    assert follow_path(read_path(f"output{written}", place="here"), roots={"output": tree}) == value


@given(st.text(), st.recursive(st.none() | st.text(), lambda v: st.lists(v) | st.dictionaries(st.text(), v)))
def test_any_expression_is_a_path_or_an_input_error(expression, output):
    try:
        path = read_path(expression, place="here")
    except InputError:
        return
    follow_path(path, roots={"output": output})
