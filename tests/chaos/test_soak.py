"""A worker under load for long: its memory, connections, threads and files stay what they were after warm-up.

Warm-up is the first tenth of the traces: by then every path was taken, every pool and cache is full.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import NamedTuple

import pytest

from services.chaos_report import IS_LONG
from services.load import Load, make_traces
from services.waiting import wait_for

pytestmark = pytest.mark.chaos

TRACES = 100_000 if IS_LONG else 1_000
WARM_UP = TRACES // 10
MOST_GROWTH = 1.1 if IS_LONG else 1.3
POOL_SIZE, SPARE_CONNECTIONS = 8, 2
PAUSE_SECONDS = 5.0 if IS_LONG else 0.5
CONNECTIONS = """
SELECT count(*) FROM pg_stat_activity
WHERE application_name = 'ragsonde-worker' AND datname = current_database()
"""
MEGABYTE = 1024


class Sample(NamedTuple):
    scored: int
    seconds: float
    rss_kb: int
    threads: int
    files: int
    connections: int


def look(ground, worker, *, begun):
    """One sample; /metrics is read for it, as Prometheus would."""
    worker.read("/metrics")
    process = Path(f"/proc/{worker.pid}")
    status = dict(line.split(":", 1) for line in (process / "status").read_text().splitlines() if ":" in line)
    return Sample(
        scored=ground.count_scored(),
        seconds=time.monotonic() - begun,
        rss_kb=int(status["VmRSS"].split()[0]),
        threads=int(status["Threads"]),
        files=len(list((process / "fd").iterdir())),
        connections=ground.deployment.count(CONNECTIONS),
    )


def test_a_long_load_leaves_the_worker_as_it_was_after_warm_up(ground):
    ground.skip_networks()
    worker = ground.start_worker()
    wait_for(worker.is_on_broker, seconds=180, what="a worker")
    samples, begun = [], time.monotonic()

    def is_done():
        samples.append(look(ground, worker, begun=begun))
        time.sleep(PAUSE_SECONDS)  # between two samples
        return samples[-1].scored == TRACES

    with Load(ground.deployment.broker_url, make_traces(range(TRACES)), per_second=300):
        wait_for(is_done, seconds=TRACES / 10, what="the end of the load")
    warm = next(sample for sample in samples if sample.scored >= WARM_UP)
    after = samples[samples.index(warm) + 1 :]
    end = after[-1]
    growth = end.rss_kb / warm.rss_kb
    figures = ground.report.figures
    ground.report.rates["lexical judge, one worker of 8 threads"] = (end.scored - warm.scored) / (
        end.seconds - warm.seconds
    )
    figures["soak"] = f"{TRACES:,} traces in {end.seconds:,.0f} s"
    figures["soak: RSS after warm-up, at the end, most"] = (
        f"{warm.rss_kb // MEGABYTE} MB, {end.rss_kb // MEGABYTE} MB ({growth:.2f} x), "
        f"{max(sample.rss_kb for sample in after) // MEGABYTE} MB"
    )
    for what in ("connections", "threads", "files"):
        seen = [getattr(sample, what) for sample in after]
        figures[f"soak: {what} after warm-up"] = f"{getattr(warm, what)}, then {min(seen)} to {max(seen)}"
    assert growth <= MOST_GROWTH
    assert max(sample.connections for sample in after) <= POOL_SIZE + SPARE_CONNECTIONS
    # one more or less: a request for /metrics or a connection beyond the pool that ends right now
    assert abs(end.threads - warm.threads) <= 1
    assert abs(end.files - warm.files) <= SPARE_CONNECTIONS + 1
    ground.count_up(traces=TRACES, judges=("lexical",))
    ground.report.survive("long load")
