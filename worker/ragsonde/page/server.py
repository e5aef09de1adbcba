"""The HTTP server of the page: Waitress in a thread, with bounds for slow and for many clients."""

from __future__ import annotations

from contextlib import suppress
from threading import Thread
from typing import TYPE_CHECKING, Any

from waitress import wasyncore

from ragsonde.page.application import REQUEST_MAX_BYTES
from ragsonde.page.reading_room import PLACES
from ragsonde.web.listening import listen
from ragsonde.web.roomy_server import RoomyServer

if TYPE_CHECKING:
    from collections.abc import Callable

    from ragsonde.page.application import PageApplication

THREADS = PLACES + 4
"""More than may be waiting for a view: some are always left for `/metrics` and `/health`."""
CONNECTIONS = 200
"""Open at once; for a further one, that which was silent for the longest is closed."""
REQUEST_SECONDS = 10.0
"""For the whole of a request to arrive."""
_SILENT_SECONDS = 20
_TURN_SECONDS = 1.0
_BACKLOG = 64


class PageServer:
    """Answers from threads of its own until it is closed.

    Args:
        application: what answers.
        host: an address of this machine.
        port: the first that is tried; 0 for any.
        request_seconds: for a whole request to arrive.
        on_close: called when nothing is answered any more.

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
        on_close: Callable[[], None] = lambda: None,
    ) -> None:
        self._on_close = on_close
        self._channels: dict[int, Any] = {}
        self._server = RoomyServer(
            application,
            self._channels,
            bound=listen(host, port, backlog=_BACKLOG),
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
        self._on_close()

    def _run(self) -> None:
        while not self._is_closing:
            wasyncore.loop(timeout=_TURN_SECONDS, map=self._channels, use_poll=True, count=1)
        self._server.task_dispatcher.shutdown()
        wasyncore.close_all(self._channels, ignore_all=True)
