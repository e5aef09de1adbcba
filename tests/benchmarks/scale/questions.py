"""What is measured of a full database: writes through the real store, reads of page, panels and jobs."""

from __future__ import annotations

import random
import statistics
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import text

from ragsonde.storage.engine import build_engine
from ragsonde.storage.history import read_history
from ragsonde.storage.ledger import count_revisions, count_states
from ragsonde.storage.partitions import drop_expired, ensure_day
from ragsonde.storage.sweeping import take_due
from ragsonde.storage.table_names import PARTITIONED
from ragsonde.storage.trace_choice import read_worst
from ragsonde.storage.trace_store import PostgresTraceStore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from seeds import Seed
    from sqlalchemy import Engine

    from fakes.clock import FakeClock

ROUNDS = 9
THREADS = 8
ADMITTED = 1_000
BATCHES = 5
CLAIMED = 300
APP, SCORER = "app-1", "context_relevance"

PANELS = {
    "panel: mean of a scorer, an app, 24 h": (
        "SELECT count(*), avg(raw) FROM score WHERE app = :app AND scorer = :scorer AND status = 'scored'"
        " AND day >= :yesterday AND created_at >= :since"
    ),
    "panel: histogram of a scorer, an app, 24 h": (
        "SELECT width_bucket(raw, 0, 1, 10), count(*) FROM score WHERE app = :app AND scorer = :scorer"
        " AND status = 'scored' AND day >= :yesterday AND created_at >= :since GROUP BY 1"
    ),
    "panel: mean by hour, an app, 14 days": (
        "SELECT date_trunc('hour', created_at), avg(raw) FROM score WHERE app = :app AND scorer = :scorer"
        " AND status = 'scored' AND day >= :first GROUP BY 1"
    ),
    "panel: the 20 worst of an app, today": (
        "SELECT trace_id, raw, reason FROM score WHERE app = :app AND scorer = :scorer AND status = 'scored'"
        " AND day = :today ORDER BY raw LIMIT 20"
    ),
    "panel: the 20 worst of an app, the last hour": (
        "SELECT trace_id, raw, reason FROM score WHERE app = :app AND scorer = :scorer AND status = 'scored'"
        " AND day >= :yesterday AND created_at >= :hour ORDER BY raw LIMIT 20"
    ),
}


class Answer(NamedTuple):
    """One figure.

    Attributes:
        is_rate: the more the better.
        grows: it reads all rows of its span, so three times as many a day are three times as much.
        pages: that Postgres touched, in memory or not: what else the machine does changes times, not these.
    """

    what: str
    value: float
    unit: str
    is_rate: bool = False
    grows: bool = False
    pages: float = 0.0


