import json
import re
from pathlib import Path

import pytest

from fakes.traces import REFUND
from ragsonde.cli.causes import MEANINGS
from ragsonde.cli.main import run
from ragsonde_schemas.assessment import Assessment, Fault
from ragsonde_schemas.errors import Cause, JudgeUnavailableError

ANSI = re.compile(r"\x1b\[[0-9;]*m")


class AwayJudge:
    """Answers nothing; or, with a cause, only faults."""

    name, fingerprint, is_free, is_retriable = "gpt", "f" * 16, False, False

    def __init__(self, cause=None):
        self.cause = cause

    def assess(self, _trace, aspects, **_options: object):
        if self.cause is None:
            raise JudgeUnavailableError("gpt", "InternalServerError 500", retry_after_seconds=0.01)
        return Assessment(faults={aspect: Fault(cause=self.cause, message="as it was") for aspect in aspects})


@pytest.fixture
def judge_that(monkeypatch):
    """Makes `--judge gpt` one that does not answer, or only with faults of that cause."""

    def choose(cause=None):
        monkeypatch.setattr("ragsonde.cli.evaluate.choose_judge", lambda *_, **__: AwayJudge(cause))

    return choose


def write(*, contexts=("A refund takes 14 days.",), count=3):
    lines = [json.dumps({**REFUND, "trace_id": f"t{n}", "contexts": contexts}) for n in range(count)]
    Path("traces.jsonl").write_text("\n".join(lines), "utf-8")


def call(capsys, *arguments):
    with pytest.raises(SystemExit) as ended:
        run(["evaluate", "traces.jsonl", *arguments])
    out, err = capsys.readouterr()
    return ended.value.code, out, err


@pytest.mark.parametrize(
    ("cause", "code"),
    [
        (None, 4),
        (Cause.JUDGE_REJECTED_REQUEST, 4),
        (Cause.DEADLINE_EXCEEDED, 4),
        (Cause.INVALID_REPLY, 1),
        (Cause.CONTENT_REFUSED, 1),
    ],
)
def test_nothing_scored_because_of_errors_is_never_0(cause, code, judge_that, capsys):
    judge_that(cause)
    write()

    assert call(capsys, "--judge", "gpt")[0] == code


def test_a_judge_that_is_away_counts_more_than_a_demand(judge_that, capsys):
    judge_that()
    write()

    assert call(capsys, "--judge", "gpt", "--fail-under", "context_position=0.5")[0] == 4


def test_nothing_to_score_is_no_error(judge_that, capsys):
    judge_that()
    write(contexts=[])

    assert call(capsys, "--judge", "gpt")[0] == 0


def test_a_target_that_always_fails_is_not_0_and_one_that_answers_once_is(capsys):
    write()
    Path("ending_app.py").write_text(
        "def never(question):\n    raise RuntimeError('index is gone')\n"
        "def once(question):\n"
        "    if question['trace_id'] != 't1': raise RuntimeError('index is gone')\n"
        "    return {'answer': 'In 14 days.', 'contexts': ['A refund takes 14 days.']}\n",
        "utf-8",
    )

    assert call(capsys, "--target", "ending_app:never")[0] == 4
    assert call(capsys, "--target", "ending_app:once")[0] == 0


def test_the_first_message_of_each_cause_stands_under_the_table(judge_that, capsys):
    judge_that()
    write()

    _, out, _ = call(capsys, "--judge", "gpt")

    (line,) = [line for line in out.splitlines() if "InternalServerError" in line]
    assert line.strip() == "judge_unavailable: judge gpt: InternalServerError 500"


def test_a_wait_is_told_once_however_many_traces_wait(judge_that, capsys):
    judge_that()
    write(count=4)

    _, _, err = call(capsys, "--judge", "gpt")

    assert err == "ragsonde: judge gpt: InternalServerError 500: it is away, trying again in 1 s\n"


def test_every_cause_has_its_meaning_in_one_line():
    assert list(MEANINGS) == [*Cause, "target_failed"]
    assert all(0 < len(meaning) <= 100 and "\n" not in meaning for meaning in MEANINGS.values())


@pytest.mark.parametrize("threshold", ["", "threshold: 0.5"])
def test_at_80_columns_no_word_of_the_table_is_torn(threshold, monkeypatch, capsys):
    write(contexts=[])
    names = ["context_position", "statement_relevancy", "essential_context"]
    scorers = ", ".join(f"{name}: {{{threshold}}}" for name in names)
    Path("ragsonde.yaml").write_text(f"scorers: {{{scorers}}}\n", "utf-8")
    with Path("traces.jsonl").open("a", encoding="utf-8") as file:
        file.write("\n" + json.dumps({**REFUND, "trace_id": "t9"}))
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "80")

    _, out, _ = call(capsys)

    lines = ANSI.sub("", out).splitlines()
    for name in names:
        (line,) = [line for line in lines if name in line]
        assert "3 empty" in line
    assert {"retrieval", "mixed"} <= set(out.split())
    assert all(len(line) <= 80 for line in lines)
