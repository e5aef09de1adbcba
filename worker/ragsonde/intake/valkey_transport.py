"""kombu's Redis transport with a journal, so that a killed worker loses no message on the embedded Valkey.

kombu fetches by BRPOP and notes the message as unacked in a second step. Killed between the two (on a busy
worker that is some milliseconds of every fetch), a message is in no list any more. Here each publish also
writes the message to a hash, in the same transaction as to its queue, and each ack removes it from there:
what is in the hash and nowhere else was lost in that gap, and `unacked.restore_unacked` puts it back.
"""

from __future__ import annotations

from typing import Any

from kombu.transport import redis, virtual
from kombu.utils.json import dumps

JOURNAL = "ragsonde.journal"
"""Hash: delivery tag -> [message, exchange, routing key], as kombu's own hash of unacked messages."""


class QoS(redis.QoS):
    """Acknowledgements that reach the journal too."""

    def _remove_from_indices(self, delivery_tag: str, pipe: Any = None) -> Any:  # noqa: ANN401 - untyped library
        with self.pipe_or_acquire(pipe) as acquired:
            super()._remove_from_indices(delivery_tag, acquired)
            return acquired.hdel(JOURNAL, delivery_tag)


class Message(virtual.Message):
    """A delivery whose body is never unpacked because a header says so."""

    def __init__(self, payload: dict[str, Any], channel: Any = None, **options: Any) -> None:  # noqa: ANN401 - untyped library
        headers = {name: value for name, value in payload["headers"].items() if name != "compression"}
        super().__init__({**payload, "headers": headers}, channel=channel, **options)


class Channel(redis.Channel):
    """A channel whose messages are in the journal until they are acked."""

    QoS = QoS
    Message = Message

    def _put(self, queue: str, message: dict[str, Any], **_: object) -> None:
        priority = self._get_message_priority(message, reverse=False)
        with self.conn_or_acquire() as client, client.pipeline(transaction=True) as pipe:
            _write_journal(pipe, message)
            pipe.lpush(self._q_for_pri(queue, priority), dumps(message))
            pipe.execute()

    def _do_restore_message(
        self,
        payload: dict[str, Any],
        exchange: str,
        routing_key: str,
        pipe: Any,  # noqa: ANN401 - untyped library
        leftmost: bool = False,  # noqa: FBT001, FBT002 - kombu's signature
    ) -> None:
        super()._do_restore_message(payload, exchange, routing_key, pipe, leftmost)
        _write_journal(pipe, payload)


class Transport(redis.Transport):
    """The embedded Valkey's transport."""

    Channel = Channel
    implements = redis.Transport.implements.extend(batch_publish=False)


def _write_journal(pipe: Any, message: dict[str, Any]) -> None:  # noqa: ANN401 - untyped library
    properties = message["properties"]
    where = properties["delivery_info"]
    entry = dumps([message, where["exchange"], where["routing_key"]])
    pipe.hset(JOURNAL, properties["delivery_tag"], entry)
