"""TraceConsumer: Celery's consumer, for which a foreign delivery is a task like any other.

One hop: the delivery is rewritten in place, so Celery's own strategy, prefetch window, ack and reject
promises and reconnects apply to it, and the broker's message is acked only after the task's last commit.
"""

from __future__ import annotations

import uuid
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from celery.worker.consumer import Consumer
from vine import promise as vine_promise

from ragsonde.intake.consumption import PULSE_SECONDS
from ragsonde.intake.deliveries import read_envelope
from ragsonde.intake.foreign_queues import list_foreign, look_up
from ragsonde.intake.topology import DEAD, TRACES, TRACES_DEAD, WORK

if TYPE_CHECKING:
    from collections.abc import Callable

    from kombu import Connection
    from kombu.message import Message

    from ragsonde.intake.consumption import Consumption

INGEST = "ragsonde.ingest"
BURY = "ragsonde.bury"
EVALUATE = "ragsonde.evaluate"

MISSING_QUEUE_RETRY_SECONDS = 30.0

_TASK_NAMESPACE = uuid.UUID("6f0d5a5e-1f6c-5d1b-9f0e-2f4f4d3a7c11")


class TraceConsumer(Consumer):
    """Takes foreign deliveries and our own work messages; every decision is made in the pool.

    A delivery is our own only if the broker says that it came through the exchange `ragsonde.work` and it
    names the one task that is published there; a `task` header of any other delivery is data.
    """

    class Blueprint(Consumer.Blueprint):
        """Celery's steps without those that only declare things that we never use."""

        # DelayedDelivery declares 28 queues for countdowns beside a quorum queue; we retry from Postgres.
        # Mingle, Events, Gossip and Control are switched off by settings; left out they cost nothing at all.
        default_steps = (
            "celery.worker.consumer.connection:Connection",
            "celery.worker.consumer.mingle:Mingle",
            "celery.worker.consumer.events:Events",
            "celery.worker.consumer.heart:Heart",
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
        handle_task: Callable[[Message], None] = super().create_task_handler(promise)
        max_body_bytes: int = self.app.conf.ragsonde_max_body_bytes
        consumption: Consumption = self.app.conf.ragsonde_consumption
        self.hub.timer.call_repeatedly(PULSE_SECONDS, consumption.beat)
        self.hub.call_soon(consumption.on_consuming, self)

        def handle_delivery(message: Message) -> None:
            if not is_own_work(message):
                rewrite_as_task(message, max_body_bytes=max_body_bytes)
            handle_task(message)

        return handle_delivery

    def _select_queues(self, connection: Connection) -> None:
        """Consumes what exists: a foreign queue that is missing must not keep ours from being consumed."""
        queues = self.app.amqp.queues
        foreign = list_foreign(queues)
        if not foreign:
            return
        missing = [queue.name for queue in look_up(connection, foreign) if not queue.exists]
        queues.select([name for name in queues if name not in missing])
        for name in missing:
            self.timer.call_after(MISSING_QUEUE_RETRY_SECONDS, self._consume_if_present, (name,))

    def _consume_if_present(self, name: str) -> None:
        if self.connection is None:
            return
        (queue,) = look_up(self.connection, [name])
        if queue.exists:
            self.add_task_queue(name)
        else:
            self.timer.call_after(MISSING_QUEUE_RETRY_SECONDS, self._consume_if_present, (name,))


def is_own_work(message: Message) -> bool:
    """True when the broker itself says that this message came through our work exchange, as our task."""
    delivery_info = message.delivery_info or {}
    headers = message.headers if isinstance(message.headers, dict) else {}
    return delivery_info.get("exchange") == WORK and headers.get("task") == EVALUATE


def rewrite_as_task(message: Message, *, max_body_bytes: int) -> None:
    """Turns a foreign delivery in place into the message of the task that decodes it.

    The headers are rebuilt from nothing, so a producer cannot name a task, an eta or a callback. The
    arguments are handed over as Python values: nothing is serialised between consumer and threads.
    """
    delivery_info = message.delivery_info or {}
    is_dead_letter = delivery_info.get("exchange") == DEAD
    envelope = read_envelope(
        message,
        queue=TRACES_DEAD if is_dead_letter else _name_queue(delivery_info),
        received_at=datetime.now(UTC),
        max_body_bytes=max_body_bytes,
    )
    task = BURY if is_dead_letter else INGEST
    message.headers = {
        "lang": "py",
        "task": task,
        "id": str(uuid.uuid5(_TASK_NAMESPACE, envelope.message_key)),
        "argsrepr": "(...)",
        "kwargsrepr": "{}",
    }
    message.properties = {"delivery_tag": message.delivery_tag}
    message.errors = []
    message.body = b""
    # kombu's Message answers `payload` from here: the strategy reads the arguments without decoding
    message._decoded_cache = {"args": (envelope,), "kwargs": {}}  # noqa: SLF001 - kombu has no public setter


def _name_queue(delivery_info: dict[str, Any]) -> str:
    # a message of the default exchange names its queue; through our topic exchange it can only be ours
    if delivery_info.get("exchange") in {"", None}:
        return str(delivery_info.get("routing_key") or TRACES)
    return TRACES
