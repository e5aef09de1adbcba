"""A server on loopback that answers byte by byte, as long as anybody listens."""

from __future__ import annotations

import socket
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

GAP_SECONDS = 0.05


class Trickle:
    """What became of the one connection that was made.

    Attributes:
        hung_up: the client ended it.
        used_up: all parts were sent, much later than any test waits.
    """

    def __init__(self) -> None:
        self.port = 0
        self.hung_up = threading.Event()
        self.used_up = threading.Event()


@contextmanager
def trickling(start: bytes, part: bytes, *, parts: int = 400) -> Iterator[Trickle]:
    """A server that sends `start` at once, then `part` again and again, 20 seconds long by default."""
    trickle, stopped = Trickle(), threading.Event()
    listening = socket.create_server(("127.0.0.1", 0))
    listening.settimeout(10)
    trickle.port = listening.getsockname()[1]

    def answer() -> None:
        connected, _ = listening.accept()
        with connected:
            try:
                connected.recv(65_536)
                connected.sendall(start)
                for _ in range(parts):
                    if stopped.wait(GAP_SECONDS):
                        return
                    connected.sendall(part)
            except OSError:
                trickle.hung_up.set()
            else:
                trickle.used_up.set()

    thread = threading.Thread(target=answer, daemon=True)
    thread.start()
    try:
        yield trickle
    finally:
        stopped.set()
        thread.join(20)
        listening.close()
