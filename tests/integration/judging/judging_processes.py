"""Several worker processes on one database; litellm is loaded once, then they are forked.

Usage: python judging_processes.py DATABASE_URL JUDGE_JSON PROCESSES TRACES LEASE_SECONDS

Each takes its share of the traces, `t-0`, `t-1` ..., prints its pid when it has begun, and goes on with what
is due, of the others too, until it is killed. The time of day is the last hour of today (UTC), in which all
of a day's budget may be spent.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from contextlib import suppress

from builders.rag_messages import make_messages
from ragsonde.judging.litellm_loading import load_litellm
from services.judging_worker import JudgingWorker, ShiftedClock

LAST_HOUR = 23


def work(database_url: str, judge: str, share: slice, traces: int, lease_seconds: int) -> None:
    clock = ShiftedClock(hour=LAST_HOUR)
    with JudgingWorker(
        database_url, json.loads(judge), threads=4, lease_seconds=lease_seconds, clock=clock
    ) as worker:
        sys.stdout.write(f"{os.getpid()}\n")
        sys.stdout.flush()
        worker.take(make_messages(traces)[share])
        threading.Event().wait()


def kill_all(pids: list[int]) -> None:
    """Ends those that still live; the test has killed others."""
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def main() -> None:
    database_url, judge, processes, traces, lease_seconds = sys.argv[1:]
    load_litellm()
    children = []
    for number in range(int(processes)):
        pid = os.fork()
        if pid == 0:
            share = slice(number, None, int(processes))
            work(database_url, judge, share, int(traces), int(lease_seconds))
        children.append(pid)
    signal.signal(signal.SIGTERM, lambda *_: kill_all(children))
    for _ in children:
        os.wait()


main()
