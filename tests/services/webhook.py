"""Where Alertmanager sends what it tells people: one path for each of its receivers."""

from __future__ import annotations

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator


class Told(NamedTuple):
    """An alert that people were told of: by which receiver, and its labels."""

    receiver: str
    labels: frozenset[tuple[str, str]]

    def __repr__(self) -> str:
        return f"{self.receiver}: {dict(sorted(self.labels))}"


class Webhook:
    """What came, in the order in which it came."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._lock = threading.Lock()
        self._annotations: dict[Told, dict[str, str]] = {}

    def take(self, path: str, body: dict[str, Any]) -> None:
        """Notes what one request tells, but for what is over."""
        with self._lock:
            for alert in body["alerts"]:
                if alert["status"] == "firing":
                    told = Told(path.removeprefix("/"), frozenset(alert["labels"].items()))
                    self._annotations.setdefault(told, alert["annotations"])

    @property
    def told(self) -> set[Told]:
        """All alerts that have come so far."""
        with self._lock:
            return set(self._annotations)

    def read_annotations(self, told: Told) -> dict[str, str]:
        """Those that the alert first came with."""
        with self._lock:
            return self._annotations[told]


@contextmanager
def serving_webhook() -> Iterator[Webhook]:
    """One on a free port of loopback."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            length = int(self.headers["Content-Length"])
            webhook.take(self.path, json.loads(self.rfile.read(length)))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Silence: what came is noted."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    webhook = Webhook(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, name="webhook", daemon=True)
    thread.start()
    try:
        yield webhook
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
