# ruff: noqa: T201  # a program that prints what it measured
"""What the monitor's round costs over a real Postgres: a new block of a thousand streams, SQL left out.

`python tests/benchmarks/detector/round_costs.py [--streams 1000] [--passes 6] [--profile]`, or `--days 90`
for the memory of a process; a server is found as the tests find one.
"""

from __future__ import annotations

import argparse
import cProfile
import pstats
import resource
import sys
import time
import tracemalloc
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import psycopg
from score_streams import draw_stream
from sqlalchemy import text
from trials import WEEK, count

sys.path.insert(0, str(Path(__file__).parents[2]))

from ragsonde.regression.block_lengths import BLOCKS_PER_DAY
from ragsonde.storage.engine import build_engine
from ragsonde.storage.migrations import migrate
from ragsonde_schemas.score_stream import block_at
from services.postgres import find_server, own_database
from services.regression_ground import RegressionGround

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Engine

_COPY = text(
    """
INSERT INTO score_block (stream_id, start, stratum, day, n, total, squares, failed, bins, counts, built_at)
SELECT s.id, b.start, b.stratum, b.day, b.n, b.total, b.squares, b.failed, b.bins, b.counts, now()
FROM score_block b, score_stream s
WHERE b.stream_id = :first AND s.id <> :first AND b.start >= :since AND b.start < :until
"""
)
_COPY_BASELINES = text(
    """
INSERT INTO baseline (stream_id, kind, since, until, judges_from, armed_at, fitted, failed_share, reason,
    replaced_at)
SELECT s.id, b.kind, b.since, b.until, b.judges_from, b.armed_at, b.fitted, b.failed_share, b.reason,
    b.replaced_at
FROM baseline b, score_stream s WHERE b.stream_id = :first AND s.id <> :first
"""
)
_COPY_STATES = text(
    """
INSERT INTO monitor_state (stream_id, day, block, begun, part, baseline_id, log_bets, log_recovery, level)
SELECT s.id, m.day, m.block, m.begun, m.part, own.id, m.log_bets, m.log_recovery, m.level
FROM monitor_state m JOIN baseline b ON b.id = m.baseline_id, score_stream s
JOIN baseline own ON own.stream_id = s.id
WHERE m.stream_id = :first AND s.id <> :first AND own.judges_from = b.judges_from
"""
)
MOST_MICROSECONDS = 200
JUDGED = int(WEEK + 1) * BLOCKS_PER_DAY + 150
"""Blocks of each stream that are judged before: to noon of its ninth day."""
_NOTE = text(
    "INSERT INTO block_change (stream_id, start) SELECT id, CAST(:start AS timestamptz) FROM score_stream"
)


class SqlClock:
    """CPU seconds of this process within the driver's calls to the server."""

    seconds = 0.0
    calls = 0

    @contextmanager
    def running(self) -> Iterator[None]:
        patched = {name: getattr(psycopg.Cursor, name) for name in ("execute", "executemany")}

        def time_call(call: Any) -> Any:  # noqa: ANN401 - whatever the driver has
            def timed(*given: Any, **named: Any) -> Any:  # noqa: ANN401
                begun = time.process_time()
                try:
                    return call(*given, **named)
                finally:
                    self.seconds += time.process_time() - begun
                    self.calls += 1

            return timed

        for name, call in patched.items():
            setattr(psycopg.Cursor, name, time_call(call))
        try:
            yield
        finally:
            for name, call in patched.items():
                setattr(psycopg.Cursor, name, call)


def time_rounds(
    engine: Engine, *, streams: int, passes: int, profile: cProfile.Profile | None = None
) -> tuple[float, float]:
    """Microseconds of CPU a stream and pass without and with the driver's; every stream has a new block."""
    ground, first = _fill(engine, streams=streams)
    end = JUDGED
    clock = SqlClock()
    total = 0.0
    for step in range(passes):
        with engine.begin() as connection:
            connection.execute(_NOTE, {"start": _start(ground, end + step)})
        ground.close(end + step + 1)
        with clock.running():
            begun = time.process_time()
            if profile is not None:
                profile.enable()
            ground.chores.judge()
            if profile is not None:
                profile.disable()
            total += time.process_time() - begun
    assert ground.read_state(first).block >= ground.first + end
    every = streams * passes / 1e6
    return (total - clock.seconds) / every, total / every


