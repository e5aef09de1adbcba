"""Clients that connect, send a head that does not end, byte by byte, and stay."""

from __future__ import annotations

import socket
from contextlib import ExitStack, closing, contextmanager, suppress
from threading import Event, Thread
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

EACH_SECONDS = 0.2


@contextmanager
def slow_clients(port: int, number: int) -> Iterator[list[socket.socket]]:
    """That many connections to this machine; each one sends a byte every now and then until the end."""
    has_ended = Event()
    with ExitStack() as stack:
        clients = []

        def trickle() -> None:
            while not has_ended.wait(EACH_SECONDS):
                for client in clients:
                    with suppress(OSError):  # closed by the server
                        client.send(b"a")

        sender = Thread(target=trickle)
        sender.start()
        stack.callback(sender.join)
        stack.callback(has_ended.set)
        for _ in range(number):
            client = stack.enter_context(closing(socket.socket()))
            client.settimeout(0.2)
            with suppress(OSError):  # a server that takes no more keeps some waiting: they stay all the same
                client.connect(("127.0.0.1", port))
                client.settimeout(5)
                client.sendall(b"GET / HTTP/1.1\r\nHost: x\r\nX: ")
                clients.append(client)
        yield clients
