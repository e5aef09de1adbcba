"""The queue of backfills, taken from one by one, and only while live traffic leaves the process room.

It is not consumed: a consumer is given as much as its prefetch allows, whatever else waits, and the threads
of a process would be full of a slow backfill when a live trace comes. Here the loop asks for one message at a
time, while fewer than a quarter of the threads work for backfills and live deliveries take less than half.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from kombu import Queue

from ragsonde.intake.topology import BACKFILL

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kombu import Connection
    from kombu.message import Message
    from kombu.transport.virtual import Channel

logger = logging.getLogger(__name__)

TURN_SECONDS = 0.1
"""How often the loop looks whether there is room."""
IDLE_TURNS = 10
"""So many turns an empty queue is left alone."""
_THREADS_A_PLACE = 4


def count_places(threads: int, *, concurrencies: Sequence[int | None] = ()) -> int:
    """How many deliveries of backfills a process works on at once: a quarter of its threads, at least one.

    Args:
        threads: of the process.
        concurrencies: `max_concurrency` of its judges; of each a backfill takes half at most, at least one.
    """
    halves = [max(1, most // 2) for most in concurrencies if most is not None]
    return max(1, min(threads // _THREADS_A_PLACE, *halves, threads))


class BackfillFeed:
    """Takes deliveries off the queue of backfills; used by the loop's thread alone.

    Args:
        connection: the consumer's; a channel of its own is opened on it when it is first needed.
        handle: what is done with a delivery, as with any other.
        places: deliveries held at once.
        threads: of the process.
        count_reserved: how many deliveries of any kind the process holds now.
    """

    def __init__(
        self,
        connection: Connection,
        *,
        handle: Callable[[Message], None],
        places: int,
        threads: int,
        count_reserved: Callable[[], int],
    ) -> None:
        self._connection = connection
        self._handle = handle
        self._places = places
        self._most_live = max(1, threads // 2)
        self._count_reserved = count_reserved
        self._channel: Channel | None = None
        self._held: list[Message] = []
        self._turns_to_skip = 0

    def turn(self) -> None:
        """Takes what there is room for; an empty queue is left alone for a second."""
        self._held = [message for message in self._held if not message.acknowledged]
        if self._turns_to_skip:
            self._turns_to_skip -= 1
            return
        while self._has_room():
            message = self._take()
            if message is None:
                self._turns_to_skip = IDLE_TURNS
                return
            self._held.append(message)
            self._handle(message)

    def _has_room(self) -> bool:
        live = self._count_reserved() - len(self._held)
        return len(self._held) < self._places and live < self._most_live

    def _take(self) -> Message | None:
        try:
            if self._channel is None:
                self._channel = self._connection.channel()
            message: Message | None = Queue(BACKFILL, channel=self._channel, no_declare=True).get(
                accept=["json"]
            )
        except (*self._connection.connection_errors, *self._connection.channel_errors) as error:
            # the loop itself notices a lost connection, and begins anew with another feed
            self._channel = None
            logger.warning("backfill_queue_not_read", extra={"error": type(error).__name__})
            return None
        return message
