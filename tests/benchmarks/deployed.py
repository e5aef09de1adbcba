"""Processes of ours on a broker and a database of their own, and what they cost."""

from __future__ import annotations

import os
import sys
import tempfile
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from ragsonde.storage.migrations import migrate
from services.deployments import Deployment
from services.postgres import find_server, own_database
from services.rabbitmq import own_vhost

if TYPE_CHECKING:
    from collections.abc import Iterator

TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
_IDLE, _IOWAIT = 3, 4


@contextmanager
def a_deployment() -> Iterator[Deployment]:
    """A virtual host and a migrated database, removed afterwards."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        database_url = stack.enter_context(own_database(require_server()))
        migrate(database_url)
        broker_url = stack.enter_context(own_vhost())
        deployment = Deployment("rabbitmq", broker_url=broker_url, database_url=database_url, folder=folder)
        stack.callback(deployment.stop)
        yield deployment


def require_server() -> str:
    """The URL of the Postgres at hand."""
    server = find_server()
    if server is None:
        sys.exit("make bench needs Postgres on 127.0.0.1:5432")
    return server


def read_cpu(pid: int) -> float:
    """Seconds of CPU that a process has used, user's and system's."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS_PER_SECOND


def read_machine_cpu() -> float:
    """Seconds of CPU that all processes of the machine have used."""
    ticks = [int(field) for field in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]]
    return (sum(ticks) - ticks[_IDLE] - ticks[_IOWAIT]) / TICKS_PER_SECOND


def read_rss(pid: int) -> float:
    """Megabytes of memory that a process holds."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0]) / 1000
