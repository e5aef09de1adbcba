"""`check-config` finds what a worker would stumble over at its start: the user's functions too."""

import json
from pathlib import Path

import pytest

from ragsonde.cli.main import run

MODULE = """
def by_question(trace):
    return None

def read_texts(ids):
    return {}
"""


@pytest.fixture
def _module():
    Path("their_functions.py").write_text(MODULE)


def check(capsys, extraction):
    Path("ragsonde.yaml").write_text(f"extraction:\n  - {extraction}\n")
    with pytest.raises(SystemExit) as ended:
        run(["check-config"])
    out, err = capsys.readouterr()
    return ended.value.code, out, err


@pytest.mark.usefixtures("_module")
def test_functions_that_are_there_are_accepted_and_a_restart_is_named(capsys):
    code, out, err = check(
        capsys,
        "{contexts: {function: 'their_functions:by_question'},"
        " resolver: {function: 'their_functions:read_texts'}}",
    )

    assert (code, err) == (0, "")
    assert "after a change, restart workers, monitor and receiver" in out


@pytest.mark.usefixtures("_module")
def test_all_functions_that_are_not_there_are_told_with_what_is(capsys):
    code, out, err = check(
        capsys,
        "{contexts: {function: 'their_functions:by_qestion'}, answer: {function: 'their_function:answer'},"
        " resolver: {function: no_such_entry_point}}",
    )

    answer, contexts, resolver = sorted(err.splitlines())
    assert (code, out) == (2, "")
    assert contexts == (
        "ragsonde: extraction[0].contexts: their_functions:by_qestion: module 'their_functions' has no "
        "attribute 'by_qestion'; it defines by_question, read_texts; did you mean by_question?"
    )
    assert answer.startswith("ragsonde: extraction[0].answer: their_function:answer: No module named")
    assert answer.endswith("; did you mean their_functions?")
    assert resolver.startswith("ragsonde: extraction[0].resolver: no entry point no_such_entry_point")


def test_a_module_that_raises_is_told(capsys):
    Path("fails_at_import.py").write_text("raise RuntimeError('no index')")

    code, _, err = check(capsys, "{query: {function: 'fails_at_import:query'}}")

    assert code == 2
    assert "importing it raised RuntimeError: no index; mend the module" in err


def test_a_budget_in_dollars_for_a_model_of_unknown_price_is_told(capsys):
    Path("ragsonde.yaml").write_text(
        "judges: [{name: gpt, kind: litellm, model: openai/nobody-lists-it, budget: {usd_per_day: 5}}]"
    )
    with pytest.raises(SystemExit) as ended:
        run(["check-config"])
    out, err = capsys.readouterr()
    assert (ended.value.code, out) == (2, "")
    assert err.startswith("ragsonde: judges[0].model: 'openai/nobody-lists-it' has no price")


MISSPELLED = "judges: [{name: lexical, kind: lexical, scorers: [context_precison]}]"
REFUSAL = "judges[0].scorers: found 'context_precison', which is no configured scorer"


def test_a_judges_scorer_that_is_not_configured_is_refused_as_the_worker_does(capsys):
    Path("ragsonde.yaml").write_text(MISSPELLED)
    with pytest.raises(SystemExit) as ended:
        run(["check-config"])
    out, err = capsys.readouterr()
    assert (ended.value.code, out) == (2, "")
    assert err.startswith(f"ragsonde: {REFUSAL}; did you mean context_precision?")


def test_doctor_finds_a_judges_scorer_that_is_not_configured(capsys):
    Path("ragsonde.yaml").write_text(MISSPELLED)
    nowhere = ["--broker-url", "redis://127.0.0.1:1/0", "--database-url", "postgresql://u@127.0.0.1:1/d"]
    with pytest.raises(SystemExit) as ended:
        run(["doctor", "--output", "json", *nowhere])
    findings = {one["check"]: one for one in map(json.loads, capsys.readouterr().out.splitlines())}
    assert ended.value.code == 4
    assert findings["judges"]["verdict"] == "failing"
    assert findings["judges"]["found"].startswith(REFUSAL)
