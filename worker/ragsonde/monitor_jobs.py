"""What the monitor does: sweep, make and drop partitions, count queues and evaluations."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Protocol

from ragsonde.exposition.series import LEDGER_EVALUATIONS, QUEUE_MESSAGES, SWEPT
from ragsonde.intake.topology import WORK
from ragsonde.monitor import Job
from ragsonde.storage.ledger import count_states
from ragsonde.storage.partitions import drop_expired, ensure_partitions
from ragsonde.storage.sweeping import take_due

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from sqlalchemy import Engine

    from ragsonde.exposition.registry import Series
    from ragsonde.ports import Clock
    from ragsonde_schemas.evaluation import EvaluationKey

logger = logging.getLogger(__name__)

SWEEPER, PARTITIONS, RETENTION, QUEUES, LEDGER = "sweeper", "partitions", "retention", "queues", "ledger"
LEDGER_SPAN = timedelta(hours=24)
JOB_NAMES = (SWEEPER, PARTITIONS, RETENTION, QUEUES, LEDGER)


class Broker(Protocol):
    """What the jobs need of the broker; `Publisher` is it, and sees to it that our queues are declared."""

    def publish_work(self, keys: Sequence[EvaluationKey]) -> None:
        """Publishes a work message for each evaluation, confirmed."""
        ...

    def count_messages(self) -> dict[str, int]:
        """Messages ready in each of our queues, by name."""
        ...


@dataclass(frozen=True, kw_only=True)
class MonitorOptions:
    """How often and how far the jobs go.

    Attributes:
        retention_days: by table.
        queued_for_seconds: after which a published and not yet claimed evaluation is published again.
        sweep_batch: evaluations taken in one transaction.
        sweep_queue_limit: messages on the work queue beyond which the sweeper adds none: workers are behind,
            and an evaluation that waits there longer than `queued_for_seconds` would be queued once more.
        partition_days_ahead: days that have their partitions before they begin.
    """

    retention_days: Mapping[str, int]
    queued_for_seconds: int
    sweep_seconds: float = 5.0
    sweep_batch: int = 500
    sweep_queue_limit: int = 5_000
    partition_seconds: float = 3600.0
    partition_days_ahead: int = 7
    retention_seconds: float = 3600.0
    queue_seconds: float = 15.0
    ledger_seconds: float = 60.0


@dataclass(frozen=True, kw_only=True)
class Chores:
    """The jobs' work, with what it needs.

    Attributes:
        sweeping_broker, counting_broker: two connections, so that a slow publish does not hide how deep the
            queues are.
        should_pause: asked between batches; True ends a run early.
    """

    options: MonitorOptions
    engine: Engine
    sweeping_broker: Broker
    counting_broker: Broker
    series: Series
    clock: Clock
    should_pause: Callable[[], bool]

    def build_jobs(self) -> tuple[Job, ...]:
        """All jobs, as the monitor runs them."""
        options = self.options
        return (
            Job(name=SWEEPER, interval_seconds=options.sweep_seconds, run=self.sweep),
            Job(name=PARTITIONS, interval_seconds=options.partition_seconds, run=self.make_partitions),
            Job(name=RETENTION, interval_seconds=options.retention_seconds, run=self.drop_partitions),
            Job(
                name=QUEUES, interval_seconds=options.queue_seconds, run=self.count_queues, is_exclusive=False
            ),
            Job(
                name=LEDGER,
                interval_seconds=options.ledger_seconds,
                run=self.count_ledger,
                is_exclusive=False,
            ),
        )

    def sweep(self) -> None:
        """Publishes the keys of evaluations that are due: waiting and due, or running with the lease over.

        Raises:
            BrokerLostError: what was taken, if anything, is taken again when its time in the queue is over.
            DatabaseLostError: likewise.
        """
        options = self.options
        room = options.sweep_queue_limit - self.sweeping_broker.count_messages()[WORK]
        while room > 0 and not self.should_pause():
            limit = min(options.sweep_batch, room)
            keys = take_due(
                self.engine, now=self.clock.now(), limit=limit, queued_for_seconds=options.queued_for_seconds
            )
            if keys:
                self.sweeping_broker.publish_work(keys)
                self.series.add(SWEPT, len(keys))
            if len(keys) < limit:
                return
            room -= len(keys)

    def make_partitions(self) -> None:
        """Makes the partitions of today and the days ahead."""
        made = ensure_partitions(
            self.engine, today=self.clock.now().date(), days_ahead=self.options.partition_days_ahead
        )
        if made:
            logger.info("partitions_made", extra={"partitions": len(made)})

    def drop_partitions(self) -> None:
        """Drops the partitions whose day is over their table's age."""
        dropped = drop_expired(
            self.engine, today=self.clock.now().date(), retention=self.options.retention_days
        )
        if dropped:
            logger.info("partitions_dropped", extra={"partitions": dropped})

    def count_queues(self) -> None:
        """Shows how deep the queues are."""
        depths = self.counting_broker.count_messages()
        self.series.replace(QUEUE_MESSAGES, {(queue,): float(depth) for queue, depth in depths.items()})

    def count_ledger(self) -> None:
        """Shows how many evaluations of the last 24 hours are in which state."""
        counts = count_states(self.engine, since=self.clock.now() - LEDGER_SPAN)
        self.series.replace(LEDGER_EVALUATIONS, {key: float(count) for key, count in counts.items()})
