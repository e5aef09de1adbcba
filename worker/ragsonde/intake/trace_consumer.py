"""TraceConsumer: Celery's consumer, for which a foreign delivery is a task like any other.

One hop: the delivery is rewritten in place, so Celery's own strategy, prefetch window, ack and reject
promises and reconnects apply to it, and the broker's message is acked only after the task's last commit.
"""

from __future__ import annotations

import logging
import uuid
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from celery.worker import state
from celery.worker.consumer import Consumer
from vine import promise as vine_promise

from ragsonde.intake import backfill_feed
from ragsonde.intake.backfill_feed import BackfillFeed
from ragsonde.intake.deliveries import read_envelope
from ragsonde.intake.foreign_queues import list_foreign, look_up
from ragsonde.intake.topology import BACKFILL, TRACES, TRACES_DEAD, WORK
from ragsonde.intake.work_message import FILE_MESSAGE

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from kombu import Connection
    from kombu.message import Message

    from ragsonde.intake.consumption import Consumption

logger = logging.getLogger(__name__)

INGEST = "ragsonde.ingest"
BURY = "ragsonde.bury"
EVALUATE = "ragsonde.evaluate"
INGEST_FILE = "ragsonde.ingest_file"

MISSING_QUEUE_RETRY_SECONDS = 5.0
TURN_SECONDS = 1.0
"""An idle loop turns this often: a signal does not wake it, and only there it looks whether it is to stop."""

_TASK_NAMESPACE = uuid.UUID("6f0d5a5e-1f6c-5d1b-9f0e-2f4f4d3a7c11")


class TraceConsumer(Consumer):
    """Takes foreign deliveries and our own work messages; every decision is made in the pool.

    A delivery is our own only if the broker says that it came through the exchange `ragsonde.work`. Of any
    delivery, our own too, headers are data: nothing in them names a task, a time or a callback.
    """

    class Blueprint(Consumer.Blueprint):
        """Celery's steps without those that only declare things that we never use."""

        # DelayedDelivery declares 28 queues for countdowns beside a quorum queue; we retry from Postgres.
        # Gossip, Heart, Control and Agent are left out. Mingle and Events are here because Tasks requires
        # them; the worker is started without them, and then they do nothing.
        default_steps = (
            "celery.worker.consumer.connection:Connection",
            "celery.worker.consumer.mingle:Mingle",
            "celery.worker.consumer.events:Events",
            "celery.worker.consumer.tasks:Tasks",
            "celery.worker.consumer.consumer:Evloop",
        )

    def connect(self) -> Connection:
        """A connection to the broker; waits for one for as long as it takes."""
        self.app.conf.ragsonde_consumption.on_connecting()
        connection: Connection = super().connect()
        self._select_queues(connection)
        return connection

    def create_task_handler(self, promise: Callable[..., Any] = vine_promise) -> Callable[[Message], None]:
        """Celery's handler, behind the rewriting of foreign deliveries; called each time the loop begins."""
        self._handle_task: Callable[[Message], None] = super().create_task_handler(promise)
        consumption: Consumption = self.app.conf.ragsonde_consumption
        self.hub.timer.call_repeatedly(TURN_SECONDS, consumption.beat)
        self.hub.call_soon(consumption.on_consuming, self)
        if self.app.conf.ragsonde_backfill_places:
            self.hub.timer.call_repeatedly(backfill_feed.TURN_SECONDS, self._feed, (self._build_feed(),))
        return self._handle_delivery

    def on_decode_error(self, message: Message, exc: Exception) -> None:  # noqa: ARG002 - Celery's signature
        """Takes what kombu could not read as bytes; Celery would log the body and ack the message away."""
        self._handle_delivery(message)

    def _handle_delivery(self, message: Message) -> None:
        consumer_tags = self.task_consumer._active_tags  # noqa: SLF001 - kombu tells them nowhere else
        self._handle(message, queue=find_queue(message, consumer_tags=consumer_tags))

    def _handle(self, message: Message, *, queue: str) -> None:
        rewrite_as_task(message, queue=queue, max_body_bytes=self.app.conf.ragsonde_max_body_bytes)
        self._handle_task(message)

    def _build_feed(self) -> BackfillFeed:
        return BackfillFeed(
            self.connection,
            handle=partial(self._handle, queue=BACKFILL),
            places=self.app.conf.ragsonde_backfill_places,
            threads=self.app.conf.worker_concurrency,
            count_reserved=lambda: len(state.reserved_requests),
        )

    def _feed(self, feed: BackfillFeed) -> None:
        is_stopping = state.should_stop is not None or state.should_terminate is not None
        if not is_stopping and not self.app.conf.ragsonde_consumption.is_paused:
            feed.turn()

    def _select_queues(self, connection: Connection) -> None:
        """Consumes what exists: a foreign queue that is missing must not keep ours from being consumed."""
        queues = self.app.amqp.queues
        foreign = list_foreign(queues)
        if not foreign:
            return
        missing = [queue.name for queue in look_up(connection, foreign) if not queue.exists]
        queues.select([name for name in queues if name not in missing])
        for name in missing:
            logger.warning("foreign_queue_missing", extra={"queue": name})
            self.timer.call_after(MISSING_QUEUE_RETRY_SECONDS, self._consume_if_present, (name,))

    def _consume_if_present(self, name: str) -> None:
        if self.connection is None:
            return
        (queue,) = look_up(self.connection, [name])
        if queue.exists:
            self.add_task_queue(name)
            logger.info("foreign_queue_found", extra={"queue": name})
        else:
            self.timer.call_after(MISSING_QUEUE_RETRY_SECONDS, self._consume_if_present, (name,))


