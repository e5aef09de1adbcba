"""kill -9, SIGTERM and outages in the middle of the load: nothing lost, nothing twice."""

import json
import random

import pytest

from mock_llm.server import MockLlm
from services.chaos_report import IS_LONG, SEED
from services.leases import end_leases, find_last_lease
from services.waiting import wait_for

pytestmark = pytest.mark.chaos

TRACES = 1500 if IS_LONG else 240
WHERE_PAID = pytest.mark.parametrize(
    "deployment", ["rabbitmq", "embedded"] if IS_LONG else ["embedded"], indirect=True
)
"""In the short form test_schedules.py kills and stops workers with a paid judge on RabbitMQ."""


def make_messages(count):
    return [
        {
            "trace_id": f"t-{number}",
            "app": "chaos",
            "query": f"How long does refund number {number} take?",
            "contexts": [
                f"Refund number {number} is issued within {number % 30 + 1} days.",
                "Shipping inside the EU takes three to five working days.",
            ],
            "answer": f"Within {number % 30 + 1} days.",
        }
        for number in range(count)
    ]


def use_llm_judge(deployment, llm):
    """The free judge and one that is paid; no call of it is given up because the machine is busy."""
    deployment.settings["RAGSONDE_JUDGES"] = json.dumps(
        [
            {"name": "lexical", "kind": "lexical"},
            {
                "name": "gpt",
                "kind": "litellm",
                "model": "openai/mock",
                "api_base": llm.url,
                "api_key_env": "MOCK_KEY",
                "timeout_seconds": 15,
                "deadline_seconds": 20,
            },
        ]
    )
    deployment.settings["MOCK_KEY"] = "none"


def count_scored(deployment, judge):
    return deployment.count("SELECT count(*) FROM evaluation WHERE judge = %s AND state = 'scored'", judge)


def assert_each_trace_is_scored_once(deployment, *judges, traces=TRACES):
    assert deployment.count("SELECT count(*) FROM trace") == traces
    assert deployment.count("SELECT count(DISTINCT trace_id) FROM trace") == traces
    for judge in judges:
        assert count_scored(deployment, judge) == traces
        rows = "SELECT count(*) FROM score WHERE judge = %s AND status = 'scored'"
        assert deployment.count(rows, judge) == traces * 5
    assert deployment.count("SELECT count(*) FROM score") == traces * 5 * len(judges)
    assert deployment.query("SELECT reason, message FROM parked_message") == []


def kill(deployment, report):
    """Kills the only worker; the short form does not wait until what it held is free by itself."""

    def kill_it(worker):
        worker.kill()
        report.survive("kill -9 of a worker")
        if not IS_LONG:
            end_leases(deployment, last=find_last_lease(deployment))

    return kill_it


def stop_at_random_moments(deployment, judge, *, times, stop):
    """Starts workers one after the other; each is stopped somewhere in its share of the load."""
    moments = random.Random(SEED)
    for turn in range(1, times + 1):
        worker = deployment.start("worker", "--threads", "8")
        goal = int(TRACES * (turn - moments.uniform(0.2, 0.8)) / times)
        wait_for(
            lambda goal=goal: count_scored(deployment, judge) >= goal, seconds=180, what=f"{goal} scored"
        )
        deployment.wait_until_unsuspected()
        stop(worker)
    return deployment.start("worker", "--threads", "8")


def test_kill_9_with_the_free_judge_loses_nothing_and_doubles_nothing(deployment, chaos_report):
    deployment.publish(make_messages(TRACES))
    stop_at_random_moments(deployment, "lexical", times=3, stop=kill(deployment, chaos_report))
    wait_for(lambda: count_scored(deployment, "lexical") == TRACES, seconds=120, what="all scored")
    chaos_report.traces += TRACES
    assert_each_trace_is_scored_once(deployment, "lexical")


@WHERE_PAID
def test_kill_9_with_an_llm_judge_judges_again_at_most_what_was_in_flight(deployment, chaos_report):
    with MockLlm(latency_seconds=0.05) as llm:
        use_llm_judge(deployment, llm)
        deployment.publish(make_messages(TRACES))
        deployment.start("monitor")
        stop_at_random_moments(deployment, "gpt", times=3, stop=kill(deployment, chaos_report))
        wait_for(lambda: count_scored(deployment, "gpt") == TRACES, seconds=180, what="all judged")
        chaos_report.traces += TRACES
        chaos_report.judged_twice += max(0, llm.total - TRACES - 3 * 8)
        assert_each_trace_is_scored_once(deployment, "lexical", "gpt")
        assert TRACES <= llm.total <= TRACES + 3 * 8


@WHERE_PAID
def test_sigterm_loses_nothing_and_judges_nothing_twice(deployment, chaos_report):
    with MockLlm(latency_seconds=0.05) as llm:
        use_llm_judge(deployment, llm)
        deployment.publish(make_messages(TRACES))
        deployment.start("monitor")
        codes = []
        stop_at_random_moments(
            deployment, "gpt", times=3, stop=lambda worker: codes.append(worker.terminate())
        )
        wait_for(lambda: count_scored(deployment, "gpt") == TRACES, seconds=120, what="all judged")
        assert codes == [0, 0, 0]
        chaos_report.traces += TRACES
        chaos_report.judged_twice += llm.total - TRACES
        chaos_report.survive("SIGTERM of a worker", len(codes))
        assert_each_trace_is_scored_once(deployment, "lexical", "gpt")
        assert llm.total == TRACES


def test_while_the_judge_is_down_free_scores_come_at_once_and_no_attempt_is_burned(deployment):
    traces = 20
    with MockLlm(script="500") as llm:
        use_llm_judge(deployment, llm)
        deployment.start("monitor")
        deployment.start("worker", "--threads", "8")
        deployment.publish(make_messages(traces))
        wait_for(lambda: count_scored(deployment, "lexical") == traces, what="free scores")
        wait_for(
            lambda: (
                deployment.count("SELECT count(*) FROM evaluation WHERE cause = 'judge_unavailable'")
                == traces
            ),
            what="all waiting for the judge",
        )
        assert count_scored(deployment, "gpt") == 0
        again = "SELECT count(*) FROM evaluation WHERE judge = 'gpt' AND starts > 1"
        wait_for(lambda: deployment.count(again), seconds=60, what="second attempts")
        assert llm.total <= 2 * traces, "an open circuit spares a judge that is down"
        llm.run_script("ok")
        wait_for(lambda: count_scored(deployment, "gpt") == traces, seconds=90, what="all judged")
    assert deployment.count("SELECT max(attempts) FROM evaluation") == 0
    assert_each_trace_is_scored_once(deployment, "lexical", "gpt", traces=traces)
