import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from fakes.traces import REFUND
from ragsonde.cli.failures import ExitCode

PROGRAM = [sys.executable, "-c", "from ragsonde.cli.main import run; run()"]
PATIENCE_SECONDS = 60
UNWRITABLE = "ragsonde: standard output cannot be written: "

HANGING = """
import threading
def ask(question):
    print("hanging\\n", end="", flush=True)
    threading.Event().wait()
"""
ASYNC_HANGING = """
import asyncio
async def ask(question):
    print("hanging\\n", end="", flush=True)
    await asyncio.sleep(3600)
"""
ENDING = "def ask(question): raise SystemExit(0)"


@pytest.fixture(autouse=True)
def _traces(_neither_file_nor_variables):
    lines = [json.dumps({**REFUND, "trace_id": f"t{number}"}) + "\n" for number in range(3)]
    Path("traces.jsonl").write_text("".join(lines), encoding="utf-8")


def start(*arguments, **streams):
    return subprocess.Popen([*PROGRAM, *arguments], text=True, **streams)


@pytest.mark.parametrize("threads", ["1", "2"])
@pytest.mark.parametrize("source", [HANGING, ASYNC_HANGING])
def test_an_interrupt_ends_an_evaluation_whose_target_hangs(source, threads):
    Path("hanging_app.py").write_text(source, encoding="utf-8")
    command = ("evaluate", "traces.jsonl", "--target", "hanging_app:ask", "--threads", threads)
    with start(*command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        first = process.stdout.readline()
        process.send_signal(signal.SIGINT)
        try:
            _, err = process.communicate(timeout=PATIENCE_SECONDS)
        finally:
            process.kill()

    assert first == "hanging\n"
    assert (process.returncode, err) == (ExitCode.INTERRUPTED, "")


def test_a_target_that_ends_the_process_does_not_pass_a_gate():
    Path("ending_app.py").write_text(ENDING, encoding="utf-8")
    command = (
        "evaluate",
        "traces.jsonl",
        "--target",
        "ending_app:ask",
        "--fail-under",
        "context_precision=0.5",
    )
    with start(*command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        out, _ = process.communicate(timeout=PATIENCE_SECONDS)

    assert process.returncode == ExitCode.UNAVAILABLE
    assert "SystemExit: 0" in out


@pytest.mark.parametrize(
    "command",
    [
        ("evaluate", "traces.jsonl"),
        ("evaluate", "traces.jsonl", "--output", "json"),
        ("evaluate", "traces.jsonl", "--output", "junit"),
        ("list-scorers",),
        ("--help",),
        ("--version",),
    ],
)
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_an_output_that_is_full_is_told_in_one_line(command, unbuffered):
    environ = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
    with (
        Path("/dev/full").open("w") as full,
        start(*command, stdout=full, stderr=subprocess.PIPE, env=environ) as process,
    ):
        _, err = process.communicate(timeout=PATIENCE_SECONDS)

    assert (process.returncode, err) == (ExitCode.UNAVAILABLE, f"{UNWRITABLE}No space left on device\n")


@pytest.mark.parametrize("command", [("evaluate", "traces.jsonl"), ("--help",)])
def test_an_output_that_is_closed_is_told_in_one_line(command):
    with start(*command, preexec_fn=lambda: os.close(1), stderr=subprocess.PIPE) as process:
        _, err = process.communicate(timeout=PATIENCE_SECONDS)

    assert (process.returncode, err) == (ExitCode.UNAVAILABLE, f"{UNWRITABLE}it is closed\n")


def run_unread(*arguments):
    """Exit code and standard error of a command whose reader has gone before it writes."""
    read_end, write_end = os.pipe()
    os.close(read_end)
    with (
        os.fdopen(write_end, "wb") as unread,
        start(*arguments, stdout=unread, stderr=subprocess.PIPE) as process,
    ):
        _, err = process.communicate(timeout=PATIENCE_SECONDS)
    return process.returncode, err


@pytest.mark.parametrize(
    "command",
    [
        ("--help",),
        ("extract", "--help"),
        ("extract", "traces.jsonl"),
        ("extract", "traces.jsonl", "--tree"),
        ("evaluate", "traces.jsonl"),
        ("evaluate", "traces.jsonl", "--output", "json"),
        ("list-scorers", "--explain"),
        ("check-config",),
    ],
)
def test_a_reader_that_has_enough_is_no_failure(command):
    assert run_unread(*command) == (ExitCode.OK, "")


@pytest.mark.parametrize("form", ["table", "json", "junit"])
@pytest.mark.parametrize(("lowest", "code"), [("0", ExitCode.OK), ("1", ExitCode.BELOW)])
def test_a_gate_is_judged_to_its_end_whoever_reads(form, lowest, code):
    demand = ("--fail-under", f"context_position={lowest}", "--output", form)

    ended, err = run_unread("evaluate", "traces.jsonl", *demand)

    assert ended == code
    assert ("NOT MET" in err) is (code == ExitCode.BELOW and form != "table")


def test_a_full_disk_elsewhere_is_not_taken_for_the_output():
    code = (
        "import errno, ragsonde.cli.list_scorers as command\n"
        "def fail(*_, **__): raise OSError(errno.ENOSPC, 'No space left on device')\n"
        "command.read_settings = fail\n"
        "from ragsonde.cli.main import run; run(['list-scorers'])"
    )

    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)

    assert ran.returncode == ExitCode.INTERNAL
    assert "standard output" not in ran.stderr


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("is_closed", [True, False])
def test_the_exit_code_stays_where_nobody_can_be_told(is_closed, unbuffered):
    environ = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
    with Path("/dev/full").open("w") as full:
        stderr = {"preexec_fn": lambda: os.close(2)} if is_closed else {"stderr": full}
        with start("evaluate", "gone.jsonl", stdout=subprocess.DEVNULL, env=environ, **stderr) as process:
            process.wait(timeout=PATIENCE_SECONDS)

    assert process.returncode == ExitCode.BAD_INPUT
