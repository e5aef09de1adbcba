"""Postgres goes away in the middle of the load: deliveries are kept, nothing is parked or dead-lettered.

CHAOS=long makes it a minute.
"""

from __future__ import annotations

import time

import pytest

from services.chaos_report import IS_LONG
from services.load import make_traces
from services.waiting import wait_for

pytestmark = pytest.mark.chaos

TRACES = 1500 if IS_LONG else 300
AWAY_SECONDS = 60.0 if IS_LONG else 2.0


def test_an_outage_of_postgres_loses_nothing_parks_nothing_and_takes_nothing_more(ground):
    ground.deployment.publish(list(make_traces(range(TRACES))))
    worker = ground.start_worker()
    ground.wait_until_scored(30)
    ground.postgres.stop()
    up_at = time.monotonic() + AWAY_SECONDS
    wait_for(lambda: "consumption_paused" in worker.read_log(), what="the brake")
    with pytest.raises(OSError, match="503"):
        worker.read("/health/ready")
    assert '"status": "ok"' in worker.read("/health/live")
    wait_for(lambda: time.monotonic() > up_at, seconds=AWAY_SECONDS + 1, what="the end of the outage")
    ground.postgres.start()
    ground.report.survive(f"Postgres away for {AWAY_SECONDS:.0f} s")
    ground.wait_until_done(traces=TRACES, seconds=180, waits_for_leases=False)
    assert "consumption_resumed" in worker.read_log()
    ground.count_up(traces=TRACES, judges=("lexical",))
    assert worker.terminate() == 0
