"""One client's connection: whether anything is under way on it, and how little is lost with it."""

from __future__ import annotations

import socket
from typing import Protocol

from waitress.channel import HTTPChannel

from ragsonde.web.timed_parser import TimedParser


class Timing(Protocol):
    """What a connection asks of its server.

    Attributes:
        request_seconds: for a whole request to arrive.
    """

    request_seconds: float


class Connection(HTTPChannel):
    """One client's connection, with the requests that came on it."""

    server: Timing
    socket: socket.socket

    def parser_class(self, adj: object) -> TimedParser:
        """A parser for the next request."""
        return TimedParser(adj, request_seconds=self.server.request_seconds)

    @property
    def is_worked_on(self) -> bool:
        """True while a whole request has no answer yet."""
        return bool(self.requests)

    @property
    def has_begun(self) -> bool:
        """True while a request's body is on its way, or an answer; a head that is not whole is no request."""
        return bool((self.request is not None and self.request.headers_finished) or self.total_outbufs_len)

    @property
    def is_late(self) -> bool:
        """True in the middle of a request that should have arrived by now."""
        return self.request is not None and not self.requests and self.request.is_late

    def has_unread(self) -> bool:
        """True when bytes of the client lie ready: closing now would be a reset, and the answer lost."""
        try:
            return bool(self.socket.recv(1, socket.MSG_PEEK))
        except OSError:  # nothing there, or the client is gone
            return False

    def rank_for_closing(self) -> tuple[bool, float]:
        """Sorts connections that are not worked on by how little is lost with them."""
        return (self.has_begun, self.last_activity)