def weigh_months(engine: Engine, *, streams: int, days: int) -> list[tuple[int, float, float]]:
    """After each ten days of blocks, a day a pass: the day, MB that Python holds, MB at most in that pass."""
    ground = RegressionGround(engine)
    of_day = count(draw_stream(np.random.default_rng(2), 1, 4))
    numbers = [ground.add_stream(app=f"app-{number}") for number in range(streams)]
    weights = []
    tracemalloc.start()
    for day in range(days):
        moved = of_day.__class__(
            of_day.strata, of_day.block + day * BLOCKS_PER_DAY, of_day.stratum, of_day.bin, of_day.count
        )
        ground.count(numbers[0], moved)
        with engine.begin() as connection:
            columns = {"first": numbers[0], "since": _start(ground, day * BLOCKS_PER_DAY)}
            connection.execute(_COPY, {**columns, "until": _start(ground, (day + 1) * BLOCKS_PER_DAY)})
            connection.execute(_NOTE, {"start": columns["since"]})
        tracemalloc.reset_peak()
        ground.judge(until=(day + 1) * BLOCKS_PER_DAY)
        if day % 10 == 9:
            held, peak = tracemalloc.get_traced_memory()
            weights.append((day + 1, held / 1e6, peak / 1e6))
    tracemalloc.stop()
    return weights


def _fill(engine: Engine, *, streams: int) -> tuple[RegressionGround, int]:
    """Streams that are all like the first: four strata, ten traces a minute, judged for more than a week."""
    ground = RegressionGround(engine)
    counts = count(draw_stream(np.random.default_rng(1), WEEK + 2, 10))
    first = ground.add_stream(app="app-0")
    ground.count(first, counts)
    ground.judge(until=JUDGED)
    for number in range(1, streams):
        ground.add_stream(app=f"app-{number}")
    given = {"first": first, "since": _start(ground, JUDGED - 24), "until": _start(ground, JUDGED + 24)}
    with engine.begin() as connection:
        connection.execute(_COPY, given)
        connection.execute(_COPY_BASELINES, {"first": first})
        connection.execute(_COPY_STATES, {"first": first})
        connection.execute(text("TRUNCATE block_change"))
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text("ANALYZE"))
    return ground, first


def _start(ground: RegressionGround, block: int) -> Any:  # noqa: ANN401 - a moment
    return block_at(ground.first + block)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--streams", type=int, default=1000)
    parser.add_argument("--passes", type=int, default=6)
    parser.add_argument("--days", type=int, default=0, help="weigh a process over so many days of blocks")
    parser.add_argument("--profile", action="store_true")
    given = parser.parse_args()
    server = find_server()
    if server is None:
        print("no Postgres is found", file=sys.stderr)
        return 2
    with own_database(server) as url:
        migrate(url)
        engine = build_engine(url, application_name="ragsonde bench")
        alone = 0.0
        if given.days:
            for day, held, peak in weigh_months(engine, streams=20, days=given.days):
                print(f"day {day}: {held:.1f} MB held, {peak:.1f} MB at most in the round")
            print(f"process: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB at most")
        else:
            profile = cProfile.Profile() if given.profile else None
            alone, whole = time_rounds(engine, streams=given.streams, passes=given.passes, profile=profile)
            met = "met" if alone <= MOST_MICROSECONDS else "NOT MET"
            print(f"{alone:.0f} us of CPU a stream and pass, SQL left out; {whole:.0f} us with the driver's")
            print(f"bar: <= {MOST_MICROSECONDS} us, SQL left out: {met}")
            if profile is not None:
                pstats.Stats(profile).sort_stats("tottime").print_stats(35)
        engine.dispose()
    return int(alone > MOST_MICROSECONDS)


if __name__ == "__main__":
    sys.exit(main())
