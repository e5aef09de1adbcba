"""A small HTTP server for scrapers and probes: a table of paths, GET and HEAD, slow clients let go."""

from __future__ import annotations

import ipaddress
import logging
import socket
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from email.utils import formatdate
from http import HTTPStatus
from socketserver import BaseRequestHandler, TCPServer
from threading import BoundedSemaphore, Lock, Thread
from typing import Any, NamedTuple

from ragsonde.web.host_names import HostNames
from ragsonde.web.listening import listen
from ragsonde_schemas.errors import RagsondeError, SetupError
from ragsonde_schemas.token import shows_token

logger = logging.getLogger(__name__)

PLAIN = "text/plain; charset=utf-8"
REQUEST_MAX_BYTES = 16 * 1024
REQUEST_TIMEOUT_SECONDS = 5.0
"""For the whole request to arrive, and again for the whole answer to leave."""
MAX_THREADS = 32
"""Connections at once; for a further one, that which has waited for its client for the longest is closed."""
SLOT_TIMEOUT_SECONDS = 1.0
"""How long a new connection may hold up the others while all threads work; then it is closed."""
_PROBES = "/health/"
"""Probes have no token; these paths tell no more than that something is well or not."""
_BACKLOG = 128


class Response(NamedTuple):
    """What a path answers."""

    status: int
    content_type: str
    body: bytes


Route = Callable[[str], Response]
"""Answers a GET; the argument is the Accept header."""

TokenReader = Callable[[], str | None]
"""The token in force, None where none is asked for; it raises where the token cannot be read."""


