"""One client's connection: whether anything is under way on it, and how its client learns of the end."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING, Protocol

from waitress.channel import HTTPChannel
from waitress.task import WSGITask

from ragsonde.receiver.request_parser import RequestParser

if TYPE_CHECKING:
    from ragsonde.receiver.request_parser import Reception


class Host(Protocol):
    """What a connection asks of its server.

    Attributes:
        reception: how requests are read.
        is_draining: no further request is wanted.
    """

    reception: Reception
    is_draining: bool

    @property
    def is_busy(self) -> bool:
        """True while so many posted requests wait that no more are let in."""
        ...


class _Task(WSGITask):
    """One answer; the last one on its connection says so: its client sends the next one elsewhere."""

    channel: Connection

    def build_response_header(self) -> bytes:
        """Status line and headers."""
        if self.channel.is_at_its_end:
            self.request.headers["CONNECTION"] = "close"
        header: bytes = super().build_response_header()
        return header


class Connection(HTTPChannel):
    """One client's connection, with the requests that came on it."""

    task_class = _Task
    server: Host
    socket: socket.socket

    def parser_class(self, adj: object) -> RequestParser:
        """A parser for the next request."""
        server = self.server
        return RequestParser(
            adj, reception=server.reception, client=str(self.addr[0]), is_busy=lambda: server.is_busy
        )

    @property
    def is_worked_on(self) -> bool:
        """True while a whole request has no answer yet."""
        return bool(self.requests)

    @property
    def has_begun(self) -> bool:
        """True while a request's body is on its way, or an answer; a head that is not whole is no request."""
        return bool((self.request is not None and self.request.headers_finished) or self.total_outbufs_len)

    @property
    def is_idle(self) -> bool:
        """True between requests, when the last answer has left and nothing has come since."""
        return not self.is_worked_on and not self.has_begun and not self.has_unread()

    @property
    def is_at_its_end(self) -> bool:
        """True when the request that is being answered is to be the last."""
        with self.requests_lock:  # bytes that came together may hold several requests, and are being cut
            is_only = len(self.requests) == 1 and self.request is None
        return self.server.is_draining and is_only and not self.has_unread()

    def has_unread(self) -> bool:
        """True when bytes of the client lie ready: closing now would be a reset, and the answer lost."""
        try:
            return bool(self.socket.recv(1, socket.MSG_PEEK))
        except OSError:  # nothing there, or the client is gone
            return False

    def rank_for_closing(self) -> tuple[bool, float]:
        """Sorts connections that are not worked on by how little is lost with them."""
        return (self.has_begun, self.last_activity)
