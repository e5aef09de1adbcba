"""One client's connection to the receiver: how its requests are read, and how it learns of the end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from waitress.task import WSGITask

from ragsonde.receiver.request_parser import RequestParser
from ragsonde.web import connection

if TYPE_CHECKING:
    from ragsonde.receiver.request_parser import Reception


class Host(connection.Timing, Protocol):
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


class Connection(connection.Connection):
    """One client's connection, with the requests that came on it."""

    task_class = _Task
    server: Host

    def parser_class(self, adj: object) -> RequestParser:
        """A parser for the next request."""
        server = self.server
        return RequestParser(
            adj, reception=server.reception, client=str(self.addr[0]), is_busy=lambda: server.is_busy
        )

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
