"""An OpenAI-compatible provider on loopback, over real HTTP, that does what a script says.

    with MockLlm(script=["429", "ok"]) as llm:
        ...  # point a judge at api_base=llm.url, model="openai/mock"
        assert llm.counts == {"429": 1, "ok": 1}

As a process of its own: `python -m mock_llm.server --port 8089 --script 429=0.05,500=0.05 --latency 0.2`;
it prints one JSON line with its url, and on standard error one for each call with what it did. `GET /stats`
tells its counts, `POST /script` with {"script": ...} changes what it does from the next call on.
"""

from __future__ import annotations

import argparse
import json
import re
import select
import socket
import sys
import threading
from collections import Counter, deque
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, Self, TextIO

from mock_llm.outcomes import Answer, Outcome, answer
from mock_llm.schedule import Schedule, Script

if TYPE_CHECKING:
    from collections.abc import Mapping

MARKER = re.compile(r"marker=([\w.:-]+)")
"""`marker=NAME` anywhere in a prompt counts its calls under NAME."""


@dataclass(frozen=True)
class Call:
    """One call as it came in."""

    outcome: str
    marker: str | None
    request: Mapping[str, Any]
    authorization: str | None
    tags: str | None = None

    @property
    def messages(self) -> list[dict[str, str]]:
        """The conversation sent."""
        return list(self.request["messages"])


class MockLlm:
    """The provider; `url` is an api_base.

    Attributes:
        calls: the last 1,000 calls, oldest first.
        counts: calls by outcome; `by_marker`: by trace marker.
        most_at_once: the greatest number of calls that were in flight together.
    """

    def __init__(
        self,
        script: Script = "ok",
        *,
        latency_seconds: float = 0.0,
        seed: int = 0,
        port: int = 0,
        output: TextIO | None = None,
    ) -> None:
        self.latency_seconds = latency_seconds
        self.calls: deque[Call] = deque(maxlen=1000)
        self.counts: Counter[str] = Counter()
        self.by_marker: Counter[str] = Counter()
        self.most_at_once = 0
        self._seed = seed
        self._port = port
        self._output = output
        self._in_flight = 0
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._schedule = Schedule(script, seed=seed)
        self._server: _Server | None = None
        self._thread: threading.Thread | None = None

    @property
    def url(self) -> str:
        """Where the API is, for api_base."""
        return f"http://127.0.0.1:{self._port}/v1"

    @property
    def total(self) -> int:
        """How many calls came in."""
        return sum(self.counts.values())

    def tell(self, request: Mapping[str, Any], found: Answer) -> None:
        """One line about a call on `output`, where there is one."""
        if self._output is None:
            return
        ending = (
            "hangs"
            if found.hangs
            else "breaks"
            if found.breaks
            else "trickles"
            if found.trickles
            else found.status
        )
        line = {
            "call": self.total,
            "model": request.get("model"),
            "answered": ending,
            "counts": dict(self.counts),
        }
        self._output.write(json.dumps(line) + "\n")
        self._output.flush()

    def run_script(self, script: Script) -> None:
        """Does this from the next call on."""
        self._schedule = Schedule(script, seed=self._seed)

    def start(self) -> Self:
        """Listens; after a `stop`, on the same port again."""
        self._stopped.clear()
        self._server = _Server(("127.0.0.1", self._port), self)
        self._port = self._server.server_address[1]
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()
        return self

    def stop(self) -> None:
        """Closes the port and every connection: whoever calls is refused."""
        if self._server is None or self._thread is None:
            return
        self._stopped.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
        self._server = None

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    def wait_for_stop(self, seconds: float) -> bool:
        """Waits so long at most; True when the provider is stopped."""
        return self._stopped.wait(seconds)

    def respond(
        self,
        request: Mapping[str, Any],
        connection: socket.socket,
        authorization: str | None,
        *,
        tags: str | None = None,
    ) -> Answer:
        """The answer to one call, after its delay; counts it."""
        outcome = self._schedule.choose(request)
        marker = MARKER.search(" ".join(str(m.get("content")) for m in request["messages"]))
        with self._lock:
            self._in_flight += 1
            self.most_at_once = max(self.most_at_once, self._in_flight)
            self.counts[outcome.name] += 1
            if marker:
                self.by_marker[marker[1]] += 1
            name = marker[1] if marker else None
            self.calls.append(Call(outcome.name, name, request, authorization, tags))
        try:
            found = answer(outcome, request)
            self._wait(outcome, found, connection)
        finally:
            with self._lock:
                self._in_flight -= 1
        return found

    def _wait(self, outcome: Outcome, found: Answer, connection: socket.socket) -> None:
        if found.hangs:
            while not self._stopped.is_set() and not _is_closed(connection):
                self._stopped.wait(0.02)
        elif (seconds := outcome.seconds or self.latency_seconds) > 0:
            self._stopped.wait(seconds)


