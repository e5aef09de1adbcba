"""A road to a server that can be closed and opened again: a port that passes everything on."""

from __future__ import annotations

import socket
import threading
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def open_road(port: int, *, to_port: int) -> Iterator[None]:
    """While it is open, who connects to `port` reaches `to_port`; behind it all connections are closed."""
    lanes: list[_Lane] = []
    with socket.create_server(("127.0.0.1", port)) as entrance:
        taking = threading.Thread(target=_take, args=(entrance, to_port, lanes))
        taking.start()
        try:
            yield
        finally:
            entrance.shutdown(socket.SHUT_RDWR)
            taking.join()
            for lane in lanes:
                lane.close()


class _Lane:
    """One connection, passed on in both directions."""

    def __init__(self, near: socket.socket, far: socket.socket) -> None:
        self._ends = (near, far)
        self._threads = [threading.Thread(target=_pass_on, args=pair) for pair in ((near, far), (far, near))]
        for thread in self._threads:
            thread.start()

    def close(self) -> None:
        for end in self._ends:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join()
        for end in self._ends:
            end.close()


def _take(entrance: socket.socket, to_port: int, lanes: list[_Lane]) -> None:
    with suppress(OSError):
        while True:
            near, _ = entrance.accept()
            lanes.append(_Lane(near, socket.create_connection(("127.0.0.1", to_port))))


def _pass_on(one: socket.socket, other: socket.socket) -> None:
    with suppress(OSError):
        while part := one.recv(65536):
            other.sendall(part)
    with suppress(OSError):
        other.shutdown(socket.SHUT_RDWR)
