"""A provider that is down and comes back: nothing is lost, parked or wrong, and the other judges go on.

CHAOS=long makes it five minutes.
"""

from __future__ import annotations

import os
import time

import pytest

from builders.rag_messages import make_messages
from mock_llm.server import MockLlm
from services.judging_worker import JudgingWorker, make_judge
from services.waiting import wait_for

pytestmark = pytest.mark.chaos

TRACES = 60
IS_LONG = os.environ.get("CHAOS") == "long"
DOWN_SECONDS = 300.0 if IS_LONG else 3.0
LEXICAL = {"name": "lexical", "kind": "lexical"}


def is_open(worker):
    return sum(worker.read_series("judge_circuit_open").values()) == 1


def test_while_the_provider_is_down_all_waits_and_when_it_is_back_all_is_judged(database_url):
    circuit = {"failures": 3, "open_seconds": 0.5, "longest_open_seconds": 1.0}
    with (
        MockLlm() as llm,
        JudgingWorker(
            database_url,
            LEXICAL,
            make_judge(llm.url, circuit=circuit, timeout_seconds=5, deadline_seconds=20),
        ) as worker,
    ):
        worker.warm_up(make_messages(1, prefix="first", answers="f")[0])
        llm.stop()
        assert not is_open(worker)
        worker.take(make_messages(TRACES))
        wait_for(
            lambda: worker.count_states("lexical").get("scored") == TRACES + 1,
            what="the lexical judge's scores",
        )
        wait_for(lambda: is_open(worker), what="an open circuit")
        up_at = time.monotonic() + DOWN_SECONDS
        wait_for(
            lambda: (
                time.monotonic() > up_at
                and worker.count("SELECT count(*) FROM evaluation WHERE cause = 'judge_unavailable'")
                == TRACES
            ),
            seconds=DOWN_SECONDS + 60,
            what="all waiting",
        )
        assert worker.count_states("gpt")["scored"] == 1
        (claims,) = worker.query("SELECT max(starts), sum(calls) FROM evaluation WHERE judge = 'gpt'")
        assert claims[0] <= (40 if IS_LONG else 6)
        assert claims[1] <= TRACES / 2 + 2 * DOWN_SECONDS
        llm.start()
        worker.wait_until_done(TRACES + 1, seconds=500)
        assert worker.count_states("gpt") == {"scored": TRACES + 1}
        assert not is_open(worker)
        assert worker.query("SELECT max(attempts) FROM evaluation") == [(0,)]
        assert llm.counts == {"ok": TRACES + 1}
