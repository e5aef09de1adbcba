"""A virtual host of our own on the RabbitMQ at 127.0.0.1, so that no queue of anybody else is touched."""

from __future__ import annotations

import shutil
import socket
import subprocess
import uuid
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

HOST, PORT = "127.0.0.1", 5672


def require_rabbitmq() -> None:
    """Skips on a laptop without RabbitMQ."""
    missing = find_what_is_missing()
    if missing:
        pytest.skip(missing)


def find_what_is_missing() -> str | None:
    """What keeps the tests from using RabbitMQ, or None."""
    if shutil.which("rabbitmqctl") is None:
        return "there is no rabbitmqctl to make a virtual host with"
    with socket.socket() as probe:
        probe.settimeout(2)
        if probe.connect_ex((HOST, PORT)) != 0:
            return f"no RabbitMQ answers on {HOST}:{PORT}"
    if rabbitmqctl("list_vhosts", "--quiet", check=False).returncode != 0:
        return "rabbitmqctl may not be used by this user"
    return None


@contextmanager
def own_vhost() -> Iterator[str]:
    """The URL of a fresh virtual host, removed afterwards."""
    name = f"ragsonde-test-{uuid.uuid4().hex[:8]}"
    rabbitmqctl("add_vhost", name)
    try:
        rabbitmqctl("set_permissions", "-p", name, "guest", ".*", ".*", ".*")
        yield f"amqp://guest:guest@{HOST}:{PORT}/{name}"
    finally:
        rabbitmqctl("delete_vhost", name)


def rabbitmqctl(*arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["rabbitmqctl", *arguments], check=check, capture_output=True, text=True, timeout=60
    )
