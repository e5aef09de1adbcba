"""HTTP requests that are over in time as a whole: a timeout of a socket limits only the gap between bytes."""

from __future__ import annotations

import socket
import threading
import urllib.request
from contextlib import suppress
from functools import partial
from http.client import HTTPConnection, HTTPResponse, HTTPSConnection
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from types import TracebackType


class TimeLimit:
    """Cuts what it holds when the time is over; who waits for an answer then finds it ended.

    Names are resolved and connections made within limits of their own, those of the resolver and the socket.

    Args:
        seconds: from entering the block on.

    Attributes:
        is_over: what was read may be cut off.
    """

    def __init__(self, seconds: float) -> None:
        self.is_over = False
        self._lock = threading.Lock()
        self._held: list[socket.socket] = []
        self._timer = threading.Timer(seconds, self._cut)
        self._timer.daemon = True

    def __enter__(self) -> Self:
        self._timer.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._timer.cancel()
        with self._lock:
            for held in self._held:
                held.close()
            self._held.clear()

    def hold(self, connected: socket.socket) -> None:
        """Cuts this connection too when the time is over, at once if it is."""
        copy = connected.dup()  # TLS takes the original away
        with self._lock:
            self._held.append(copy)
            if self.is_over:
                _shut(copy)

    def _cut(self) -> None:
        with self._lock:
            self.is_over = True
            for held in self._held:
                _shut(held)


class LimitedHttp(urllib.request.HTTPHandler):
    """Opens http requests under a limit."""

    def __init__(self, limit: TimeLimit) -> None:
        super().__init__()
        self._limit = limit

    def http_open(self, req: urllib.request.Request) -> HTTPResponse:
        """The answer."""
        return self.do_open(partial(_build, _Connection, self._limit), req)


class LimitedHttps(urllib.request.HTTPSHandler):
    """Opens https requests under a limit."""

    def __init__(self, limit: TimeLimit) -> None:
        super().__init__()
        self._limit = limit

    def https_open(self, req: urllib.request.Request) -> HTTPResponse:
        """The answer."""
        return self.do_open(partial(_build, _TlsConnection, self._limit), req)


class _Connection(HTTPConnection):
    limit: TimeLimit

    def connect(self) -> None:
        super().connect()
        self.limit.hold(self.sock)


class _TlsConnection(HTTPSConnection, _Connection):
    """Over TLS: the connection below is held before the handshake begins."""


def _build(kind: type[_Connection], limit: TimeLimit, host: str, /, **options: Any) -> _Connection:  # noqa: ANN401 - of http.client
    connection = kind(host, **options)
    connection.limit = limit
    return connection


def _shut(held: socket.socket) -> None:
    with suppress(OSError):  # the other side was faster
        held.shutdown(socket.SHUT_RDWR)
