"""Weeks of one app through a real worker, a mock provider and the monitor's jobs, at the test's time."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from sqlalchemy import text

from builders.rag_messages import make_messages
from fakes.broker import ListBroker
from ragsonde.bootstrap.worker import build_worker
from ragsonde.exposition.registry import Series
from ragsonde.exposition.series import MONITOR_SERIES
from ragsonde.monitor.backfill_jobs import BackfillChores
from ragsonde.pipeline.evaluate_trace import evaluate, ingest
from ragsonde.settings import Settings
from ragsonde.storage.arming_progress import read_arming
from ragsonde.storage.armings import list_armings
from ragsonde.storage.sweeping import take_due
from ragsonde.watching.arming_jobs import ArmingChores
from ragsonde.watching.block_jobs import BlockChores
from ragsonde.watching.gauge_jobs import RegressionGaugeChores
from ragsonde.watching.jobs import RegressionChores
from ragsonde_schemas.envelope import Envelope
from services.judging_worker import ShiftedClock

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType
    from typing import Self

    from sqlalchemy import Engine

    from ragsonde.storage.arming_progress import Arming

QUEUED_SECONDS = 150
BURSTS = 2
"""A day's traces come in so many blocks: each block is counted for itself, which takes longest of all."""
DIFFERENT_DAYS = 4
"""After so many days the same contents come again: a judge is asked of each content once."""
LONG_AGO = timedelta(days=90)
"""Counting never runs ahead of Postgres's own clock."""


class ArmingGround:
    """One app's traces, what judges them, what counts and watches their scores.

    Attributes:
        settings: as they were given last.
        armings: what was told to be without a baseline after each turn of the monitor.
    """

    def __init__(self, engine: Engine, database_url: str, **settings: Any) -> None:  # noqa: ANN401 - as given on
        self.engine, self.url = engine, database_url
        self.clock = ShiftedClock(hour=0)
        self.clock.advance(-LONG_AGO.total_seconds())
        self.broker = ListBroker()
        self.broker.depths["ragsonde.work"] = 0  # what is published here is on the queue of backfills
        self.armings: list[tuple[Arming, ...]] = []
        self.sent = 0
        self._pool = ThreadPoolExecutor(8)
        self.settings = settings
        self._worker_engines: list[Engine] = []
        self.restart()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._pool.shutdown(cancel_futures=True)
        for engine in self._worker_engines:
            engine.dispose()

    def restart(self, **settings: Any) -> None:  # noqa: ANN401 - of the settings
        """Worker and monitor begin anew with these settings beside those of before."""
        self.settings = {**self.settings, **settings}
        built = Settings(**self.settings)
        worker = build_worker(
            built, broker_url="memory://", database_url=self.url, version="test", clock=self.clock
        )
        self._worker_engines.append(worker.engine)
        self.stages = worker.stages
        self.series = Series(MONITOR_SERIES)
        shared: dict[str, Any] = {"engine": self.engine, "clock": self.clock}
        self.blocks = BlockChores(**shared, series=self.series, kept_days=90)
        self.regression = RegressionChores(**shared, options=built.regression)
        self.gauges = RegressionGaugeChores(**shared, series=self.series)
        self.arming = ArmingChores(**shared, assignments=self.stages.assignments, options=built.regression)
        self.backfills = BackfillChores(
            **shared,
            assignments=self.stages.assignments,
            broker=self.broker,
            queued_for_seconds=QUEUED_SECONDS,
            series=self.series,
            should_pause=lambda: False,
        )

    def live(self, *, days: int, per_day: int) -> None:
        """So many days of traces, each counted and judged when it is over."""
        for _ in range(days):
            begin = self.clock.now()
            self.clock.advance(86_400)
            answers = f"a{self.sent % DIFFERENT_DAYS}"
            messages = make_messages(per_day, prefix=f"n{self.sent}", answers=answers)
            self.sent += 1
            for number, message in enumerate(messages):
                message["occurred_at"] = (begin + _find_moment(number, per_day=per_day)).isoformat()
            self._run(lambda one: ingest(one, self.stages), [self._wrap(message) for message in messages])
            self._work_on_due()
            self.turn()

    def turn(self) -> None:
        """A minute of the monitor, and of a worker for backfills."""
        for _ in range(6):
            self.clock.advance(10)
            self.backfills.step()
            keys, self.broker.published[:] = list(self.broker.published), []
            self._run(lambda key: evaluate(key, self.stages), keys)
        self.blocks.count()
        self.regression.judge()
        self.arming.arm()
        self.gauges.show()
        self.armings.append(read_arming(self.engine))

    def settle(self, *, most_turns: int = 200) -> None:
        """Turns until no baseline is under way and all is judged."""
        for _ in range(most_turns):
            self.turn()
            if not list_armings(self.engine) and not self.query("SELECT 1 FROM dirty_mark"):
                self.turn()
                self.turn()
                return
        raise AssertionError(f"not over after {most_turns} turns: {list_armings(self.engine)}")

    def query(self, statement: str, **columns: Any) -> list[tuple[Any, ...]]:  # noqa: ANN401 - any value
        with self.engine.connect() as connection:
            return [tuple(row) for row in connection.execute(text(statement), columns)]

    def _wrap(self, message: dict[str, Any]) -> Envelope:
        body = json.dumps(message).encode()
        return Envelope(
            body=body,
            body_bytes=len(body),
            content_type="application/json",
            message_key=sha256(body).hexdigest(),
            received_at=self.clock.now(),
        )

    def _work_on_due(self) -> None:
        while due := take_due(
            self.engine, now=self.clock.now(), limit=1000, queued_for_seconds=QUEUED_SECONDS
        ):
            self._run(lambda key: evaluate(key, self.stages), list(due))

    def _run(self, work: Callable[[Any], object], subjects: list[Any]) -> None:
        for first in subjects[:1]:
            work(first)  # alone: of the clients that threads open at once litellm keeps only one
        list(self._pool.map(work, subjects[1:]))


def _find_moment(number: int, *, per_day: int) -> timedelta:
    """When in its day a trace came: in a minute of its own, of few stretches of five."""
    burst, place = divmod(number * BURSTS, per_day)
    return (burst + 0.5) * timedelta(days=1) / BURSTS + place / per_day * timedelta(minutes=4)