def _is_closed(connection: socket.socket) -> bool:
    readable, _, _ = select.select([connection], [], [], 0)
    return bool(readable) and connection.recv(1, socket.MSG_PEEK) == b""


class _Server(ThreadingHTTPServer):
    daemon_threads = False
    block_on_close = True
    request_queue_size = 128

    def __init__(self, address: tuple[str, int], llm: MockLlm) -> None:
        self.llm = llm
        self._open: set[socket.socket] = set()
        self._open_lock = threading.Lock()
        super().__init__(address, _Handler)

    def process_request(self, request: Any, client_address: Any) -> None:  # noqa: ANN401 - socketserver's types
        with self._open_lock:
            self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:  # noqa: ANN401 - socketserver's type
        with self._open_lock:
            self._open.discard(request)
        super().shutdown_request(request)

    def server_close(self) -> None:
        with self._open_lock:
            for connection in self._open:
                _hang_up(connection)
        super().server_close()

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ANN401 - socketserver's types
        """A client that went away is no news; anything else is a fault of this server."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


def _hang_up(connection: socket.socket) -> None:
    try:
        connection.shutdown(socket.SHUT_RDWR)
    except OSError:
        return


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1
    server: _Server

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path == "/script":
            self.server.llm.run_script(body["script"])
            self._send(Answer(body=b"{}"))
        elif self.path == "/v1/chat/completions":
            self._answer(body)
        else:
            self._send(Answer(status=404, body=b'{"error": {"message": "no such path"}}'))

    def do_GET(self) -> None:
        llm = self.server.llm
        stats = {
            "total": llm.total,
            "counts": llm.counts,
            "by_marker": llm.by_marker,
            "most_at_once": llm.most_at_once,
        }
        self._send(Answer(body=json.dumps(stats).encode()))

    def _answer(self, body: dict[str, Any]) -> None:
        authorization = self.headers.get("Authorization")
        found = self.server.llm.respond(
            body, self.connection, authorization, tags=self.headers.get("x-litellm-tags")
        )
        self.server.llm.tell(body, found)
        if found.hangs or found.breaks:
            self.close_connection = True
            _hang_up(self.connection)
            return
        if found.trickles:
            self.close_connection = True
            self._trickle()
            return
        shown = (authorization or "").removeprefix("Bearer ").encode()
        self._send(Answer(found.status, found.body.replace(b"{key}", shown), found.headers))

    def _trickle(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        while not self.server.llm.wait_for_stop(0.05):
            self.wfile.write(b"1\r\n \r\n")
            self.wfile.flush()

    def _send(self, found: Answer) -> None:
        self.send_response(found.status)
        for name, value in {"Content-Type": "application/json", **found.headers}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(found.body)))
        self.end_headers()
        self.wfile.write(found.body)
        self.wfile.flush()

    def log_message(self, *_: Any) -> None:  # noqa: ANN401 - http.server's signature
        """Silence: calls are counted, not printed."""


def read_script(text: str) -> Script:
    """`ok`, or `429,ok` (one after the other), or `429=0.05,500=0.05` (shares)."""
    items = text.split(",")
    if all("=" in item for item in items):
        return {name: float(share) for name, share in (item.split("=") for item in items)}
    return items if len(items) > 1 else text


def main() -> None:
    """Serves until interrupted."""
    parser = argparse.ArgumentParser(description="OpenAI-compatible provider that does what a script says.")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--script", type=read_script, default="ok")
    parser.add_argument("--latency", type=float, default=0.0, help="seconds before each answer")
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    with MockLlm(
        chosen.script,
        latency_seconds=chosen.latency,
        seed=chosen.seed,
        port=chosen.port,
        output=sys.stderr,
    ) as llm:
        sys.stdout.write(json.dumps({"url": llm.url}) + "\n")
        sys.stdout.flush()
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            return


if __name__ == "__main__":
    main()
