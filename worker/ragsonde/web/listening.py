"""The socket that a server listens on: on the port that was asked for, or the first free one after it."""

from __future__ import annotations

import errno
import logging
import socket

from ragsonde_schemas.errors import SetupError

logger = logging.getLogger(__name__)

_PORTS_TRIED = 100
_HIGHEST_PORT = 65535


def listen(host: str, port: int, *, backlog: int, search_free_port: bool = True) -> socket.socket:
    """A socket that listens; where it got another port than was asked for, the log has `port_taken`.

    Who scrapes the port that was asked for scrapes somebody else: so it is a warning.

    Args:
        host: an address of this machine.
        port: the first that is tried; 0 for any.
        backlog: connections that may wait to be taken.
        search_free_port: try the next ports where the wanted one is taken.

    Raises:
        SetupError: no port is free, or the address is none of this machine.
    """
    last = min(port + _PORTS_TRIED, _HIGHEST_PORT + 1) if search_free_port and port else port + 1
    for candidate in range(port, last):
        bound = _bind(host, candidate, backlog=backlog)
        if bound is None:
            continue
        if candidate != port:
            logger.warning("port_taken", extra={"host": host, "asked": port, "got": candidate})
        return bound
    tried = f"port {port} is" if last == port + 1 else f"ports {port} to {last - 1} are"
    raise SetupError(f"{tried} taken on {host}: stop what listens there, or set another under ports:")


def _bind(host: str, port: int, *, backlog: int) -> socket.socket | None:
    """None where the port is taken."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        bound = socket.socket(family, kind, protocol)
    except OSError as error:
        raise SetupError(f"cannot listen on {host}: {error.strerror}") from error
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind(address)
        bound.listen(backlog)
    except OSError as error:
        bound.close()
        if error.errno == errno.EADDRINUSE:
            return None
        raise SetupError(f"cannot listen on {host} port {port}: {error.strerror}") from error
    return bound