class HttpServer:
    """A server that runs in threads of its own until it is closed."""

    def __init__(self, server: _Server) -> None:
        self._server = server
        self._thread = Thread(
            target=server.serve_forever, name="http", kwargs={"poll_interval": 0.05}, daemon=True
        )
        self._thread.start()

    @property
    def host(self) -> str:
        """The address it listens on."""
        return str(self._server.server_address[0])

    @property
    def port(self) -> int:
        """The port it listens on."""
        return int(self._server.server_address[1])

    @property
    def url(self) -> str:
        """Where it is found, without a path."""
        return f"http://[{self.host}]:{self.port}" if ":" in self.host else f"http://{self.host}:{self.port}"

    def close(self) -> None:
        """Stops listening; answers that are being sent may end."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def serve(
    host: str,
    port: int,
    *,
    routes: Mapping[str, Route],
    read_token: TokenReader = lambda: None,
    hosts: HostNames | None = None,
    search_free_port: bool = True,
    allow_remote: bool = False,
) -> HttpServer:
    """A running server; its `port` says which one it got.

    Args:
        host: an address of this machine.
        port: the port wanted; 0 for any.
        routes: path to what answers it; every other path is a 404.
        read_token: what every path but those of probes asks for, read anew for each request.
        hosts: names under which it is asked where there is no token; None: those of `host`.
        search_free_port: take the next free port where the wanted one is taken.
        allow_remote: listen on an address that other machines reach.

    Raises:
        SetupError: the address is not loopback, or no port is free.
    """
    if not allow_remote and not _is_loopback(host):
        raise SetupError(
            f"{host} is reached by other machines and nothing asks for a token: set metrics.token_file, "
            "listen on 127.0.0.1 behind a proxy, or set insecure: true where the network is trusted"
        )
    bound = listen(host, port, backlog=_BACKLOG, search_free_port=search_free_port)
    return HttpServer(
        _Server(bound, routes=routes, read_token=read_token, hosts=hosts or HostNames(bound=host))
    )


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


class _Server(TCPServer):
    def __init__(
        self, bound: socket.socket, *, routes: Mapping[str, Route], read_token: TokenReader, hosts: HostNames
    ) -> None:
        self.routes = dict(routes)
        self._read_token = read_token
        self._hosts = hosts
        self._slots = BoundedSemaphore(MAX_THREADS)
        self._waiting: dict[socket.socket, None] = {}  # for their clients, the longest first
        self._waiting_lock = Lock()
        super().__init__(bound.getsockname(), _Exchange, bind_and_activate=False)
        self.socket.close()
        self.socket = bound

    def find_refusal(self, path: str, *, authorization: str, host: str) -> Response | None:
        """None for a probe, for who shows the token, and where there is none, for a name of ours."""
        if path.startswith(_PROBES):
            return None
        try:
            token = self._read_token()
        except RagsondeError:
            logger.exception("token_unreadable")
            return _say(HTTPStatus.SERVICE_UNAVAILABLE)
        if token is not None:
            return None if shows_token(authorization, token=token) else _say(HTTPStatus.UNAUTHORIZED)
        if self._hosts.admits(host):
            return None
        status = HTTPStatus.MISDIRECTED_REQUEST
        return Response(status.value, PLAIN, f"{status.value} {self._hosts.describe(host)}\n".encode())

    def process_request(self, request: Any, client_address: Any) -> None:  # noqa: ANN401 - as the base declares it
        if not self._slots.acquire(blocking=False):
            self._make_room()
            if not self._slots.acquire(timeout=SLOT_TIMEOUT_SECONDS):
                self.shutdown_request(request)
                return
        Thread(target=self._work, args=(request, client_address), name="http-request", daemon=True).start()

    @contextmanager
    def waiting(self, connection: socket.socket) -> Iterator[None]:
        """While it is open, nothing but the client holds the connection up: it may be closed for another."""
        with self._waiting_lock:
            self._waiting[connection] = None
        try:
            yield
        finally:
            with self._waiting_lock:
                self._waiting.pop(connection, None)

    def _make_room(self) -> None:
        """Ends what its client has held up for the longest; its thread sees the end and leaves."""
        with self._waiting_lock:
            longest = next(iter(self._waiting), None)
            if longest is not None:
                del self._waiting[longest]
                with suppress(OSError):  # the client has gone meanwhile
                    longest.shutdown(socket.SHUT_RDWR)

    def _work(self, request: socket.socket, client_address: object) -> None:
        try:
            self.finish_request(request, client_address)
        except Exception:
            # A client that went away, mostly: this exchange ends, no other.
            logger.debug("http_request_broken", exc_info=True)
        finally:
            self.shutdown_request(request)
            self._slots.release()


class _Exchange(BaseRequestHandler):
    """One request and its answer; the connection is closed after it."""

    server: _Server
    request: socket.socket

    def handle(self) -> None:
        try:
            with self.server.waiting(self.request):
                head = _read_head(self.request)
        except TimeoutError:
            return
        response, has_body = self._answer(head)
        self._send(response, has_body=has_body)

    def _answer(self, head: bytes) -> tuple[Response, bool]:
        request_line, *header_lines = head.decode("latin-1").splitlines() or [""]
        method, _, rest = request_line.partition(" ")
        target, _, version = rest.rpartition(" ")
        if not version.startswith("HTTP/1.") or not target.startswith("/"):
            return _say(HTTPStatus.BAD_REQUEST), True
        if method not in {"GET", "HEAD"}:
            return _say(HTTPStatus.METHOD_NOT_ALLOWED), True
        path = target.partition("?")[0]
        route = self.server.routes.get(path)
        if route is None:
            return _say(HTTPStatus.NOT_FOUND), method == "GET"
        refusal = self.server.find_refusal(
            path,
            authorization=_join_header("authorization", header_lines),
            host=_join_header("host", header_lines),
        )
        if refusal is not None:
            return refusal, method == "GET"
        try:
            return route(_join_header("accept", header_lines)), method == "GET"
        except Exception:
            logger.exception("http_route_failed", extra={"path": path})
            return _say(HTTPStatus.INTERNAL_SERVER_ERROR), method == "GET"

    def _send(self, response: Response, *, has_body: bool) -> None:
        status = HTTPStatus(response.status)
        lines = [
            f"HTTP/1.1 {status.value} {status.phrase}",
            f"Date: {formatdate(usegmt=True)}",
            f"Content-Type: {response.content_type}",
            f"Content-Length: {len(response.body)}",
            "Cache-Control: no-store",
            "X-Content-Type-Options: nosniff",
            "Connection: close",
        ]
        if status is HTTPStatus.METHOD_NOT_ALLOWED:
            lines.append("Allow: GET, HEAD")
        if status is HTTPStatus.UNAUTHORIZED:
            lines.append('WWW-Authenticate: Bearer realm="ragsonde"')
        head = "\r\n".join([*lines, "", ""]).encode("latin-1")
        self.request.settimeout(REQUEST_TIMEOUT_SECONDS)
        with self.server.waiting(self.request):
            self.request.sendall(head + response.body if has_body else head)


def _read_head(connection: socket.socket) -> bytes:
    """The request line and headers; what is longer than allowed is cut, which makes it a bad request.

    The deadline is for all of it: a timeout a read would let one byte every few seconds hold a thread.

    Raises:
        TimeoutError: they did not arrive in time.
    """
    ends_at = time.monotonic() + REQUEST_TIMEOUT_SECONDS
    head = b""
    while len(head) < REQUEST_MAX_BYTES:
        end = head.find(b"\r\n\r\n")
        if end >= 0:
            return head[:end]
        left_seconds = ends_at - time.monotonic()
        if left_seconds <= 0:
            raise TimeoutError
        connection.settimeout(left_seconds)
        received = connection.recv(4096)
        if not received:
            return head
        head += received
    return b""


def _join_header(name: str, lines: list[str]) -> str:
    pairs = (line.partition(":") for line in lines)
    return ", ".join(value.strip() for key, _, value in pairs if key.strip().lower() == name)


def _say(status: HTTPStatus) -> Response:
    return Response(status.value, PLAIN, f"{status.value} {status.phrase}\n".encode())