def choose_task(message: Message, *, queue: str) -> str:
    """The task for a delivery: the broker's own word on where it came from decides, never a header."""
    if (message.delivery_info or {}).get("exchange") == WORK:
        is_of_file = queue == BACKFILL and message.content_type == FILE_MESSAGE
        return INGEST_FILE if is_of_file else EVALUATE
    return BURY if queue == TRACES_DEAD else INGEST


def find_queue(message: Message, *, consumer_tags: Mapping[str, str]) -> str:
    """The queue that a delivery was taken from.

    Args:
        message: kombu's message.
        consumer_tags: the tag under which each queue is consumed. AMQP gives it with every delivery; Valkey
            does not, and there only what went through our own exchanges is consumed.
    """
    delivery_info = message.delivery_info or {}
    tag = delivery_info.get("consumer_tag")
    for queue, its_tag in consumer_tags.items():
        if its_tag == tag:
            return queue
    # a message of the default exchange names its queue
    is_default = delivery_info.get("exchange") in {"", None}
    return str(delivery_info.get("routing_key") or TRACES) if is_default else TRACES


def rewrite_as_task(message: Message, *, queue: str, max_body_bytes: int) -> None:
    """Turns a delivery in place into the message of the task that reads it.

    The headers are rebuilt from nothing, so nobody can name a task, an eta or a callback. The arguments are
    handed over as Python values: nothing is serialised between consumer and threads.
    """
    envelope = read_envelope(
        message, queue=queue, received_at=datetime.now(UTC), max_body_bytes=max_body_bytes
    )
    message.headers = {
        "lang": "py",
        "task": choose_task(message, queue=queue),
        "id": str(uuid.uuid5(_TASK_NAMESPACE, envelope.message_key)),
        "argsrepr": "(...)",
        "kwargsrepr": "{}",
    }
    message.properties = {"delivery_tag": message.delivery_tag}
    message.errors = []
    message.body = b""
    # kombu's Message answers `payload` from here: the strategy reads the arguments without decoding
    message._decoded_cache = {"args": (envelope,), "kwargs": {}}  # noqa: SLF001 - kombu has no public setter
