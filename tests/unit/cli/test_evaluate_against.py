"""`ragsonde evaluate --against`."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

from fakes.traces import REFUND
from ragsonde.cli.main import run

ANSI = re.compile(r"\x1b\[[0-9;]*m")


def say(trace_id, *flags, **more):
    contexts = {
        str(place): {"relevant": flag, "level": "high" if flag else "none", "used": flag}
        for place, flag in enumerate(flags, start=1)
    }
    return {"trace_id": trace_id, "contexts": contexts, **more}


def write_lines(name, values):
    Path(name).write_text("".join(json.dumps(value) + "\n" for value in values), encoding="utf-8")


def call(capsys, *arguments):
    with pytest.raises(SystemExit) as ended:
        run(["evaluate", "traces.jsonl", "--judge", "recorded:judge.jsonl", *arguments])
    out, err = capsys.readouterr()
    return ended.value.code, ANSI.sub("", out), ANSI.sub("", err)


def call_json(capsys, *arguments):
    code, out, err = call(capsys, *arguments, "--output", "json")
    *items, _, last = [json.loads(line) for line in out.splitlines()]
    return code, items, last["agreement"], err


@pytest.fixture(autouse=True)
def _files(_neither_file_nor_variables):
    write_lines("traces.jsonl", [{**REFUND, "trace_id": f"t{number}"} for number in range(4)])
    more = {"essential": ["1.1"], "relevant_sentences": ["1.1"]}
    write_lines("judge.jsonl", [say(f"t{number}", True, number == 2, **more) for number in range(4)])


def test_only_annotated_traces_are_judged_and_the_others_are_counted(capsys):
    write_lines("people.jsonl", [say("t0", True, False), say("t2", True, False), say("gone", True, True)])
    code, items, found, _ = call_json(capsys, "--against", "people.jsonl")
    assert (code, [item["trace_id"] for item in items]) == (0, ["t0", "t2"])
    assert (found["traces"], found["not_annotated"], found["not_found"]) == (2, 2, 1)
    # people: yes no, yes no; the judge: yes no, yes yes; p_e .5 * .75 + .5 * .25 = .5
    relevant = found["aspects"]["relevant"]
    assert (relevant["n"], relevant["accuracy"], relevant["confusion"]) == (4, 0.75, [[2, 0], [1, 1]])
    assert relevant["kappa"] == pytest.approx(0.5)
    assert found["aspects"]["essential"]["note"] == "nothing to compare"


def test_people_may_say_that_contexts_suffice_without_naming_sentences(capsys):
    write_lines("people.jsonl", [say("t0", True, False, insufficient=False)])
    _, _, found, _ = call_json(capsys, "--against", "people.jsonl")
    insufficient = found["aspects"]["insufficient"]
    assert (insufficient["n"], insufficient["accuracy"], insufficient["kappa"]) == (1, 1.0, None)
    assert "kappa is not defined" in insufficient["note"]


def test_numbers_that_do_not_exist_are_told_and_left_out(capsys):
    write_lines("people.jsonl", [say("t0", True, False, True), say("t1", True, False)])
    code, _, found, err = call_json(capsys, "--against", "people.jsonl")
    assert code == 0
    assert found["aspects"]["relevant"]["n"] == 2
    assert "trace t0: relevant:" in err
    assert len(found["unusable_annotations"]) == 3


def test_people_read_a_table(capsys):
    write_lines("people.jsonl", [say("t0", True, False), say("t2", True, False)])
    code, out, _ = call(capsys, "--against", "people.jsonl")
    assert code == 0
    assert "Agreement with people over 2 annotated traces" in out
    assert re.search(r"relevant +4 +0\.750 +0\.500 +yes: 2 yes, 0 no", out)
    assert "2 traces of the file are not annotated: they were not judged" in out


@pytest.mark.parametrize(
    ("lines", "options", "expected"),
    [
        ([{"trace_id": "other"}], (), "none of its 1 annotated traces is among the 4 traces"),
        ([say("t0", True, False)], ("--output", "junit"), "junit has no place for an agreement"),
        ([{"contexts": {}}], (), "people.jsonl:1: trace_id"),
    ],
)
def test_what_cannot_be_compared_is_refused_before_anything_is_judged(capsys, lines, options, expected):
    write_lines("people.jsonl", lines)
    code, out, err = call(capsys, "--against", "people.jsonl", *options)
    assert (code, out) == (2, "")
    assert expected in err


def test_a_pipe_is_refused_and_not_waited_for(capsys):
    os.mkfifo("people.jsonl")
    code, out, err = call(capsys, "--against", "people.jsonl")
    assert (code, out) == (2, "")
    assert "expected a regular file" in err


def test_an_annotation_that_says_two_things_is_refused_by_line_and_key(capsys):
    Path("people.jsonl").write_text(
        '{"trace_id": "t1"}\n{"trace_id": "t0", "contexts": {"1": {"used": true, "used": false}}}\n'
    )
    code, out, err = call(capsys, "--against", "people.jsonl")
    assert (code, out) == (2, "")
    assert "people.jsonl:2: contexts.1.used: the key occurs twice" in err


def test_a_file_of_annotations_that_is_not_there_is_called_so(capsys):
    code, out, err = call(capsys, "--against", "none.jsonl")
    assert (code, out) == (2, "")
    assert err == "ragsonde: none.jsonl: cannot read the annotations: No such file or directory\n"
