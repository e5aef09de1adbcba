"""Seeded schedules of faults under a steady load: whatever comes when, nothing lost and nothing twice.

CHAOS_SEED sets the schedule; the table at the end of the run shows it. CHAOS=long makes it longer and harder.
"""

from __future__ import annotations

import random
import time

import pytest

from services.chaos_report import IS_LONG, SEED
from services.load import Load, make_traces
from services.mock_llm_process import running_llm
from services.waiting import wait_for

pytestmark = pytest.mark.chaos

TRACES = 1500 if IS_LONG else 400
TRACES_A_SECOND = 30
OUTAGE_SECONDS = 10.0 if IS_LONG else 1.5
SLOW_BYTES_A_SECOND = 40_000


class Crew:
    """Two workers and a monitor; whoever was ended gets a successor."""

    def __init__(self, ground):
        self.ground = ground
        self.monitor = ground.deployment.start("monitor")
        self.workers = [ground.start_worker() for _ in range(2)]
        # one that starts while Postgres is away ends, and nobody here starts it again
        for worker in self.workers:
            wait_for(worker.is_on_broker, seconds=180, what="a worker that works")

    def replace(self, end):
        worker = self.workers.pop(0)
        wait_for(worker.is_on_broker, seconds=180, what="a worker that works")
        end(worker)
        self.workers.append(self.ground.start_worker())

    def last(self, trouble, name):
        """A trouble of the network that lasts for a while, in which the load goes on."""
        with trouble:
            time.sleep(OUTAGE_SECONDS)  # the length of the outage is what is tested
        self.ground.report.survive(name)

    def list_faults(self):
        ground = self.ground
        return {
            "kill": lambda: self.replace(ground.kill),
            "term": lambda: self.replace(ground.terminate),
            "broker restart": ground.restart_broker,
            "broker kill": ground.kill_broker,
            "postgres restart": ground.restart_postgres,
            "postgres kill": ground.kill_postgres,
            "broker cut": lambda: self.last(ground.broker_network.cut(), "network to RabbitMQ cut"),
            "postgres cut": lambda: self.last(ground.database_network.cut(), "network to Postgres cut"),
            "broker silent": lambda: self.last(
                ground.broker_network.black_hole(), "network to RabbitMQ silent"
            ),
            "postgres silent": lambda: self.last(
                ground.database_network.black_hole(), "network to Postgres silent"
            ),
            "broker slow": lambda: self.last(
                ground.broker_network.slowness(bytes_a_second=SLOW_BYTES_A_SECOND, delay_seconds=0.02),
                "network to RabbitMQ slow",
            ),
            "postgres slow": lambda: self.last(
                ground.database_network.slowness(bytes_a_second=SLOW_BYTES_A_SECOND, delay_seconds=0.02),
                "network to Postgres slow",
            ),
        }


def suffer(crew, load, *, faults, order):
    """Each fault at its moment: when so much of the load is out."""
    moments = sorted(order.uniform(0.1, 0.95) * TRACES for _ in faults)
    inflict = crew.list_faults()
    for moment, fault in zip(moments, faults, strict=True):
        wait_for(lambda moment=moment: load.confirmed >= moment, seconds=120, what=f"the moment of: {fault}")
        inflict[fault]()


def draw(order, *kinds, times=1):
    faults = [kind for kind in kinds for _ in range(times)]
    order.shuffle(faults)
    return faults


SCHEDULES = {
    "workers": (("kill", "term"), 3),
    "servers": (("broker restart", "broker kill", "postgres restart", "postgres kill"), 1),
    "networks": (
        ("broker cut", "postgres cut", "broker silent", "postgres silent", "broker slow", "postgres slow"),
        1,
    ),
}


@pytest.mark.parametrize("name", SCHEDULES)
def test_under_a_schedule_of_faults_every_trace_is_judged_once(ground, name):
    kinds, times = SCHEDULES[name]
    order = random.Random(f"{SEED} {name}")
    faults = draw(order, *kinds, times=times * (2 if IS_LONG else 1))
    with running_llm(latency_seconds=0.05) as llm:
        ground.use_llm_judge(llm)
        crew = Crew(ground)
        traces = make_traces(range(TRACES))
        with Load(ground.deployment.broker_url, traces, per_second=TRACES_A_SECOND) as load:
            suffer(crew, load, faults=faults, order=order)
        ground.wait_until_done(
            traces=TRACES,
            seconds=180,
            waits_for_leases=IS_LONG or "kill" not in kinds,
            replays_crashed="kill" in kinds,
        )
        ground.count_up(traces=TRACES, judges=("lexical", "gpt"), llm=llm)
