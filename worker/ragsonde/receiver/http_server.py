"""The HTTP server: Waitress, which buffers whole requests before a thread is spent on them."""

from __future__ import annotations

import errno
import logging
import resource
import select
import socket
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from waitress import wasyncore

from ragsonde.receiver.connection import Connection
from ragsonde.web.roomy_server import RoomyServer, start_threads
from ragsonde_schemas.errors import SetupError

if TYPE_CHECKING:
    from collections.abc import Callable

    from ragsonde.receiver.application import Application
    from ragsonde.receiver.request_parser import Reception

logger = logging.getLogger(__name__)

THREADS = 16
"""Requests that are worked on at once; most of their time they wait for the broker's confirm."""
WAITING_AT_MOST = 4 * THREADS
_LIGHT_THREADS = 2
CONNECTIONS = 500
"""Open at once; for a further one, that which was silent for the longest is closed."""
_IDLE_SECONDS = 120
_HEAD_BYTES = 16 * 1024
_TURN_SECONDS = 1.0
_DRAIN_TURN_SECONDS = 0.05
LINGER_SECONDS = 1.0
"""For requests that are on their way, on connections that are kept open, when the process is asked to end."""
GRACE_SECONDS = 25.0
"""For requests in flight to end when the process is asked to."""


class HttpReceiver:
    """Listens from the start, answers while `run` runs.

    Args:
        application: answers what the gate let in.
        reception: how requests are read, and which are let in.
        host: an address of this machine.
        port: 0 for any.
        on_turn: called with every turn of the loop, at least once a second.
        connections: open at once; None: as many as files may be open, but no more than 500.

    Raises:
        SetupError: the port is taken, or the address is none of this machine.
    """

    def __init__(
        self,
        application: Application,
        *,
        reception: Reception,
        host: str,
        port: int,
        on_turn: Callable[[], None] = lambda: None,
        connections: int | None = None,
    ) -> None:
        self._map: dict[int, Any] = {}
        bound = _bind(host, port)
        self._server = _Server(
            application,
            self._map,
            reception=reception,
            bound=bound,
            connections=connections or count_connections(),
        )
        self._on_turn = on_turn
        self._is_asked_to_stop = False

    @property
    def url(self) -> str:
        """Where it is found, without a path."""
        host, port = self._server.effective_host, self._server.effective_port
        return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"

    @property
    def is_busy(self) -> bool:
        """True while so many posted requests wait that no more are let in."""
        return self._server.is_busy

    @property
    def open_connections(self) -> int:
        """How many clients are connected."""
        return self._server.count_open()

    def run(self) -> None:
        """Answers requests until `stop` is called, then finishes those in flight."""
        while not self._is_asked_to_stop:
            self._turn(_TURN_SECONDS)
        self._server.stop_listening()
        unfinished = self._drain()
        self._server.shut_down()
        wasyncore.close_all(self._map, ignore_all=True)
        logger.info("receiver_stopped", extra={"unfinished": unfinished})

    def stop(self) -> None:
        """Makes `run` return; safe in a signal handler and from any thread."""
        self._is_asked_to_stop = True
        with suppress(OSError):  # it has stopped already
            self._server.pull_trigger()

    def _drain(self) -> int:
        """Lets connections end as soon as nothing is under way on them; how many did not in time."""
        begun = time.monotonic()
        while left := self._server.count_open():
            seconds = time.monotonic() - begun
            if seconds >= GRACE_SECONDS:
                return left
            if seconds >= LINGER_SECONDS:
                self._server.let_idle_go()
            self._turn(_DRAIN_TURN_SECONDS)
        return 0

    def _turn(self, seconds: float) -> None:
        wasyncore.loop(timeout=seconds, map=self._map, use_poll=True, count=1)
        self._on_turn()


class _Server(RoomyServer):
    channel_class = Connection
    active_channels: dict[int, Connection]

    def __init__(
        self,
        application: Application,
        channels: dict[int, object],
        *,
        reception: Reception,
        bound: socket.socket,
        connections: int,
    ) -> None:
        self.reception = reception
        self.is_draining = False
        self._light_dispatcher = start_threads(_LIGHT_THREADS)
        super().__init__(
            application,
            channels,
            bound=bound,
            threads=THREADS,
            connections=connections,
            request_seconds=reception.request_seconds,
            channel_timeout=_IDLE_SECONDS,
            max_request_header_size=_HEAD_BYTES,
            # the gate limits bodies, before they come; here only so that none is ever written to a file
            max_request_body_size=2**40,
            inbuf_overflow=2**40,
        )

    @property
    def is_busy(self) -> bool:
        """True while so many posted requests wait for a thread that no more should come."""
        return len(self.task_dispatcher.queue) >= WAITING_AT_MOST

    def add_task(self, task: Connection) -> None:
        """Gives a request to a thread: probes and refusals never wait for those that wait for the broker."""
        request = task.requests[0]
        is_light = request.error is not None or request.command != "POST"
        (self._light_dispatcher if is_light else self.task_dispatcher).add_task(task)

    def stop_listening(self) -> None:
        """Takes the clients that have connected so far, and no more; every answer is now the last."""
        self.is_draining = True
        connecting = select.poll()
        connecting.register(self.socket, select.POLLIN)
        for _ in range(self.adj.backlog):
            if not connecting.poll(0):
                break
            self.handle_accept()
        wasyncore.dispatcher.close(self)

    def count_open(self) -> int:
        """How many connections there are."""
        return len(self.active_channels)

    def let_idle_go(self) -> None:
        """Closes the connections between requests."""
        for channel in list(self.active_channels.values()):
            if channel.is_idle:
                channel.handle_close()

    def shut_down(self) -> None:
        """Ends the threads."""
        self.task_dispatcher.shutdown()
        self._light_dispatcher.shutdown()


def count_connections() -> int:
    """How many clients may be connected at once; half of the files that may be open are for others."""
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return CONNECTIONS if files == resource.RLIM_INFINITY else min(CONNECTIONS, files // 2)


def _bind(host: str, port: int) -> socket.socket:
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except OSError as error:
        raise SetupError(
            f"cannot listen on {host}: {error.strerror}; expected an address of this machine"
        ) from error
    bound = socket.socket(family, kind, protocol)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind(address)
    except OSError as error:
        bound.close()
        if error.errno == errno.EADDRINUSE:
            raise SetupError(
                f"port {port} is taken on {host}: stop what listens there, or choose another with --port"
            ) from error
        raise SetupError(f"cannot listen on {host} port {port}: {error.strerror}") from error
    return bound
