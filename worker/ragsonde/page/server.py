"""The HTTP server of the page: Waitress in a thread, with bounds for slow and for many clients."""

from __future__ import annotations

import errno
import logging
import socket
from contextlib import suppress
from threading import Thread
from typing import TYPE_CHECKING, Any

from waitress import wasyncore

from ragsonde.page.application import REQUEST_MAX_BYTES
from ragsonde.web.roomy_server import RoomyServer
from ragsonde_schemas.errors import SetupError

if TYPE_CHECKING:
    from ragsonde.page.application import PageApplication

logger = logging.getLogger(__name__)

THREADS = 8
CONNECTIONS = 200
"""Open at once; for a further one, that which was silent for the longest is closed."""
REQUEST_SECONDS = 10.0
"""For the whole of a request to arrive."""
_SILENT_SECONDS = 20
_TURN_SECONDS = 1.0
_PORTS_TRIED = 100
_HIGHEST_PORT = 65535


class PageServer:
    """Answers from threads of its own until it is closed.

    Args:
        application: what answers.
        host: an address of this machine.
        port: the first that is tried; 0 for any.
        request_seconds: for a whole request to arrive.

    Raises:
        SetupError: no port is free, or the address is none of this machine.
    """

    def __init__(
        self,
        application: PageApplication,
        *,
        host: str,
        port: int,
        request_seconds: float = REQUEST_SECONDS,
    ) -> None:
        self._channels: dict[int, Any] = {}
        self._server = RoomyServer(
            application,
            self._channels,
            bound=_bind_first_free(host, port),
            threads=THREADS,
            connections=CONNECTIONS,
            request_seconds=request_seconds,
            channel_timeout=_SILENT_SECONDS,
            max_request_header_size=REQUEST_MAX_BYTES,
            max_request_body_size=REQUEST_MAX_BYTES,
        )
        self._is_closing = False
        self._thread = Thread(target=self._run, name="page", daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        """Where it is found, without a path."""
        host, port = self._server.effective_host, self._server.effective_port
        return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"

    def close(self) -> None:
        """Stops listening; answers that are not sent by then are cut off."""
        self._is_closing = True
        with suppress(OSError):
            self._server.pull_trigger()
        self._thread.join()

    def _run(self) -> None:
        while not self._is_closing:
            wasyncore.loop(timeout=_TURN_SECONDS, map=self._channels, use_poll=True, count=1)
        self._server.task_dispatcher.shutdown()
        wasyncore.close_all(self._channels, ignore_all=True)


def _bind_first_free(host: str, port: int) -> socket.socket:
    last = min(port + _PORTS_TRIED, _HIGHEST_PORT + 1) if port else 1
    for candidate in range(port, last):
        try:
            family, kind, protocol, _, address = socket.getaddrinfo(host, candidate, type=socket.SOCK_STREAM)[
                0
            ]
            bound = socket.socket(family, kind, protocol)
        except OSError as error:
            raise SetupError(f"cannot listen on {host}: {error.strerror}") from error
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            bound.bind(address)
            bound.listen(64)
        except OSError as error:
            bound.close()
            if error.errno != errno.EADDRINUSE:
                raise SetupError(f"cannot listen on {host} port {candidate}: {error.strerror}") from error
        else:
            if candidate != port:
                logger.warning("port_taken", extra={"host": host, "asked": port, "got": candidate})
            return bound
    tried = f"ports {port} to {last - 1} are" if last - port > 1 else f"port {port} is"
    raise SetupError(f"{tried} taken on {host}: stop what listens there, or set another under ports:")
