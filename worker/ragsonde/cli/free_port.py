"""Finds a port to listen on."""

from __future__ import annotations

import socket
from collections.abc import Collection

from ragsonde_schemas.errors import SetupError

_PORTS_TRIED = 100


def find_free_port(host: str, first: int, *, taken: Collection[int] = ()) -> int:
    """The first port from `first` on where nothing listens and that is not promised already.

    Raises:
        SetupError: 100 ports are taken.
    """
    for port in range(first, first + _PORTS_TRIED):
        if port not in taken and _is_free(host, port):
            return port
    last = first + _PORTS_TRIED - 1
    raise SetupError(
        f"ports {first} to {last} are taken on {host}: choose others with --metrics-port, --monitor-port and "
        "--receiver-port"
    )


def _is_free(host: str, port: int) -> bool:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return False
    return True
