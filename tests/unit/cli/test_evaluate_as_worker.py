"""`ragsonde evaluate` with a judge of the settings that has scorers and traces of its own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fakes.traces import REFUND
from ragsonde.cli.main import run


@pytest.fixture
def call(capsys):
    """Evaluates two traces, of the apps `shop` and `help`, with the judge `own`; code, scorers, stderr."""

    def evaluate(options, *arguments):
        judge = {"name": "own", "kind": "lexical", **options}
        Path("ragsonde.yaml").write_text(json.dumps({"judges": [judge]}))
        apps = ("shop", "help")
        lines = [json.dumps({**REFUND, "trace_id": app, "app": app}) for app in apps]
        Path("traces.jsonl").write_text("\n".join(lines))
        with pytest.raises(SystemExit) as ended:
            run(["evaluate", "traces.jsonl", "--judge", "own", "--output", "json", *arguments])
        out, err = capsys.readouterr()
        summary = json.loads(out.splitlines()[-1])["summary"] if out else None
        return ended.value.code, summary and (summary["traces"], [*summary["scores"]]), err

    return evaluate


def test_a_judges_own_scorers_are_run_and_it_is_told(call):
    code, found, err = call({"scorers": ["context_position"]})
    assert (code, found) == (0, (2, ["context_position"]))
    assert err == (
        "ragsonde: judge own: for its own scorers only (judges[0].scorers); --scorers names others\n"
    )


def test_scorers_that_are_named_count_and_the_difference_is_told(call):
    code, found, err = call(
        {"scorers": ["context_position"]}, "--scorers", "context_precision,context_position"
    )
    assert (code, found) == (0, (2, ["context_precision", "context_position"]))
    assert err == "ragsonde: judge own: not for context_precision in a worker (judges[0].scorers)\n"


def test_a_judges_scorer_that_is_not_configured_is_refused(call):
    code, found, err = call({"scorers": ["context_precison"]})
    assert (code, found) == (2, None)
    assert "judges[0].scorers: found 'context_precison'" in err
    assert "did you mean context_precision?" in err


def test_traces_that_the_judge_does_not_look_at_in_a_worker_are_counted(call):
    code, found, err = call({"match": {"app": "shop"}})
    assert (code, found[0]) == (0, 2)
    assert err == (
        "ragsonde: judge own: 1 of 2 traces are not for it in a worker "
        "(judges[0].match); here all are judged\n"
    )
