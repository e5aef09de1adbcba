from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from fakes.judged_traces import ALL_ASPECTS, make_trace
from ragsonde.judging.recorded import RecordedJudge
from ragsonde_schemas.assessment import Aspect, Level
from ragsonde_schemas.errors import Cause, InputError

RECORDED = {
    "trace_id": "t-1",
    "contexts": {
        "1": {"relevant": True, "level": "high", "used": True, "reason": "says it"},
        "2": {"relevant": "yes", "level": "low", "used": False},
        "3": {"relevant": "No.", "level": "none", "used": False},
    },
    "missing": ["the price"],
    "essential": ["1.1"],
    "insufficient": False,
    "relevant_sentences": ["1", "2.1"],
}


@pytest.fixture
def write(tmp_path):
    def write_lines(*lines: str | bytes):
        path = tmp_path / "annotations.jsonl"
        path.write_bytes(b"\n".join(line if isinstance(line, bytes) else line.encode() for line in lines))
        return path

    return write_lines


def test_verdicts_are_found_by_trace_id(write):
    judge = RecordedJudge(
        name="people", path=write(json.dumps({**RECORDED, "trace_id": "t-0"}), json.dumps(RECORDED))
    )
    assessment = judge.assess(make_trace(), ALL_ASPECTS)
    assert [verdict.relevant for verdict in assessment.contexts.values()] == [True, True, False]
    assert [verdict.level for verdict in assessment.contexts.values()] == [Level.HIGH, Level.LOW, Level.NONE]
    assert (assessment.missing, assessment.essential, assessment.insufficient) == (
        ("the price",),
        ("1.1",),
        False,
    )
    assert assessment.relevant_sentences == ("1.1", "1.2", "2.1")
    assert (assessment.faults, assessment.calls) == ({}, ())
    assert judge.is_free is True


def test_only_what_is_asked_is_read(write):
    judge = RecordedJudge(name="people", path=write(json.dumps(RECORDED)))
    assessment = judge.assess(make_trace(), frozenset({Aspect.MISSING}))
    assert (assessment.missing, assessment.contexts, assessment.essential) == (("the price",), None, None)


def test_a_trace_that_is_not_recorded_is_not_assessed(write):
    judge = RecordedJudge(name="people", path=write(json.dumps(RECORDED)))
    assessment = judge.assess(make_trace(trace_id="t-2"), ALL_ASPECTS)
    assert set(assessment.faults) == ALL_ASPECTS
    assert {fault.cause for fault in assessment.faults.values()} == {Cause.NOT_ASSESSED}
    assert assessment.faults[Aspect.USED].message == "trace t-2 is not in annotations.jsonl"


def test_blank_lines_and_a_byte_order_mark_are_passed_over(write):
    judge = RecordedJudge(
        name="people", path=write(b"\xef\xbb\xbf" + json.dumps(RECORDED).encode(), "", " \r")
    )
    assert judge.assess(make_trace(), ALL_ASPECTS).faults == {}


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", ":2: the text ends inside a value"),
        ('{"trace_id": "x"} {}', ":2: more follows after the first JSON value, at column 19"),
        (
            '{"trace_id": "x", "insufficient": true, "insufficient": false}',
            ":2: insufficient: the key occurs twice",
        ),
        ('{"trace_id": "x", "trace_id": "y"}', ":2: trace_id: the key occurs twice"),
        (
            '{"trace_id": "x", "contexts": {"1": {"used": true, "used": false}}}',
            ":2: contexts.1.used: the key occurs twice",
        ),
        (
            '{"trace_id": "x", "contexts": {"1": {}, "1": {"used": true}}}',
            ":2: contexts.1: the key occurs twice",
        ),
        ('{"trace_id": "x", "missing": NaN}', ":2: found NaN at column 30"),
        ("[]", ":2: found list, expected an object with trace_id"),
        ("{}", ":2: trace_id: found 'None', expected a text"),
        ('{"trace_id": 7}', ":2: trace_id: found '7', expected a text"),
        (b'{"trace_id": "\xff"}', ":2: byte 14 (0xff) is no UTF-8"),
        ("[" * 100_000, ":2: nested deeper than 64 levels"),
        (json.dumps(RECORDED), ":2: trace_id t-1 is there twice, first in line 1: keep one of them"),
    ],
)
def test_a_bad_line_is_named_by_file_and_line(write, line, said):
    path = write(json.dumps(RECORDED), line)
    with pytest.raises(InputError) as caught:
        RecordedJudge(name="people", path=path)
    assert str(caught.value).startswith(f"{path}{said}")


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(InputError, match=r"nothing\.jsonl: cannot read the recorded verdicts: No such file"):
        RecordedJudge(name="people", path=tmp_path / "nothing.jsonl")


@pytest.mark.parametrize("make", [os.mkfifo, Path.mkdir, lambda path: path.symlink_to("/dev/zero")])
def test_what_is_no_regular_file_is_refused_and_not_waited_for(tmp_path, make):
    make(path := tmp_path / "people")
    with pytest.raises(InputError, match=r"people: .* expected a regular file"):
        RecordedJudge(name="people", path=path)


def test_other_verdicts_are_another_judge(write):
    first = RecordedJudge(name="people", path=write(json.dumps(RECORDED))).fingerprint
    same = RecordedJudge(name="others", path=write(json.dumps(RECORDED))).fingerprint
    changed = RecordedJudge(name="people", path=write(json.dumps({**RECORDED, "missing": []}))).fingerprint
    assert first == same != changed
