"""A small HTTP server for scrapers and probes: a table of paths, GET and HEAD, slow clients let go."""

from __future__ import annotations

import errno
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
_PORTS_TRIED = 100
_HIGHEST_PORT = 65535


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
    search_free_port: bool = True,
    allow_remote: bool = False,
) -> HttpServer:
    """A running server; its `port` says which one it got.

    Args:
        host: an address of this machine.
        port: the port wanted; 0 for any.
        routes: path to what answers it; every other path is a 404.
        read_token: what every path but those of probes asks for, read anew for each request.
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
    last = min(port + _PORTS_TRIED, _HIGHEST_PORT + 1) if search_free_port and port else port + 1
    for candidate in range(port, last):
        try:
            server = HttpServer(_Server(host, candidate, routes=routes, read_token=read_token))
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise SetupError(f"cannot listen on {host} port {candidate}: {error.strerror}") from error
        else:
            note_port(host, asked=port, got=server.port)
            return server
    tried = f"port {port} is" if last == port + 1 else f"ports {port} to {last - 1} are"
    raise SetupError(f"{tried} taken on {host}: stop what listens there, or set another under ports:")


def note_port(host: str, *, asked: int, got: int) -> None:
    """Warns where the port that was asked for was taken: who scrapes it, scrapes somebody else."""
    if asked not in {0, got}:
        logger.warning("port_taken", extra={"host": host, "asked": asked, "got": got})


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


class _Server(TCPServer):
    allow_reuse_address = True
    request_queue_size = 128

    def __init__(self, host: str, port: int, *, routes: Mapping[str, Route], read_token: TokenReader) -> None:
        self.address_family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self.routes = dict(routes)
        self._read_token = read_token
        self._slots = BoundedSemaphore(MAX_THREADS)
        self._waiting: dict[socket.socket, None] = {}  # for their clients, the longest first
        self._waiting_lock = Lock()
        super().__init__((host, port), _Exchange)

    def admits(self, path: str, *, authorization: str) -> bool:
        """True when a path is a probe's, or the token was shown; where it cannot be read, False."""
        if path.startswith(_PROBES):
            return True
        try:
            token = self._read_token()
        except RagsondeError:
            logger.exception("token_unreadable")
            return False
        return token is None or shows_token(authorization, token=token)

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
        if not self.server.admits(path, authorization=_join_header("authorization", header_lines)):
            return _say(HTTPStatus.UNAUTHORIZED), method == "GET"
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
