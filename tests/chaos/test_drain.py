"""A worker that is asked to end: what runs is finished, the rest goes back, and it ends in time.

The broker's consumer_timeout (30 minutes) is never near: a delivery is kept for ten minutes at most.
"""

from __future__ import annotations

import os
import signal
import time

import pytest

from services.load import make_traces
from services.mock_llm_process import running_llm
from services.waiting import wait_for

pytestmark = pytest.mark.chaos

THREADS = 8
TRACES = 3 * THREADS
ANSWER_SECONDS = 3.0
HANGS_SECONDS = 600.0
GRACE_SECONDS = 25.0
"""What Kubernetes gives a pod is 30 s."""
UNACKED = "SELECT count(*) FROM evaluation WHERE judge = 'gpt' AND state = 'running'"


def start_busy(ground, llm, *, calls=THREADS):
    """A worker whose threads all wait for the judge, with as many messages fetched beyond."""
    worker = ground.start_worker()
    wait_for(lambda: llm.total >= calls, seconds=180, what="a judge that is called by every thread")
    return worker


def end(worker, *numbers):
    """Exit code and seconds after the signals."""
    begun = time.monotonic()
    for number in numbers:
        worker.process.send_signal(number)
        time.sleep(0.2)  # two signals at once are one to the kernel
    return worker.process.wait(timeout=60), time.monotonic() - begun


@pytest.mark.parametrize("signals", [(signal.SIGTERM,), (signal.SIGTERM, signal.SIGTERM)])
def test_sigterm_while_every_thread_waits_for_a_slow_judge_finishes_those_and_no_more(ground, signals):
    with running_llm(latency_seconds=ANSWER_SECONDS) as llm:
        ground.use_llm_judge(llm)
        ground.deployment.publish(list(make_traces(range(TRACES))))
        worker = start_busy(ground, llm)
        code, seconds = end(worker, *signals)
        assert (code, llm.total) == (os.EX_OK, THREADS)
        assert seconds < GRACE_SECONDS
        assert ground.count_scored("gpt") == THREADS
        assert ground.deployment.count(UNACKED) == 0
        ground.report.survive("SIGTERM while a judge is slow")
        ground.deployment.start("monitor")
        ground.start_worker()
        ground.wait_until_done(traces=TRACES, seconds=180, waits_for_leases=True)
        ground.count_up(traces=TRACES, judges=("lexical", "gpt"), llm=llm)


def test_sigterm_ends_a_worker_after_the_judge_that_is_asked_and_the_next_one_is_asked_later(ground):
    with running_llm(latency_seconds=ANSWER_SECONDS) as llm:
        ground.use_llm_judge(llm, more=["second"])
        ground.deployment.publish(list(make_traces(range(THREADS))))
        worker = start_busy(ground, llm)
        code, seconds = end(worker, signal.SIGTERM)
        assert (code, llm.total) == (os.EX_OK, THREADS)
        assert seconds < GRACE_SECONDS
        ground.report.survive("SIGTERM between two judges")
        ground.deployment.start("monitor")
        ground.start_worker()
        ground.wait_until_done(traces=THREADS, seconds=180, waits_for_leases=True)
        ground.count_up(traces=THREADS, judges=("lexical", "gpt", "second"))
        assert llm.total == 2 * THREADS


def test_sigterm_while_postgres_is_away_gives_everything_back_at_once(ground):
    ground.deployment.publish(list(make_traces(range(TRACES))))
    worker = ground.start_worker()
    ground.wait_until_scored(1, seconds=180)
    with ground.database_network.cut():
        ground.deployment.publish(list(make_traces(range(TRACES, 2 * TRACES))))
        wait_for(lambda: "database_lost" in worker.read_log(), what="a worker that misses Postgres")
        code, seconds = end(worker, signal.SIGTERM)
        assert code == os.EX_OK, worker.read_log()
        assert seconds < GRACE_SECONDS
    ground.report.survive("SIGTERM while Postgres is away")
    ground.start_worker()
    ground.wait_until_done(traces=2 * TRACES, seconds=180, waits_for_leases=False)
    ground.count_up(traces=2 * TRACES, judges=("lexical",))


def test_sigquit_ends_a_worker_whose_judge_hangs_and_nothing_is_lost(ground):
    with running_llm(latency_seconds=HANGS_SECONDS) as hanging:
        ground.use_llm_judge(hanging, timeout_seconds=40, deadline_seconds=45)
        ground.deployment.publish(list(make_traces(range(TRACES))))
        worker = start_busy(ground, hanging)
        code, seconds = end(worker, signal.SIGTERM, signal.SIGQUIT)
        assert code == os.EX_TEMPFAIL
        assert seconds < GRACE_SECONDS
        ground.in_flight += hanging.total
    ground.report.survive("SIGQUIT while a judge hangs")
    with running_llm() as llm:
        ground.use_llm_judge(llm, timeout_seconds=40, deadline_seconds=45)
        ground.deployment.start("monitor")
        ground.start_worker()
        ground.wait_until_done(traces=TRACES, seconds=180, waits_for_leases=False)
        ground.count_up(traces=TRACES, judges=("lexical", "gpt"), llm=llm)
