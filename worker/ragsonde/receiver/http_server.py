"""The HTTP server: Waitress, which buffers whole requests before a thread is spent on them."""

from __future__ import annotations

import errno
import logging
import socket
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from waitress import wasyncore
from waitress.adjustments import Adjustments
from waitress.channel import HTTPChannel
from waitress.server import TcpWSGIServer
from waitress.task import ThreadedTaskDispatcher

from ragsonde.receiver.request_parser import RequestParser
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
_CONNECTIONS = 1_000
_IDLE_SECONDS = 120
_HEAD_BYTES = 16 * 1024
_TURN_SECONDS = 1.0
_DRAIN_TURN_SECONDS = 0.05
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
    ) -> None:
        logging.getLogger("waitress.queue").setLevel(logging.ERROR)  # the gate bounds the queue
        self._map: dict[int, Any] = {}
        bound = _bind(host, port)
        self._server = _Server(application, self._map, reception=reception, bound=bound)
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

    def run(self) -> None:
        """Answers requests until `stop` is called, then finishes those in flight."""
        while not self._is_asked_to_stop:
            self._turn(_TURN_SECONDS)
        wasyncore.dispatcher.close(self._server)  # listens no more; open connections stay
        ends_at = time.monotonic() + GRACE_SECONDS
        while self._server.let_idle_go() and time.monotonic() < ends_at:
            self._turn(_DRAIN_TURN_SECONDS)
        unfinished = self._server.let_idle_go()
        self._server.shut_down()
        wasyncore.close_all(self._map, ignore_all=True)
        logger.info("receiver_stopped", extra={"unfinished": unfinished})

    def stop(self) -> None:
        """Makes `run` return; safe in a signal handler and from any thread."""
        self._is_asked_to_stop = True
        with suppress(OSError):  # it has stopped already
            self._server.pull_trigger()

    def _turn(self, seconds: float) -> None:
        wasyncore.loop(timeout=seconds, map=self._map, use_poll=True, count=1)
        self._on_turn()


class _Channel(HTTPChannel):
    """One connection."""

    server: _Server

    def parser_class(self, adj: object) -> RequestParser:
        """A parser for the next request."""
        server = self.server
        return RequestParser(
            adj, reception=server.reception, client=str(self.addr[0]), is_busy=lambda: server.is_busy
        )

    @property
    def is_idle(self) -> bool:
        """True between requests, when the last answer has left; a head that is not whole is no request."""
        has_begun = self.request is not None and self.request.headers_finished
        return not self.requests and not has_begun and not self.total_outbufs_len


class _Server(TcpWSGIServer):
    channel_class = _Channel

    def __init__(
        self,
        application: Application,
        channels: dict[int, object],
        *,
        reception: Reception,
        bound: socket.socket,
    ) -> None:
        self.reception = reception
        self._light_dispatcher = _start_threads(_LIGHT_THREADS)
        super().__init__(
            application,
            channels,
            _sock=bound,
            bind_socket=False,
            dispatcher=_start_threads(THREADS),
            adj=_build_adjustments(bound),
            sockinfo=(bound.family, bound.type, bound.proto, bound.getsockname()),
        )

    @property
    def is_busy(self) -> bool:
        """True while so many posted requests wait for a thread that no more should come."""
        return len(self.task_dispatcher.queue) >= WAITING_AT_MOST

    def add_task(self, task: _Channel) -> None:
        """Gives a request to a thread: probes and refusals never wait for those that wait for the broker."""
        request = task.requests[0]
        is_light = request.error is not None or request.command != "POST"
        (self._light_dispatcher if is_light else self.task_dispatcher).add_task(task)

    def maintenance(self, now: float) -> None:
        """Closes connections that are silent for long, or in the middle of a request that is late."""
        super().maintenance(now)
        for channel in self.active_channels.values():
            if channel.request is not None and not channel.requests and channel.request.is_late:
                channel.will_close = True

    def let_idle_go(self) -> int:
        """Closes the connections between requests; how many are left."""
        busy = 0
        for channel in self.active_channels.values():
            if channel.is_idle:
                channel.will_close = True
            else:
                busy += 1
        return busy

    def shut_down(self) -> None:
        """Ends the threads."""
        self.task_dispatcher.shutdown()
        self._light_dispatcher.shutdown()


def _start_threads(number: int) -> ThreadedTaskDispatcher:
    dispatcher = ThreadedTaskDispatcher()
    dispatcher.set_thread_count(number)
    return dispatcher


def _build_adjustments(bound: socket.socket) -> Adjustments:
    return Adjustments(
        sockets=[bound],
        threads=THREADS,
        connection_limit=_CONNECTIONS,
        channel_timeout=_IDLE_SECONDS,
        cleanup_interval=1,
        max_request_header_size=_HEAD_BYTES,
        # the gate limits bodies, before they come; here only so that none is ever written to a file
        max_request_body_size=2**40,
        inbuf_overflow=2**40,
        ident=None,
        clear_untrusted_proxy_headers=False,
        log_socket_errors=False,
    )


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