class Questions:
    """All that is asked of one database."""

    def __init__(self, engine: Engine, clock: FakeClock, seeds: Sequence[Seed], *, days: int) -> None:
        self._engine = engine
        self._lone = build_engine(
            engine.url.render_as_string(hide_password=False),
            application_name="ragsonde bench-scale reads",
            pool_size=1,
        )
        self._clock = clock
        self._seeds = seeds
        self._store = PostgresTraceStore(engine, clock=clock, retention_days=days + 1)
        self._lone_store = PostgresTraceStore(self._lone, clock=clock, retention_days=days + 1)
        self._rng = random.Random()
        self._today = clock.now().date()
        self._first = self._today - timedelta(days=days - 1)

    def ask(self) -> Iterator[Answer]:
        """All figures, one after the other; the oldest day is gone afterwards."""
        yield self._admit()
        lone = self._lone_store
        yield self._time(
            "store a trace, one connection", lambda: self._admit_one(lone, is_paid=False), rounds=300
        )
        yield from self._run_paid()
        yield from self._read()
        yield self._drop_day()

    def _admit(self) -> Answer:
        rates = []
        for _ in range(BATCHES):
            begun = time.perf_counter()
            with ThreadPoolExecutor(THREADS) as pool:
                for _ in pool.map(lambda _: self._admit_one(self._store, is_paid=False), range(ADMITTED)):
                    pass
            rates.append(ADMITTED / (time.perf_counter() - begun))
        return Answer(f"store a trace with its scores, {THREADS} threads", max(rates), "/s", is_rate=True)

    def _admit_one(self, store: PostgresTraceStore, *, is_paid: bool):
        seed = self._rng.choice(self._seeds)
        trace = seed.trace.model_copy(
            update={
                "trace_id": f"{self._rng.getrandbits(128):032x}",
                "content_hash": f"{self._rng.getrandbits(256):064x}",
                "occurred_at": self._clock.now(),
            }
        )
        planned = (seed.free, seed.waiting) if is_paid else (seed.free,)
        return seed, trace, store.admit(trace, planned)

    def _run_paid(self) -> Iterator[Answer]:
        admitted = [self._admit_one(self._store, is_paid=True) for _ in range(CLAIMED)]
        claims, ends = [], []
        for seed, _, admission in admitted:
            begun = time.perf_counter()
            claimed = self._store.claim(admission.pending[0])
            between = time.perf_counter()
            assert claimed is not None
            self._store.finish(claimed, seed.paid)
            claims.append(between - begun)
            ends.append(time.perf_counter() - between)
        yield Answer("claim an evaluation", _quantile(claims) * 1000, "ms")
        yield Answer("finish an evaluation", _quantile(ends) * 1000, "ms")
        again = [trace for _, trace, _ in admitted[:100]]
        turns = iter(again * 3)
        yield self._time("find a duplicate", lambda: self._lone_store.admit(next(turns), ()), rounds=200)

    def _read(self) -> Iterator[Answer]:
        now, engine = self._clock.now(), self._lone
        ids = iter(self._pick_ids(400))
        day_ago = now - timedelta(hours=24)
        yield self._time(
            "sweeper: take what is due", lambda: take_due(engine, now=now, limit=500, queued_for_seconds=0)
        )
        yield self._time("page: why of a trace", lambda: read_history(engine, next(ids)), rounds=30)
        yield self._time(
            "page: current scores of a trace",
            lambda: self._fetch("SELECT * FROM current_score WHERE trace_id = :id", id=next(ids)),
            rounds=30,
        )
        yield self._time("page: ledger, 24 h", lambda: count_states(engine, since=day_ago), grows=True)
        yield self._time("page: revisions, 24 h", lambda: count_revisions(engine, since=day_ago), grows=True)
        yield self._time("page: worst traces of an app and day", self._read_worst, grows=True)
        parameters = {
            "app": APP,
            "scorer": SCORER,
            "since": day_ago,
            "hour": now - timedelta(hours=1),
            "first": self._first,
            "yesterday": day_ago.date(),
            "today": self._today,
        }
        for what, query in PANELS.items():
            used = {name: value for name, value in parameters.items() if f":{name}" in query}
            yield self._time(what, lambda query=query, used=used: self._fetch(query, **used), grows=True)

    def _read_worst(self) -> None:
        read_worst(
            self._lone,
            app=APP,
            judge="lexical",
            scorer=SCORER,
            days=[self._today],
            limit=20,
        )

    def _drop_day(self) -> Answer:
        days = (self._today - self._first).days - 1
        begun = time.perf_counter()
        dropped = drop_expired(self._engine, today=self._today, retention=dict.fromkeys(PARTITIONED, days))
        took = time.perf_counter() - begun
        assert dropped, "no day was old enough"
        ensure_day(self._engine, day=self._first)
        return Answer("drop the oldest day, all tables", took * 1000, "ms")

    def _pick_ids(self, number: int) -> list[str]:
        """Of all days, wherever they lie."""
        query = "SELECT trace_id FROM trace TABLESAMPLE BERNOULLI (1) WHERE day > :first LIMIT :limit"
        rows = self._fetch(query, first=self._first, limit=20 * number)
        return [row[0] for row in self._rng.choices(rows, k=number)]

    def _fetch(self, query: str, **parameters: object) -> list:
        with self._lone.connect() as connection:
            return list(connection.execute(text(query), parameters))

    def _time(
        self, what: str, call: Callable[[], object], *, rounds: int = ROUNDS, grows: bool = False
    ) -> Answer:
        call()
        times = []
        before = self._count_pages()
        for _ in range(rounds):
            begun = time.perf_counter()
            call()
            times.append(time.perf_counter() - begun)
        pages = (self._count_pages() - before) / rounds
        return Answer(what, _quantile(times) * 1000, "ms", grows=grows, pages=pages)

    def _count_pages(self) -> int:
        """Of this database since it was made; the one connection that reads first tells what it counted."""
        with self._lone.connect() as connection:
            connection.execute(text("SELECT pg_stat_force_next_flush()"))
            connection.commit()
            query = "SELECT blks_hit + blks_read FROM pg_stat_database WHERE datname = current_database()"
            return int(connection.execute(text(query)).scalar_one())


def _quantile(times: list[float]) -> float:
    """The fastest of few, the tenth of many: others on the machine only ever add to a time."""
    return min(times) if len(times) < 10 * ROUNDS // 2 else statistics.quantiles(times, n=10)[0]


def measure_sizes(engine: Engine, *, traces: int) -> dict[str, tuple[float, float]]:
    """Bytes a trace of table and of its indexes, by table; TOAST belongs to the table."""
    query = """
        SELECT parent.relname, sum(pg_table_size(c.oid)), sum(pg_indexes_size(c.oid))
        FROM pg_inherits i
        JOIN pg_class c ON c.oid = i.inhrelid JOIN pg_class parent ON parent.oid = i.inhparent
        WHERE c.relkind = 'r' GROUP BY 1
    """
    with engine.connect() as connection:
        rows = connection.execute(text(query)).all()
    return {name: (float(table) / traces, float(indexes) / traces) for name, table, indexes in rows}
