"""Publishes traces and work messages, with the broker's confirm; tells how deep the queues are."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

from amqp.exceptions import MessageNacked
from kombu import Connection, Exchange, Producer
from kombu.exceptions import KombuError, OperationalError

from ragsonde.intake.broker_urls import name_transport
from ragsonde.intake.deliveries import KEY_HEADER
from ragsonde.intake.foreign_queues import ForeignQueue, look_up
from ragsonde.intake.topology import (
    BACKFILL,
    TRACE_EXCHANGE,
    TRACES,
    TRACES_DEAD,
    WORK,
    WORK_EXCHANGE,
    build_own_queues,
)
from ragsonde.intake.work_message import FILE_MESSAGE, write_key
from ragsonde_schemas.errors import BrokerLostError, RagsondeError, SetupError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from kombu.transport.virtual import Channel

    from ragsonde.intake.work_message import WorkKey
    from ragsonde_schemas.envelope import Envelope

_CONNECT_RETRIES = 3
_CONFIRM_TIMEOUT_SECONDS = 30
_CLOSE_SECONDS = 1.0
_ANSWER_SECONDS = 30.0
"""For any answer of the broker: behind a silent network none ever comes."""
PRECONDITION_FAILED = 406
_REFUSALS = frozenset({403, 530})
"""Access refused; no such virtual host."""


class _BlockedError(RagsondeError):
    """The broker is short of disk or memory; until that is over it reads nothing more from us."""


class Publisher:
    """One connection, used by one thread at a time; every new one declares the topology first.

    So whatever was deleted is there again after the one failure that tells of it, and nothing is declared
    twice on a connection that lasts.

    Args:
        broker_url: as Celery takes it.
        declares: False for who only looks: then nothing is declared on RabbitMQ.
    """

    def __init__(self, broker_url: str, *, declares: bool = True) -> None:
        self._connection = Connection(
            name_transport(broker_url),
            # a publish returns only when the broker has the message, or says that it takes none
            transport_options={"confirm_publish": True, "on_blocked": _refuse},
            connect_timeout=5,
        )
        self._declares = declares
        self._lock = threading.Lock()
        self._channel: Channel | None = None
        self._is_amqp = self._connection.transport.driver_type == "amqp"

    def publish_trace(
        self,
        body: bytes,
        *,
        content_type: str | None,
        routing_key: str = TRACES,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        """Publishes a message as a producer would; returns when the broker has confirmed it.

        Raises:
            BrokerLostError: not confirmed: the broker is away, the queue is full or missing.
            SetupError: something of ours exists with other arguments.
        """
        with self._open_channel() as channel:
            self._send(
                Producer(channel, exchange=TRACE_EXCHANGE, auto_declare=False),
                body,
                routing_key=routing_key,
                content_type=content_type or "application/octet-stream",
                content_encoding="binary",
                headers=dict(headers or {}),
            )

    def publish_again(self, envelope: Envelope) -> None:
        """Publishes a message to the queue that it was taken from, as it came; returns when it is confirmed.

        To the broker it is a new message: what it wrote into the headers (`x-death`, `x-delivery-count`)
        stays behind. Its time stays that of the first: where a trace names none, it is guessed from that.

        Raises:
            BrokerLostError: not confirmed: the broker is away, the queue is full or missing.
            SetupError: something of ours exists with other arguments.
        """
        exchange, routing_key = _find_road(envelope.queue)
        properties: dict[str, object] = {
            "timestamp": int((envelope.published_at or envelope.received_at).timestamp())
        }
        if envelope.message_id is not None:
            properties["message_id"] = envelope.message_id
        with self._open_channel() as channel:
            self._send(
                Producer(channel, exchange=exchange, auto_declare=False),
                envelope.body,
                routing_key=routing_key,
                content_type=envelope.content_type or "application/octet-stream",
                content_encoding=envelope.content_encoding or "binary",
                headers={
                    KEY_HEADER: envelope.message_key,
                    **{name: value for name, value in envelope.headers.items() if not name.startswith("x-")},
                },
                **properties,
            )

    def publish_work(self, keys: Sequence[WorkKey], *, queue: str = WORK) -> None:
        """Publishes a work message for each evaluation or gathered trace; returns when all are confirmed.

        Args:
            keys: of what is due.
            queue: `ragsonde.work`, or `ragsonde.backfill` for what must not keep live traffic waiting.

        Raises:
            BrokerLostError: some may be missing; the sweeper publishes them again when their time is over.
            SetupError: something of ours exists with other arguments.
        """
        with self._open_channel() as channel:
            producer = Producer(channel, exchange=WORK_EXCHANGE, auto_declare=False)
            for key in keys:
                self._send(
                    producer,
                    write_key(key),
                    routing_key=queue,
                    content_type="application/json",
                    content_encoding="utf-8",
                )

    def publish_file(self, body: bytes, *, backfill: int) -> None:
        """Publishes a message of a backfill's file; returns when the broker has confirmed it.

        Raises:
            BrokerLostError: not confirmed: the broker is away, the queue is full or missing.
            SetupError: something of ours exists with other arguments.
        """
        with self._open_channel() as channel:
            self._send(
                Producer(channel, exchange=WORK_EXCHANGE, auto_declare=False),
                body,
                routing_key=BACKFILL,
                content_type=FILE_MESSAGE,
                content_encoding="binary",
                message_id=str(backfill),
            )

    def count_messages(self) -> dict[str, int]:
        """How many messages are ready in each of our queues, by name.

        Raises:
            BrokerLostError: the broker cannot be reached, or a queue is not there.
            SetupError: something of ours exists with other arguments.
        """
        with self._open_channel() as channel:
            # Valkey has no empty queues: there, asking passively for one is an error
            return {
                queue.name: queue(channel).queue_declare(passive=self._is_amqp).message_count
                for queue in build_own_queues(is_amqp=self._is_amqp)
            }

    def declare_topology(self) -> None:
        """Makes sure that exchanges, queues and bindings have been declared on this connection.

        Raises:
            BrokerLostError: the broker cannot be reached.
            SetupError: something of that name exists with other arguments.
        """
        with self._open_channel():
            pass

    def look_up(self, names: Iterable[str]) -> tuple[ForeignQueue, ...]:
        """What the broker knows of queues that are not ours.

        Raises:
            BrokerLostError: the broker cannot be reached.
            SetupError: something of ours exists with other arguments.
        """
        with self._open_channel():
            return look_up(self._connection, names)

    def close(self) -> None:
        """Closes the connection; one that a call hangs on is left to the end of the process."""
        if self._lock.acquire(timeout=_CLOSE_SECONDS):
            try:
                self._channel = None
                self._connection.close()
            finally:
                self._lock.release()

    def _send(self, producer: Producer, body: object, **properties: object) -> None:
        producer.publish(
            body,
            delivery_mode=2,
            mandatory=self._is_amqp,
            retry=False,
            timeout=_CONFIRM_TIMEOUT_SECONDS,
            **properties,
        )

    @contextmanager
    def _open_channel(self) -> Iterator[Channel]:
        with self._lock:
            try:
                if self._channel is None or not self._connection.connected:
                    self._channel = self._connect()
                yield self._channel
            except MessageNacked as error:
                # this connection may be refused for ever where the limit is raised: the next is a new one
                self._forget()
                raise BrokerLostError(
                    f"{self._connection.as_uri()}: the broker refused the message: its queue is full"
                ) from error
            except _BlockedError as error:
                self._forget()
                raise BrokerLostError(
                    f"{self._connection.as_uri()}: the broker is short of disk or memory and takes nothing "
                    "from publishers (rabbitmqctl status names its alarms); send it again later"
                ) from error
            except (*self._connection.connection_errors, *self._connection.channel_errors) as error:
                self._forget()
                raise translate_error(error, place=self._connection.as_uri()) from error
            except (KombuError, OperationalError) as error:
                self._forget()
                raise translate_error(error, place=self._connection.as_uri()) from error

    def _connect(self) -> Channel:
        self._connection.ensure_connection(max_retries=_CONNECT_RETRIES, interval_start=0.2)
        if self._is_amqp:
            self._connection.connection.sock.settimeout(_ANSWER_SECONDS)
        channel: Channel = self._connection.channel()
        # on Valkey kombu routes in this process: for an exchange that was not
        # declared here it finds no queue and drops the message without a word
        if self._declares or not self._is_amqp:
            for queue in build_own_queues(is_amqp=self._is_amqp):
                queue(channel).declare()
        return channel

    def _forget(self) -> None:
        """Lets go of a connection that failed, without the broker's consent: it may never answer."""
        self._channel = None
        self._connection.collect(socket_timeout=_CLOSE_SECONDS)


