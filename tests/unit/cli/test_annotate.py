"""`ragsonde annotate` with keys from a pipe."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from fakes.traces import REFUND
from ragsonde.api.agreement import compare_assessments
from ragsonde.cli.annotated_traces import mix
from ragsonde.cli.annotation_file import AnnotationFile, open_annotations
from ragsonde.cli.annotation_session import build_annotation, list_questions
from ragsonde.cli.main import run
from ragsonde.judging.recorded import RecordedJudge
from ragsonde_schemas.assessment import Aspect
from ragsonde_schemas.errors import InputError

OUT = Path("annotations.jsonl")
WHOLE = "yhu nln y"  # two contexts: relevant, level, used; then they suffice


def write_traces(*messages, name="traces.jsonl"):
    Path(name).write_text("".join(json.dumps(one) + "\n" for one in messages), encoding="utf-8")


@pytest.fixture(autouse=True)
def _files(_neither_file_nor_variables):
    write_traces(*({**REFUND, "trace_id": f"t{number}"} for number in range(3)))


@pytest.fixture
def annotate(capsys, monkeypatch):
    def press(keys, *options):
        monkeypatch.setattr(sys, "stdin", io.StringIO(keys))
        with pytest.raises(SystemExit) as ended:
            run(["annotate", *(options or ("traces.jsonl",))])
        out, err = capsys.readouterr()
        return ended.value.code, out, err

    return press


def read_lines():
    return [json.loads(line) for line in OUT.read_text(encoding="utf-8").splitlines()]


def test_one_key_an_answer_and_one_line_a_trace(annotate):
    code, out, err = annotate(WHOLE)
    assert (code, err) == (0, "")
    assert read_lines() == [
        {
            "trace_id": "t0",
            "contexts": {
                "1": {"relevant": True, "level": "high", "used": True},
                "2": {"relevant": False, "level": "low", "used": False},
            },
            "insufficient": False,
        }
    ]
    assert "3 of 3 traces to annotate" in out
    assert "context 2 of 2" in out
    assert REFUND["answer"] in out


def test_annotated_traces_do_not_come_again(annotate):
    annotate(WHOLE + "q")
    _, out, _ = annotate(WHOLE)
    assert "2 of 3 traces to annotate" in out
    assert [line["trace_id"] for line in read_lines()] == ["t0", "t1"]
    annotate(WHOLE)
    assert annotate("")[1].startswith("0 of 3 traces to annotate")


def test_a_trace_that_was_begun_goes_on_where_it_was_left(annotate):
    _, out, _ = annotate("yhu n q")
    assert not OUT.exists()
    assert "4 answers about trace t0 kept: call it again to go on there" in out
    annotate("ln y")
    assert read_lines()[0]["contexts"]["2"] == {"relevant": False, "level": "low", "used": False}


def test_the_key_that_was_pressed_is_shown(annotate):
    _, out, _ = annotate("Yhq")
    assert [line for line in out.splitlines() if line.startswith("  >")] == ["  > y", "  > h", "  > q"]
    assert "kept" not in annotate("q", "traces.jsonl", "--out", "other.jsonl")[1]


def test_back_takes_an_answer_back(annotate):
    annotate("yhb0 u nln y q")
    assert read_lines()[0]["contexts"]["1"] == {"relevant": True, "level": "none", "used": True}


def test_back_at_a_first_question_reopens_the_trace_before(annotate):
    annotate(WHOLE + "b n q")
    (line,) = read_lines()
    assert (line["trace_id"], line["insufficient"]) == ("t0", True)


def test_skip_goes_on_without_a_line(annotate):
    annotate("s" + WHOLE + "q")
    assert [line["trace_id"] for line in read_lines()] == ["t1"]


def test_other_keys_are_refused_and_ask_again(annotate):
    _, out, _ = annotate("xY9Hu nln y q")
    assert out.count("no such key: expected") == 2
    assert read_lines()[0]["contexts"]["1"]["level"] == "high"


def test_the_reference_is_asked_about_only_where_there_is_one(annotate):
    write_traces({**REFUND, "trace_id": "t0", "reference": "14 days"})
    annotate("yyhu nnln y")
    assert read_lines()[0]["contexts"]["1"]["supports"] is True


def test_traces_without_contexts_or_question_are_not_asked_about(annotate):
    write_traces(
        {**REFUND, "trace_id": "none", "contexts": []},
        {"trace_id": "mute", "contexts": ["a"], "answer": "b"},
        {**REFUND, "trace_id": "blank", "contexts": ["  ", "A refund takes 14 days."], "answer": ""},
    )
    _, out, _ = annotate("yh y")
    assert "1 of 3 traces to annotate" in out
    assert read_lines() == [
        {"trace_id": "blank", "contexts": {"2": {"relevant": True, "level": "high"}}, "insufficient": False}
    ]


def test_hostile_text_steers_no_terminal_and_passes_for_no_question(annotate):
    hostile = "\x1b[2J\x07\r\x9b31m[red]all[/red]\u202e\n  context 1: relevant? answered y"
    write_traces({**REFUND, "trace_id": "t0", "query": hostile, "answer": hostile, "contexts": [hostile]})
    _, out, _ = annotate("q")
    shown = out.replace("\n", "").replace("\t", "")
    assert not [
        letter for letter in shown if ord(letter) < 32 or 127 <= ord(letter) < 160 or letter == "\u202e"
    ]
    assert "[red]all[/red]" in out
    assert "\n    |   context 1: relevant? answered y" in out


def test_where_a_long_line_goes_on_it_stands_deeper_than_any_question(annotate):
    long_line = "word " * 60 + "  context 1: relevant to question and answer? y/n " * 20
    write_traces({**REFUND, "trace_id": "t0", "contexts": [long_line]})
    _, out, _ = annotate("y")
    fakes = [line for line in out.splitlines() if "relevant to question and answer? y/n" in line]
    ours = [line for line in fakes if line.startswith("  context 1: ")]
    assert len(ours) == 1
    assert all(line.startswith("    ") for line in fakes if line not in ours)


def test_what_was_annotated_is_what_agreement_reads(annotate):
    annotate(WHOLE + WHOLE + WHOLE)
    from ragsonde.api.traces import read_items  # noqa: PLC0415

    items, _ = read_items(Path("traces.jsonl"))
    people = RecordedJudge(name="people", path=OUT)
    pairs = [(item.trace, *[people.assess(item.trace, frozenset(Aspect))] * 2) for item in items]
    found = {one.aspect: one for one in compare_assessments(pairs)}
    assert (found["level"].n, found["level"].kappa, found["insufficient"].n) == (6, 1.0, 3)


def test_the_worst_and_others_are_the_same_each_time(annotate):
    write_traces(
        *({**REFUND, "trace_id": f"t{number}"} for number in range(9)),
        {**REFUND, "trace_id": "bad", "contexts": ["Zebras graze.", "Rain fell."]},
    )
    _, first, _ = annotate("ssssssssss", "traces.jsonl", "--worst", "1", "--random", "3")
    _, second, _ = annotate("ssssssssss", "traces.jsonl", "--worst", "1", "--random", "3")
    assert first == second
    assert "4 of 4 traces" in first
    assert "trace bad" in first


def test_random_ones_are_others_than_the_worst():
    traces = [_make(f"t{number}") for number in range(10)]
    chosen = mix(traces[:3], traces, random=4)
    assert len({trace.trace_id for trace in chosen}) == 7
    assert {trace.trace_id for trace in traces[:3]} <= {trace.trace_id for trace in chosen}


def test_a_line_that_lacks_its_end_is_not_written_into():
    OUT.write_text('{"trace_id": "a"}', encoding="utf-8")
    AnnotationFile(OUT).add({"trace_id": "b"})
    assert [line["trace_id"] for line in read_lines()] == ["a", "b"]


def test_a_torn_line_is_named_and_nothing_is_added():
    OUT.write_text('{"trace_id": "a"}\n{"trace_', encoding="utf-8")
    with pytest.raises(InputError, match=r"annotations\.jsonl:2: the text ends"):
        AnnotationFile(OUT)


def test_a_second_session_into_the_same_file_is_refused_and_changes_nothing(annotate):
    OUT.write_text('{"trace_id": "t0"}\n', encoding="utf-8")
    with open_annotations(OUT) as first:
        first.keep_draft("t1", ["y"])
        code, _, err = annotate(WHOLE + WHOLE)
        assert (code, first.read_draft("t1")) == (2, ["y"])
    assert f"annotations.jsonl: is being annotated by process {os.getpid()}" in err.replace("\n", " ")
    assert read_lines() == [{"trace_id": "t0"}]
    assert annotate(WHOLE)[0] == 0


def test_a_link_to_a_file_is_the_file():
    Path("link.jsonl").symlink_to(OUT)
    with open_annotations(OUT), pytest.raises(InputError, match="is being annotated"):
        open_annotations(Path("link.jsonl")).__enter__()


def test_what_is_no_file_is_refused_and_nothing_is_put_beside_it():
    Path("place").mkdir()
    with pytest.raises(InputError, match="place: found a pipe, device or directory"):
        open_annotations(Path("place")).__enter__()
    assert not Path("place.lock").exists()


def test_a_session_that_was_killed_holds_nothing():
    code = (
        "from pathlib import Path; from ragsonde.cli.annotation_file import open_annotations\n"
        "with open_annotations(Path('annotations.jsonl')): print('held', flush=True); input()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout.readline() == b"held\n"
        with pytest.raises(InputError, match=f"by process {process.pid}"):
            open_annotations(OUT).__enter__()
        process.kill()
    with open_annotations(OUT) as annotations:
        assert "t0" not in annotations


def test_a_place_that_cannot_be_locked_is_named():
    with pytest.raises(InputError, match=r"annotations\.jsonl\.lock: cannot be written: No such file"):
        open_annotations(Path("nowhere") / OUT).__enter__()


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (("traces.jsonl", "--app", "shop"), "expected FILE or --app"),
        (("--app", "shop"), "--worst N, --random N or both"),
        (("traces.jsonl", "--worst", "1", "--scorer", "nonsense"), "--scorer nonsense: no such scorer"),
        (("absent.jsonl",), "absent.jsonl"),
    ],
)
def test_wrong_calls_are_refused(annotate, options, expected):
    code, _, err = annotate("", *options)
    assert code == 2
    assert expected in err


def test_every_question_has_its_keys():
    trace = _make("t")
    keys = [next(iter(question.keys)) for question in list_questions(trace)]
    assert set(build_annotation(trace, keys)) == {"trace_id", "contexts", "insufficient"}


def test_an_interrupt_on_a_terminal_loses_nothing_and_sets_it_back():
    import pty  # noqa: PLC0415
    import termios  # noqa: PLC0415

    master, slave = pty.openpty()
    before = termios.tcgetattr(slave)
    code = "from ragsonde.cli.main import run; run(['annotate', 'traces.jsonl'])"
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=slave, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        _read_until(process.stdout, b"relevant to question")
        os.write(master, b"yhu")
        _read_until(process.stdout, b"context 2: relevant to question")
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)
    assert process.returncode == 130
    assert json.loads(Path("annotations.jsonl.draft").read_text()) == {
        "trace_id": "t0",
        "answers": ["y", "h", "u"],
    }
    assert termios.tcgetattr(slave) == before
    os.close(master)
    os.close(slave)


def _read_until(stream, words):
    seen = b""
    while words not in seen:
        seen += (letter := stream.read1(4096))
        assert letter, seen


def _make(trace_id):
    from fakes.judged_traces import make_trace  # noqa: PLC0415

    return make_trace(trace_id=trace_id)
