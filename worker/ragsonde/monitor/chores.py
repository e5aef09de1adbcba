"""What the monitor does: sweep, close traces, count queues and evaluations."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Protocol

from ragsonde.exposition.series import LEDGER_EVALUATIONS, OPEN_TRACES, QUEUE_MESSAGES, QUEUE_OLDEST, SWEPT
from ragsonde.intake.topology import WORK
from ragsonde.monitor.loop import Job
from ragsonde.storage.due_records import DueRecords
from ragsonde.storage.far_times import bring_near
from ragsonde.storage.ledger import count_states
from ragsonde.storage.sweeping import count_open, find_longest_due, take_due

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from sqlalchemy import Engine

    from ragsonde.exposition.registry import Series
    from ragsonde.intake.work_message import WorkKey
    from ragsonde.ports import Clock

logger = logging.getLogger(__name__)

SWEEPER, QUEUES, LEDGER, FAR_TIMES = "sweeper", "queues", "ledger", "far_times"
ASSEMBLY, GATHERED = "assembly", "gathered"
LEDGER_SPAN = timedelta(hours=24)
JOB_NAMES = (SWEEPER, FAR_TIMES, ASSEMBLY, QUEUES, LEDGER, GATHERED)


class Broker(Protocol):
    """What the jobs need of the broker; `Publisher` is it, and sees to it that our queues are declared."""

    def publish_work(self, keys: Sequence[WorkKey]) -> None:
        """Publishes a work message for each evaluation or gathered trace, confirmed."""
        ...

    def count_messages(self) -> dict[str, int]:
        """Messages ready in each of our queues, by name."""
        ...


class _Take(Protocol):
    """Takes what is due."""

    def __call__(
        self, engine: Engine, *, now: datetime, limit: int, queued_for_seconds: int
    ) -> Sequence[WorkKey]: ...


@dataclass(frozen=True, kw_only=True)
class MonitorOptions:
    """How often and how far the jobs go.

    Attributes:
        queued_for_seconds: after which a published and not yet claimed evaluation is published again.
        sweep_batch: evaluations taken in one transaction.
        sweep_queue_limit: messages on the work queue beyond which the sweeper adds none: workers are behind,
            and an evaluation that waits there longer than `queued_for_seconds` would be queued once more.
        assembly_queue_limit: likewise for traces to be closed; above the other, so that evaluations that wait
            for a slow judge keep no trace from being closed.
    """

    queued_for_seconds: int
    sweep_seconds: float = 5.0
    far_times_seconds: float = 60.0
    sweep_batch: int = 500
    sweep_queue_limit: int = 5_000
    assembly_seconds: float = 1.0
    assembly_queue_limit: int = 6_000
    queue_seconds: float = 15.0
    ledger_seconds: float = 60.0
    gathered_seconds: float = 15.0


@dataclass(frozen=True, kw_only=True)
class Chores:
    """The jobs' work, with what it needs.

    Attributes:
        sweeping_broker, closing_broker, counting_broker: three connections, so that a slow publish neither
            keeps traces open nor hides how deep the queues are.
        should_pause: asked between batches; True ends a run early.
        due_records: remembers to which apps it has come.
    """

    options: MonitorOptions
    engine: Engine
    sweeping_broker: Broker
    closing_broker: Broker
    counting_broker: Broker
    series: Series
    clock: Clock
    should_pause: Callable[[], bool]
    due_records: DueRecords = field(default_factory=DueRecords)

    def build_jobs(self) -> tuple[Job, ...]:
        """All jobs, as the monitor runs them."""
        options = self.options
        return (
            Job(name=SWEEPER, interval_seconds=options.sweep_seconds, run=self.sweep),
            Job(name=FAR_TIMES, interval_seconds=options.far_times_seconds, run=self.bring_near),
            Job(name=ASSEMBLY, interval_seconds=options.assembly_seconds, run=self.close_traces),
            Job(
                name=QUEUES,
                interval_seconds=options.queue_seconds,
                run=self.count_queues,
                is_exclusive=False,
                shows=(QUEUE_MESSAGES,),
            ),
            Job(
                name=LEDGER,
                interval_seconds=options.ledger_seconds,
                run=self.count_ledger,
                is_exclusive=False,
                shows=(LEDGER_EVALUATIONS,),
            ),
            Job(
                name=GATHERED,
                interval_seconds=options.gathered_seconds,
                run=self.count_gathered,
                is_exclusive=False,
                shows=(OPEN_TRACES, QUEUE_OLDEST),
            ),
        )

    def sweep(self) -> None:
        """Publishes the keys of evaluations that are due: waiting and due, or running with the lease over.

        Raises:
            BrokerLostError: what was taken, if anything, is taken again when its time in the queue is over.
            DatabaseLostError: likewise.
        """
        self._publish_due(
            take_due,
            self.sweeping_broker,
            queue_limit=self.options.sweep_queue_limit,
            tell=lambda published: self.series.add(SWEPT, published),
        )

    def bring_near(self) -> None:
        """Makes due now what a clock that ran ahead has put off for weeks.

        Raises:
            DatabaseLostError: nothing was changed, or it is not known.
        """
        changed = bring_near(self.engine, now=self.clock.now())
        if changed:
            logger.warning("far_times_brought_near", extra={"rows": changed})

    def close_traces(self) -> None:
        """Publishes the keys of gathered traces that are due, or whose worker's lease is over.

        Raises:
            BrokerLostError: what was taken, if anything, is taken again when its time in the queue is over.
            DatabaseLostError: likewise.
        """
        self._publish_due(
            self.due_records.take, self.closing_broker, queue_limit=self.options.assembly_queue_limit
        )

    def count_queues(self) -> None:
        """Shows how deep the queues are."""
        depths = self.counting_broker.count_messages()
        self.series.replace(QUEUE_MESSAGES, {(queue,): float(depth) for queue, depth in depths.items()})

    def count_ledger(self) -> None:
        """Shows how many evaluations of the last 24 hours are in which state."""
        counts = count_states(self.engine, since=self.clock.now() - LEDGER_SPAN)
        self.series.replace(LEDGER_EVALUATIONS, {key: float(count) for key, count in counts.items()})

    def count_gathered(self) -> None:
        """Shows how many traces are being gathered, and how long due work has been kept waiting."""
        now = self.clock.now()
        since = find_longest_due(self.engine, now=now)
        self.series.replace(OPEN_TRACES, {(): float(count_open(self.engine))})
        self.series.replace(QUEUE_OLDEST, {(): 0.0 if since is None else (now - since).total_seconds()})

    def _publish_due(
        self, take: _Take, broker: Broker, *, queue_limit: int, tell: Callable[[int], None] = lambda _: None
    ) -> None:
        """In batches, while the queue has room; `tell` hears how many keys each one had."""
        options = self.options
        room = queue_limit - broker.count_messages()[WORK]
        while room > 0 and not self.should_pause():
            limit = min(options.sweep_batch, room)
            keys = take(
                self.engine, now=self.clock.now(), limit=limit, queued_for_seconds=options.queued_for_seconds
            )
            if keys:
                broker.publish_work(keys)
                tell(len(keys))
            if len(keys) < limit:
                return
            room -= len(keys)