def _refuse(reason: str) -> None:
    """Called by py-amqp in the middle of a publish when the broker blocks its connection."""
    raise _BlockedError(reason)


def _find_road(queue: str) -> tuple[Exchange, str]:
    """Exchange and routing key by which a message comes to a queue.

    A dead letter of which nobody knows the queue was, most likely, a trace.
    """
    if queue in {TRACES, TRACES_DEAD}:
        return TRACE_EXCHANGE, TRACES
    if queue in {WORK, BACKFILL}:
        return WORK_EXCHANGE, queue
    return Exchange(""), queue


def translate_error(error: Exception, *, place: str) -> BrokerLostError | SetupError:
    """What an error of the broker means: it is away for now, or somebody must change something first."""
    code = getattr(error, "code", None) or getattr(error.__cause__, "code", None)
    if code == PRECONDITION_FAILED:
        return SetupError(explain_precondition(str(error)))
    if code in _REFUSALS:
        return SetupError(
            f"{place}: the broker refuses us ({error}): correct user, password or virtual host in "
            "broker_url, or that user's permissions (rabbitmqctl set_permissions)"
        )
    return BrokerLostError(f"{place}: {type(error).__name__}: {error}")


def explain_precondition(reply: str) -> str:
    """What to do when a queue or exchange exists with other arguments; `reply` is the broker's sentence."""
    return (
        f"the broker refused a declaration: {reply}. It names the queue and the argument that differ from "
        "ours. Drain that queue and delete it (rabbitmqctl delete_queue NAME), then start again: it is "
        "declared anew; limits that you want to tune belong in a RabbitMQ policy, not in the arguments."
    )
