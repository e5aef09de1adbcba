"""A Waitress server on which nobody stays at the cost of others: the late and the silent make room."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from waitress.adjustments import Adjustments
from waitress.server import TcpWSGIServer
from waitress.task import ThreadedTaskDispatcher

from ragsonde.web.connection import Connection

if TYPE_CHECKING:
    import socket

    from _typeshed.wsgi import WSGIApplication

logger = logging.getLogger(__name__)

_RESERVE = 100


class RoomyServer(TcpWSGIServer):
    """Takes every new connection; where there are too many, that which was silent for the longest goes.

    Args:
        application: answers whole requests.
        channels: the map of the loop that drives this server.
        bound: listens from now on.
        threads: requests that are worked on at once.
        connections: open at once.
        request_seconds: for a whole request to arrive, however its bytes are spread.
        adjustments: further ones of Waitress, by name.
    """

    channel_class = Connection
    active_channels: dict[int, Connection]

    def __init__(
        self,
        application: WSGIApplication,
        channels: dict[int, object],
        *,
        bound: socket.socket,
        threads: int,
        connections: int,
        request_seconds: float,
        **adjustments: object,
    ) -> None:
        self.request_seconds = request_seconds
        self._connections = connections
        self._closed_for_room = 0
        logging.getLogger("waitress.queue").setLevel(logging.ERROR)  # the number of connections bounds it
        super().__init__(
            application,
            channels,
            _sock=bound,
            bind_socket=False,
            dispatcher=start_threads(threads),
            adj=Adjustments(
                sockets=[bound],
                threads=threads,
                connection_limit=connections
                + _RESERVE,  # reached only where nothing can be closed for another
                cleanup_interval=1,
                ident=None,
                clear_untrusted_proxy_headers=False,  # nothing of theirs is believed
                log_socket_errors=False,
                **adjustments,
            ),
            sockinfo=(bound.family, bound.type, bound.proto, bound.getsockname()),
        )

    def maintenance(self, now: float) -> None:
        """Closes connections that are silent for long, or in the middle of a request that is late.

        Called once a second.
        """
        super().maintenance(now)
        if self._closed_for_room:
            extra = {"closed": self._closed_for_room, "open": len(self.active_channels)}
            logger.warning("connections_full", extra=extra)
            self._closed_for_room = 0
        for channel in self.active_channels.values():
            if channel.is_late:
                channel.will_close = True

    def handle_accept(self) -> None:
        """Takes a new connection, and closes another where there are too many."""
        super().handle_accept()
        while len(self.active_channels) > self._connections and self._make_room():
            self._closed_for_room += 1

    def _make_room(self) -> bool:
        *others, _newest = self.active_channels.values()  # who has just come had no time to send anything
        waiting = [one for one in others if not one.is_worked_on]
        waiting.sort(key=Connection.rank_for_closing)
        needless = next((one for one in waiting if not one.has_unread()), None)
        if needless is not None:
            needless.handle_close()
        return needless is not None


def start_threads(number: int) -> ThreadedTaskDispatcher:
    """Threads that wait for requests to work on."""
    dispatcher = ThreadedTaskDispatcher()
    dispatcher.set_thread_count(number)
    return dispatcher
