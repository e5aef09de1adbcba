"""A worker without its broker: the real path over a real Postgres, its messages and due work on threads."""

from __future__ import annotations

import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import TYPE_CHECKING

import psycopg

from ragsonde.bootstrap.worker import build_worker
from ragsonde.pipeline.evaluate_trace import evaluate, ingest
from ragsonde.settings import Settings
from ragsonde.storage.sweeping import take_due
from ragsonde.storage.trace_store import PostgresTraceStore
from ragsonde_schemas.envelope import Envelope
from services.waiting import wait_for

if TYPE_CHECKING:
    from concurrent.futures import Future
    from typing import Any, Self

SWEEP_SECONDS = 0.1
BY_STATE = "SELECT state, count(*) FROM evaluation WHERE judge = %s GROUP BY state"
WHAT_IS_LEFT = """
SELECT count(*) FILTER (WHERE state = 'waiting'), count(*) FILTER (WHERE state = 'running'),
    min(next_attempt_at) FILTER (WHERE state = 'waiting'),
    max(next_attempt_at) FILTER (WHERE state = 'waiting')
FROM evaluation WHERE state IN ('waiting', 'running')
"""


class ShiftedClock:
    """The machine's clock, whose time of day can be put forward; its seconds stay the machine's.

    Args:
        hour: of today (UTC), to begin at; None: now.
    """

    def __init__(self, *, hour: int | None = None) -> None:
        now = datetime.now(UTC)
        begin = now if hour is None else now.replace(hour=hour, minute=5, second=0, microsecond=0)
        self._shift = begin - now

    def now(self) -> datetime:
        return datetime.now(UTC) + self._shift

    def monotonic(self) -> float:
        return time.monotonic()

    def advance(self, seconds: float) -> bool:
        """Puts the time forward; False, so that it can stand in a condition."""
        self._shift += timedelta(seconds=seconds)
        return False


class JudgingWorker:
    """Works on what it is given and on what is due, until it is closed.

    Args:
        database_url: migrated.
        judges: as under `judges:` of the settings.
        threads: evaluations at once.
        lease_seconds: None: as in the settings.
        clock: None: the machine's.
        skips_to_last: where all waits, time is put forward to when the last of it is due, not the first.

    Attributes:
        faults: exceptions that came out of the path: its messages would have been parked.
    """

    def __init__(
        self,
        database_url: str,
        *judges: dict[str, Any],
        threads: int = 8,
        lease_seconds: int | None = None,
        clock: ShiftedClock | None = None,
        skips_to_last: bool = False,
    ) -> None:
        self._skips_to_last = skips_to_last
        self.clock = clock or ShiftedClock()
        settings = Settings(judges=judges)
        parts = build_worker(
            settings, broker_url="memory://", database_url=database_url, version="test", clock=self.clock
        )
        self.engine, self.stages = parts.engine, parts.stages
        self._lease_seconds = settings.lease_seconds if lease_seconds is None else lease_seconds
        if lease_seconds is not None:
            store = PostgresTraceStore(self.engine, clock=self.clock, lease_seconds=lease_seconds)
            self.stages = replace(self.stages, traces=store)
        self.faults: list[BaseException] = []
        self._url = database_url
        self._pool = ThreadPoolExecutor(threads)
        self._stopping = threading.Event()
        self._sweeper = threading.Thread(target=self._sweep)
        self._sweeper.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stopping.set()
        self._sweeper.join()
        self._pool.shutdown(cancel_futures=True)
        self.engine.dispose()

    def take(self, messages: list[dict[str, Any]]) -> None:
        """Takes native messages, as if they had come from the queue."""
        for message in messages:
            body = json.dumps(message).encode()
            envelope = Envelope(
                body=body,
                body_bytes=len(body),
                content_type="application/json",
                message_key=sha256(body).hexdigest(),
                received_at=self.clock.now(),
            )
            self._submit(ingest, envelope)

    def warm_up(self, message: dict[str, Any]) -> None:
        """Takes the first message alone: of the clients that threads open at once litellm keeps only one."""
        self.take([message])
        self.wait_until_done(1)

    def query(self, statement: str, *parameters: Any) -> list[tuple[Any, ...]]:  # noqa: ANN401 - SQL's values
        with psycopg.connect(self._url) as connection:
            return connection.execute(statement, parameters).fetchall()

    def count(self, statement: str, *parameters: Any) -> int:  # noqa: ANN401 - SQL's values
        return self.query(statement, *parameters)[0][0]

    def count_states(self, judge: str) -> dict[str, int]:
        """How many of a judge's evaluations are in which state."""
        return dict(self.query(BY_STATE, judge))

    def wait_until_done(self, traces: int, *, seconds: float = 120) -> None:
        """Returns when so many traces are stored and none of their evaluations waits or runs.

        Where nothing runs and all that waits is due later, the time of day is put forward to when the first
        of it is due, or the last.
        """
        wait_for(
            lambda: self.faults or (self.count("SELECT count(*) FROM trace") == traces and self._is_done()),
            seconds=seconds,
            what=f"the last evaluation of {traces} traces",
        )
        assert self.faults == []
        assert self.query("SELECT reason, message FROM parked_message") == []

    def read_series(self, name: str) -> dict[str, float]:
        """The samples of a series by their labels as exposed."""
        lines = self.stages.sink.series.render().body.decode().splitlines()
        samples = [
            line.removeprefix(f"ragsonde_{name}") for line in lines if line.startswith(f"ragsonde_{name}{{")
        ]
        return {labels: float(value) for labels, value in (sample.rsplit(" ", 1) for sample in samples)}

    def _is_done(self) -> bool:
        ((waiting, running, first_due_at, last_due_at),) = self.query(WHAT_IS_LEFT)
        if waiting and not running and first_due_at > self.clock.now():
            due_at = last_due_at if self._skips_to_last else first_due_at
            self.clock.advance((due_at - self.clock.now()).total_seconds())
        return not waiting and not running

    def _submit(self, work: Any, subject: Any) -> None:  # noqa: ANN401 - a function and what it works on
        self._pool.submit(work, subject, self.stages).add_done_callback(self._note)

    def _note(self, done: Future[None]) -> None:
        error = None if done.cancelled() else done.exception()
        if error is not None:
            self.faults.append(error)

    def _sweep(self) -> None:
        while not self._stopping.wait(SWEEP_SECONDS):
            due = take_due(
                self.engine, now=self.clock.now(), limit=1000, queued_for_seconds=self._lease_seconds
            )
            for key in due:
                self._submit(evaluate, key)


def make_judge(llm_url: str, **options: Any) -> dict[str, Any]:  # noqa: ANN401 - any option of a judge
    """The options of an LLM judge at a mock provider."""
    given = {
        "name": "gpt",
        "kind": "litellm",
        "model": "openai/mock",
        "api_base": llm_url,
        "reply_format": "json",
    }
    return {**given, **options}
