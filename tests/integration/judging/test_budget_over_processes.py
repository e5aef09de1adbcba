"""A day's budget over four worker processes: never exceeded, never leaking, and true to the sample."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path

import psycopg
import pytest

from services.judging_worker import make_judge
from services.mock_llm_process import TESTS, running_llm
from services.waiting import wait_for

pytestmark = pytest.mark.integration

PROGRAM = Path(__file__).parent / "judging_processes.py"
PROCESSES = 4
BUDGET = 100
UNFINISHED = "SELECT count(*) FROM evaluation WHERE state IN ('waiting', 'running')"
DAY = "SELECT {} FROM judge_spend WHERE period = 'day'"


def draw(trace_id):
    """The first 8 bytes of the hash as a fraction: the documented rule, written anew."""
    return int.from_bytes(sha256(f"shop\x1f{trace_id}".encode()).digest()[:8], "big") / 2**64


class Workers:
    """The processes, and the database that they share."""

    def __init__(self, database_url, output):
        self._url = database_url
        self.pids = [int(output.readline()) for _ in range(PROCESSES)]

    def query(self, statement):
        with psycopg.connect(self._url) as connection:
            return connection.execute(statement).fetchall()

    def count(self, statement):
        return self.query(statement)[0][0]

    def wait_until_done(self, traces):
        wait_for(
            lambda: self.count("SELECT count(*) FROM trace") == traces and not self.count(UNFINISHED),
            seconds=150,
            what=f"the last evaluation of {traces} traces",
        )


@contextmanager
def running_workers(database_url, judge, *, traces, lease_seconds):
    command = [sys.executable, PROGRAM, database_url, json.dumps(judge), PROCESSES, traces, lease_seconds]
    path = os.pathsep.join([str(TESTS), os.environ.get("PYTHONPATH", "")])
    with subprocess.Popen(
        [str(word) for word in command],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "PYTHONPATH": path},
    ) as process:
        try:
            yield Workers(database_url, process.stdout)
        finally:
            process.send_signal(signal.SIGTERM)


def test_no_more_calls_than_the_budget_has_and_exactly_the_sample_is_judged_or_shed(database_url):
    traces, rate = 1000, 0.5
    with running_llm(seed=3) as llm:
        llm.run_script({"garbage": 0.1, "500": 0.1})
        judge = make_judge(
            llm.url, sample=rate, budget={"calls_per_day": BUDGET}, timeout_seconds=10, deadline_seconds=30
        )
        with running_workers(database_url, judge, traces=traces, lease_seconds=60) as workers:
            workers.wait_until_done(traces)
            calls = llm.total
            counts = llm.read_stats()["counts"]
            rows = workers.query("SELECT trace_id, state, sample_rate, cause FROM evaluation")
            spent = workers.query(DAY.format("spent_calls, reserved_calls"))
    assert BUDGET - 12 < calls <= BUDGET
    assert min(counts["garbage"], counts["500"]) > 0
    assert spent == [(calls, 0)]
    everything = {f"t-{number}" for number in range(traces)}
    sampled = {trace_id for trace_id in everything if draw(trace_id) < rate}
    by_state = {state: {trace_id for trace_id, found, *_ in rows if found == state} for _, state, *_ in rows}
    assert set(by_state) <= {"scored", "failed", "shed", "sampled_out"}
    assert by_state["sampled_out"] == everything - sampled
    assert by_state["scored"] | by_state["shed"] | by_state.get("failed", set()) == sampled
    assert {found for *_, found, _ in rows} == {rate}
    assert {cause for _, state, _, cause in rows if state == "shed"} == {"budget_spent"}
    assert 60 < len(by_state["scored"]) <= BUDGET


def test_workers_killed_while_they_hold_reservations_leak_none(database_url):
    traces, threads = 200, 4
    with running_llm(latency_seconds=0.3) as llm:
        judge = make_judge(llm.url, budget={"calls_per_day": BUDGET}, timeout_seconds=10, deadline_seconds=30)
        with running_workers(database_url, judge, traces=traces, lease_seconds=3) as workers:
            held = "SELECT count(*) FROM evaluation WHERE state = 'running' AND reserved_calls > 0"
            wait_for(lambda: llm.total >= 20 and workers.count(held) > threads, what="calls under way")
            for pid in workers.pids[:2]:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            stored = wait_for(
                lambda: not workers.count(UNFINISHED) and workers.count("SELECT count(*) FROM trace"),
                seconds=150,
                what="the last evaluation of those who live",
            )
            calls = llm.total
            ((spent, reserved, usd),) = workers.query(DAY.format("spent_calls, reserved_calls, reserved_usd"))
            assert workers.count("SELECT count(*) FROM evaluation WHERE reserved_calls IS NOT NULL") == 0
            recorded = workers.count("SELECT sum(calls) FROM evaluation")
    assert stored >= traces / 2
    assert (reserved, usd) == (0, 0.0)
    assert spent == recorded <= BUDGET
    assert spent <= calls <= spent + 2 * threads
