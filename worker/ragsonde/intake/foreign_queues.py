"""Queues that others declared and we only consume, such as the OpenTelemetry Collector's `otlp_spans`."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kombu import Queue

from ragsonde.intake.topology import OUR_QUEUES

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kombu import Connection

_NOT_FOUND = "404"


class ForeignQueue(NamedTuple):
    """A queue that is not ours, as the broker knows it.

    Attributes:
        consumers: how many consume it now; None where the queue does not exist.
    """

    name: str
    consumers: int | None

    @property
    def exists(self) -> bool:
        """True when it can be consumed."""
        return self.consumers is not None


def list_foreign(names: Iterable[str]) -> tuple[str, ...]:
    """Those of the configured names that are not our own queues."""
    return tuple(name for name in names if name not in OUR_QUEUES)


def look_up(connection: Connection, names: Iterable[str]) -> tuple[ForeignQueue, ...]:
    """What the broker knows of each queue; nothing is declared.

    Raises:
        The connection's own errors: the broker went away.
    """
    found = []
    for name in names:
        # a passive declare of a missing queue closes its channel: each gets its own
        channel = connection.channel()
        try:
            declared = Queue(name, channel=channel).queue_declare(passive=True)
            found.append(ForeignQueue(name, declared.consumer_count))
        except connection.channel_errors as error:
            # a number on RabbitMQ, a text on Valkey
            if str(getattr(error, "reply_code", None)) != _NOT_FOUND:
                raise
            found.append(ForeignQueue(name, None))
        finally:
            channel.close()
    return tuple(found)
