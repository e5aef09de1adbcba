"""Without kills the series of all workers together say what the tables hold, whatever the network did."""

from __future__ import annotations

import random

import pytest

from services.chaos_report import IS_LONG, SEED
from services.load import Load, make_traces
from services.waiting import wait_for

pytestmark = pytest.mark.chaos

TRACES = 1500 if IS_LONG else 300
SHARE = 15
"""One trace in so many comes twice, one comes again with another answer, and one message is junk."""
SUPERSEDED = "(SELECT count(*) FROM evaluation WHERE state = 'superseded')"
SUPERSEDED_SCORES = """
SELECT count(*) FROM score JOIN evaluation e USING (trace_id, app, record_key, revision, day, judge)
WHERE e.state = 'superseded' AND score.status = 'scored'
"""


def make_load(order):
    """Bodies in disorder, and how many traces come twice, how many again, how many bodies are junk."""
    traces = list(make_traces(range(TRACES)))
    some = TRACES // SHARE
    twice = order.sample(traces, some)
    again = [
        {**trace, "answer": f"{trace['answer']} Or a day later."} for trace in order.sample(traces, some)
    ]
    junk = [f'{{"trace_id": "junk-{number}", "query": '.encode() for number in range(some)]
    messages = [*traces, *twice, *again, *junk]
    order.shuffle(messages)
    return messages, some


def test_in_a_run_without_kills_the_series_equal_the_tables(ground):
    order = random.Random(f"{SEED} counts")
    messages, some = make_load(order)
    deployment = ground.deployment
    workers = [ground.start_worker() for _ in range(2)]
    for worker in workers:
        wait_for(worker.is_on_broker, seconds=180, what="a worker")
    with Load(deployment.broker_url, messages, per_second=60) as load:
        wait_for(lambda: load.confirmed > len(messages) // 3, what="a third of the load")
        ground.restart_broker()
        wait_for(lambda: load.confirmed > 2 * len(messages) // 3, what="two thirds of the load")
        ground.broker_network.reset_connections()
        ground.report.survive("connections to RabbitMQ reset")
    wait_for(lambda: deployment.count("SELECT count(*) FROM parked_message") == some, what="the junk")
    ground.wait_until_done(traces=TRACES, seconds=180, waits_for_leases=False)
    ground.report.count_bad_inputs(some)

    def count_series(name):
        return sum(worker.read_series(name) for worker in workers)

    assert deployment.count("SELECT count(*) FROM trace") == TRACES + some
    wait_for(lambda: not count_series("in_flight"), what="idle workers")
    assert count_series("score_count") == deployment.count(
        "SELECT count(*) FROM score WHERE status = 'scored'"
    )
    assert count_series("scores_superseded_total") == deployment.count(SUPERSEDED_SCORES)
    assert deployment.count(f"SELECT {SUPERSEDED}") == some
    assert count_series("parked_total") == some
    ground.count_up(traces=TRACES, judges=("lexical",), parked=some)
