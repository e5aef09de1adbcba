"""kill -9 while the check set is judged: every check done once, paid once but for what was in flight."""

import json

import pytest

from mock_llm.server import MockLlm
from services.leases import end_leases, find_last_lease
from services.waiting import wait_for

pytestmark = pytest.mark.chaos

CHECKS, THREADS = 12, 2


def make_messages():
    return [
        {
            "trace_id": f"t-{number}",
            "app": "chaos",
            "query": f"How long does refund number {number} take?",
            "contexts": [f"Refund number {number} is issued within {number + 1} days.", "We ship by train."],
            "answer": f"Within {number + 1} days.",
        }
        for number in range(CHECKS)
    ]


def use_judges(deployment, llm):
    """The free judge, and one that is paid, sees no production trace, and has a short lease."""
    deployment.settings["RAGSONDE_JUDGES"] = json.dumps(
        [
            {"name": "lexical", "kind": "lexical"},
            {
                "name": "gpt",
                "kind": "litellm",
                "model": "openai/mock",
                "api_base": llm.url,
                "api_key_env": "MOCK_KEY",
                "sample": 0.0,
                "budget": {"calls_per_hour": 1000},
                "timeout_seconds": 5,
                "deadline_seconds": 20,
            },
        ]
    )
    deployment.settings["MOCK_KEY"] = "none"


def test_a_worker_killed_among_checks_doubles_nothing_and_leaks_nothing(deployment):
    def count_judged():
        return deployment.count("SELECT count(*) FROM check_result WHERE judged_at IS NOT NULL")

    with MockLlm(latency_seconds=0.3) as llm:
        use_judges(deployment, llm)
        deployment.publish(make_messages())
        worker = deployment.start_ready_worker()
        deployment.wait_until_scored(CHECKS)
        chosen = deployment.run("check-set", "choose", "--app", "chaos", "--n", str(CHECKS))
        assert f"{CHECKS} traces added" in chosen.stdout, chosen
        monitor = deployment.start("monitor")
        wait_for(lambda: count_judged() >= 3, seconds=60, what="some checks")
        worker.kill()
        monitor.kill()
        end_leases(deployment, last=find_last_lease(deployment))
        second = deployment.start_ready_worker()
        # a new one looks at once, and not only when its turn comes
        monitor = deployment.start("monitor")
        wait_for(lambda: count_judged() == CHECKS, seconds=120, what="all checks")
        assert deployment.query("SELECT cause, verdicts FROM check_result WHERE cause IS NOT NULL") == []
        assert CHECKS <= llm.total <= CHECKS + THREADS
        calls = second.read("/metrics")
        age = wait_for(
            lambda: [
                line
                for line in monitor.read("/metrics").splitlines()
                if line.startswith("ragsonde_judge_check_age_seconds{")
            ],
            seconds=90,
            what="the age of the checks",
        )
    assert len(age) == 1
    assert 'ragsonde_judge_calls_total{judge="gpt@' in calls
    assert deployment.count("SELECT count(*) FROM check_result") == CHECKS
    assert deployment.count("SELECT sum(reserved_calls) FROM judge_spend WHERE judge = 'gpt'") == 0
    # nothing of it is a score of production
    assert deployment.count("SELECT count(*) FROM score WHERE judge = 'gpt'") == 0
    assert deployment.count("SELECT count(*) FROM evaluation WHERE judge = 'gpt' AND state = 'scored'") == 0
    assert deployment.query("SELECT reason, message FROM parked_message") == []
