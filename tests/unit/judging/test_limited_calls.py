from __future__ import annotations

import subprocess
import sys
import threading
import time

import pytest

from ragsonde.judging import limited_calls
from ragsonde.judging.limited_calls import CallTimeoutError, LimitedCalls, TooManyAbandonedError

FORKED = """
import os, sys
from ragsonde.judging.limited_calls import LimitedCalls
calls = LimitedCalls()
calls.run(lambda: 1, seconds=10)
child = os.fork()
if child == 0:
    os._exit(calls.run(lambda: 7, seconds=10))
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
LEFT_ALONE = """
import threading
from ragsonde.judging.limited_calls import CallTimeoutError, LimitedCalls
try:
    LimitedCalls().run(threading.Event().wait, seconds=0.01)
except CallTimeoutError:
    print("given up")
"""


@pytest.fixture
def gate():
    opened = threading.Event()
    yield opened
    opened.set()


def wait_until(is_so):
    until = time.monotonic() + 10
    while not is_so():
        assert time.monotonic() < until
        threading.Event().wait(0.005)


def test_a_call_gives_what_it_returns():
    calls = LimitedCalls()
    assert [calls.run(lambda: None, seconds=10), calls.run(lambda: 3, seconds=10)] == [None, 3]


def test_a_call_raises_what_it_raised():
    with pytest.raises(KeyError, match="here"):
        LimitedCalls().run(lambda: {}["here"], seconds=10)


def test_one_thread_serves_calls_that_follow_each_other():
    calls = LimitedCalls()
    assert len({calls.run(threading.get_ident, seconds=10) for _ in range(50)}) == 1


def test_calls_run_at_the_same_time():
    calls, both = LimitedCalls(), threading.Barrier(2)
    other = threading.Thread(target=lambda: calls.run(both.wait, seconds=10))
    other.start()
    calls.run(lambda: both.wait(10), seconds=10)
    other.join(10)


def test_who_waits_too_long_is_let_go(gate):
    calls, begun = LimitedCalls(), time.monotonic()
    with pytest.raises(CallTimeoutError, match=r"0\.05 s"):
        calls.run(gate.wait, seconds=0.05)
    assert time.monotonic() - begun < 1
    assert calls.run(lambda: 3, seconds=10) == 3


def test_no_more_than_so_many_calls_are_abandoned_until_one_ends(gate):
    calls, asked = LimitedCalls(most_abandoned=2), []
    for _ in range(2):
        with pytest.raises(CallTimeoutError):
            calls.run(gate.wait, seconds=0.01)
    assert calls.abandoned == 2
    with pytest.raises(TooManyAbandonedError, match="2 calls"):
        calls.run(lambda: asked.append(1), seconds=10)
    assert asked == []
    gate.set()
    wait_until(lambda: calls.abandoned == 0)
    assert calls.run(lambda: 3, seconds=10) == 3


def test_threads_without_work_end(monkeypatch):
    monkeypatch.setattr(limited_calls, "IDLE_SECONDS", 0.01)
    calls, served = LimitedCalls(), []
    calls.run(lambda: served.append(threading.current_thread()), seconds=10)
    served[0].join(10)
    assert not served[0].is_alive()
    assert calls.run(lambda: 3, seconds=10) == 3


def test_a_fork_makes_its_own_threads():
    forked = subprocess.run([sys.executable, "-W", "ignore", "-c", FORKED], timeout=30, check=False)
    assert forked.returncode == 7


def test_a_process_ends_without_the_calls_it_gave_up():
    ended = subprocess.run(
        [sys.executable, "-c", LEFT_ALONE], timeout=30, check=True, capture_output=True, text=True
    )
    assert (ended.stdout, ended.stderr) == ("given up\n", "")


def test_a_call_costs_less_than_a_tenth_of_a_millisecond():
    calls = LimitedCalls()

    def measure():
        begun = time.perf_counter()
        for _ in range(200):
            calls.run(int, seconds=10)
        return (time.perf_counter() - begun) / 200

    assert min(measure() for _ in range(20)) < 0.0001
