"""`ragsonde rescore` and `ragsonde whatif` over files."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from fakes.traces import REFUND
from ragsonde.cli.main import run

ANSI = re.compile(r"\x1b\[[0-9;]*m")
FILES = ("--file", "traces.jsonl", "--judge", "recorded:verdicts.jsonl", "--config", "new.yaml")
VERDICTS = {
    "contexts": {
        "1": {"relevant": True, "level": "high", "used": False},
        "2": {"relevant": False, "level": "none", "used": False},
    },
    "missing": [],
    "essential": ["1.1"],
    "relevant_sentences": ["1.1"],
}


@pytest.fixture(autouse=True)
def _files(_neither_file_nor_variables):
    traces = [{**REFUND, "trace_id": f"t{number}"} for number in range(3)]
    write_lines("traces.jsonl", traces)
    write_lines("verdicts.jsonl", [{"trace_id": f"t{number}", **VERDICTS} for number in range(2)])
    options = {"penalties": {"unused_high": 0.3}, "scale": 10}
    Path("new.yaml").write_text(json.dumps({"scorers": {"context_relevance": options}}), encoding="utf-8")


def find_stream(told):
    """The only stream with scores."""
    (found,) = [one for one in told["judges"].values() if one["evaluations"]]
    return found


def write_lines(name, values):
    Path(name).write_text("".join(json.dumps(value) + "\n" for value in values), encoding="utf-8")


@pytest.fixture
def call(capsys):
    def run_command(*arguments):
        with pytest.raises(SystemExit) as ended:
            run(list(arguments))
        out, err = capsys.readouterr()
        return ended.value.code, ANSI.sub("", out), ANSI.sub("", err)

    return run_command


def test_before_are_the_defaults_and_after_the_options_of_the_settings(call):
    code, out, err = call("rescore", *FILES, "--output", "json")
    told = json.loads(out)
    shift = find_stream(told)["scorers"]["context_relevance"]
    # mean weight 1/2, one unused high context: less .1 by default, less .3 by the options
    assert (code, err) == (0, "")
    assert (shift["before"]["mean"], shift["after"]["mean"]) == (pytest.approx(0.4), pytest.approx(0.2))
    assert shift["change"]["n"] == 2
    assert told["unscored"] == {"context_relevance error(not_assessed)": 1}


def test_scores_are_written_as_evaluate_writes_them(call):
    _, told, _ = call("rescore", *FILES, "--out", "scores.jsonl")
    assert "3 scores written to scores.jsonl" in told
    assert "stored" not in told
    _, fresh, _ = call("evaluate", "traces.jsonl", *FILES[2:], "--output", "json")
    assert Path("scores.jsonl").read_text(encoding="utf-8").splitlines() == fresh.splitlines()[:-1]


def test_a_dry_run_writes_nothing(call):
    code, out, _ = call("rescore", *FILES, "--out", "scores.jsonl", "--dry-run")
    assert (code, Path("scores.jsonl").exists()) == (0, False)
    assert "3 scores would be written to scores.jsonl" in out
    assert "3 scores, written nowhere: --out names a file for them" in call("rescore", *FILES)[1]
    assert re.search(r"context_relevance +2 +0\.400 \+- 0\.000 +2 +0\.200 \+- 0\.000 +-0\.200", out)


def test_whatif_prints_scores_savings_and_what_it_cannot_tell(call):
    code, out, _ = call("whatif", "--drop", "low,none", *FILES)
    assert code == 0
    assert "2 evaluations with verdicts; 2 of 4 contexts left out, from 2" in out
    # the remaining context: weight 1, less .3
    assert re.search(r"context_relevance +2 +0\.200 \+- 0\.000 +2 +0\.700 \+- 0\.000 +\+0\.500", out)
    assert f"saved: {2 * len(REFUND['contexts'][1])} characters" in out
    for words in (
        "the answers:",
        "missing items stay as judged",
        "essential sentences:",
        "no filter in production",
    ):
        assert words in out


def test_whatif_for_scripts(call):
    _, out, _ = call("whatif", "--top-k", "0", *FILES, "--output", "json")
    told = json.loads(out)
    found = find_stream(told)
    assert (found["evaluations"], found["emptied"], found["lost_essential"], found["lost_used"]) == (
        2,
        2,
        2,
        0,
    )
    assert find_stream(told)["scorers"]["context_relevance"]["after"] == {"n": 0, "mean": None, "reach": None}
    assert any("no zero either" in line for line in found["not_known"])


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("whatif",), "names no change; expected --top-k, --min-score or --drop"),
        (("whatif", "--drop", "lo"), "--drop lo: no level; expected some of high,medium,low,none"),
        (("whatif", "--top-k", "1", "--file", "traces.jsonl"), "needs --judge recorded:VERDICTS"),
        (("whatif", "--top-k", "1", "--app", "x", *FILES), "these are of Postgres"),
        (("rescore", "--file", "traces.jsonl"), "needs --judge recorded:VERDICTS"),
        (("rescore", "--activate", *FILES), "these are of Postgres"),
        (("rescore", "--activate", "--deactivate"), "expected one of them"),
        (("rescore", *FILES, "--out", "absent/scores.jsonl"), "cannot be written"),
    ],
)
def test_wrong_calls_are_refused(call, arguments, expected):
    code, out, err = call(*arguments)
    assert (code, out) == (2, "")
    assert expected in err


def test_a_judge_that_costs_is_not_asked(call):
    judges = [{"name": "gpt", "kind": "litellm", "model": "openai/gpt-5-mini"}]
    Path("new.yaml").write_text(json.dumps({"judges": judges}), encoding="utf-8")
    code, _, err = call("rescore", "--file", "traces.jsonl", "--judge", "gpt", "--config", "new.yaml")
    assert code == 2
    assert "would be asked anew, which costs" in err


def test_whatif_for_scorers_of_the_answer_alone_is_refused(call):
    Path("new.yaml").write_text(json.dumps({"scorers": {"faithfulness": None}}), encoding="utf-8")
    code, _, err = call("whatif", "--top-k", "1", *FILES)
    assert code == 2
    assert "faithfulness: judged for the answer or all contexts as a whole" in err
