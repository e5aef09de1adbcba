"""A real HTTP server on loopback that takes what is posted and answers as it is told."""

from __future__ import annotations

import sys
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator


class Posted(NamedTuple):
    """One request; names of headers in lower case."""

    path: str
    headers: dict[str, str]
    body: bytes
    method: str = "POST"


class Answer(NamedTuple):
    """One answer."""

    status: int = 200
    body: bytes = b""
    headers: tuple[tuple[str, str], ...] = ()


class Taker:
    """Remembers requests.

    Args:
        answers: one for each request; used up, all are 200 without a body.

    Attributes:
        posted: in order of arrival.
    """

    def __init__(self, *answers: Answer) -> None:
        self.posted: list[Posted] = []
        self._answers = list(answers)
        self._changed = threading.Condition()
        self._answering = threading.Event()
        self._answering.set()
        self.url = ""

    def hang(self) -> None:
        """What comes from now on is taken, and not answered."""
        self._answering.clear()

    def go_on(self) -> None:
        """Answers again, first what hangs; whoever does not wait for it any more gets nothing."""
        self._answering.set()

    def wait_to_answer(self) -> None:
        """Waits while it hangs."""
        self._answering.wait()

    def take(self, posted: Posted) -> Answer:
        with self._changed:
            self.posted.append(posted)
            self._changed.notify_all()
            return self._answers.pop(0) if self._answers else Answer()

    def wait_for(self, number: int, *, seconds: float = 20.0) -> list[Posted]:
        """The requests, once there are so many."""
        with self._changed:
            assert self._changed.wait_for(lambda: len(self.posted) >= number, seconds)
            return list(self.posted)


@contextmanager
def serving(*answers: Answer) -> Iterator[Taker]:
    """A taker that listens until the block ends."""
    taker = Taker(*answers)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            headers = {name.lower(): value for name, value in self.headers.items()}
            answer = taker.take(Posted(self.path, headers, body, self.command))
            taker.wait_to_answer()
            self.send_response(answer.status)
            for name, value in answer.headers:
                self.send_header(name, value)
            self.send_header("content-length", str(len(answer.body)))
            self.end_headers()
            self.wfile.write(answer.body)

        def do_GET(self) -> None:
            self.do_POST()

        def do_PATCH(self) -> None:
            self.do_POST()

        def log_message(self, *_: object) -> None:
            """Says nothing."""

    class Server(ThreadingHTTPServer):
        def handle_error(self, request: object, client_address: object) -> None:
            if not isinstance(sys.exception(), ConnectionError):
                super().handle_error(request, client_address)

    server = Server(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    taker.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield taker
    finally:
        taker.go_on()
        server.shutdown()
        thread.join()
        server.server_close()
