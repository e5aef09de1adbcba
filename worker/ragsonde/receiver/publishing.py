"""Publishing from many threads: a few connections to the broker, each used by one thread at a time."""

from __future__ import annotations

import logging
import time
from queue import LifoQueue
from typing import TYPE_CHECKING, Protocol

from ragsonde_schemas.errors import BrokerLostError, SetupError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

logger = logging.getLogger(__name__)

_QUICK_SECONDS = 1.0
_REST_SECONDS = 2.0
_REFUSED = "the broker is away, or its queue is full"


class TracePublisher(Protocol):
    """Puts messages on the trace queue."""

    def publish_trace(self, body: bytes, *, content_type: str | None) -> None:
        """Publishes a message; returns when the broker has confirmed it.

        Raises:
            BrokerLostError: not confirmed: the broker is away, or its queue is full or missing.
            SetupError: something of ours exists with other arguments.
        """
        ...


class SharedPublishers:
    """Some publishers, one connection each, that many threads publish through.

    The one that was used last is taken first, so that few connections are ever opened. A broker that is away,
    or refuses, is left alone for two seconds: meanwhile every thread is told so at once, instead of opening a
    connection for the same failure.

    Args:
        publishers: as many as messages are published at once; a further one waits.
        is_away: True while the broker is known to be away: then it is not tried.
        monotonic: seconds that only grow.
    """

    def __init__(
        self,
        publishers: Sequence[TracePublisher],
        *,
        is_away: Callable[[], bool] = lambda: False,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._free: LifoQueue[TracePublisher] = LifoQueue()
        for publisher in publishers:
            self._free.put(publisher)
        self._is_away = is_away
        self._monotonic = monotonic
        self._rests_until = float("-inf")

    def publish_trace(self, body: bytes, *, content_type: str | None) -> None:
        """Publishes a message, and once more where it fails at once.

        An idle connection that the broker has closed is found out only by using it. Publishing twice is
        harmless: a trace is scored once.

        Raises:
            BrokerLostError: not confirmed. Its words are for a client: the log has the broker's.
        """
        if self._is_away() or self._monotonic() < self._rests_until:
            raise BrokerLostError(_REFUSED)
        publisher = self._free.get()
        try:
            if not self._attempt(publisher, body, content_type=content_type):
                publisher.publish_trace(body, content_type=content_type)
        except BrokerLostError as error:
            self._rests_until = self._monotonic() + _REST_SECONDS
            logger.warning("publish_failed", extra={"error": str(error)})
            raise BrokerLostError(_REFUSED) from error
        except SetupError as error:
            logger.exception("publish_failed", extra={"error": str(error)})
            raise BrokerLostError(_REFUSED) from error
        finally:
            self._free.put(publisher)

    def _attempt(self, publisher: TracePublisher, body: bytes, *, content_type: str | None) -> bool:
        """True when it was published, False when it failed so quickly that another attempt costs little."""
        begun = self._monotonic()
        try:
            publisher.publish_trace(body, content_type=content_type)
        except BrokerLostError:
            if self._monotonic() - begun > _QUICK_SECONDS:
                raise
            return False
        return True
