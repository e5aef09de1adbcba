"""Postgres from a wheel, reachable only through a private unix socket."""

from __future__ import annotations

import os
import platform
import shutil
import signal
import time
from functools import partial
from typing import TYPE_CHECKING

from ragsonde.servers.embedded_server import EmbeddedServer
from ragsonde.servers.leash import PLAIN_ENVIRONMENT, run
from ragsonde.servers.placement import STATE_DIR, Placement, place_postgres
from ragsonde.servers.processes import find_by_pid_file, read_pid, stop_orphan
from ragsonde.servers.server_process import ServerProcess, ServerProgram, StopSteps
from ragsonde.servers.sockets import choose_socket_dir, drop_socket_dir
from ragsonde.servers.wheels import POSTGRES_MAJOR, find_postgres
from ragsonde_schemas.errors import SetupError

if TYPE_CHECKING:
    from pathlib import Path

_ROLE = "ragsonde"
_PORT = 5432  # only part of the socket's name
_SOCKET_NAME = f".s.PGSQL.{_PORT}"
_RETRY_SECONDS = 0.1

# SIGINT ends open sessions and closes the files; SIGQUIT leaves recovery to the next start
_STOP_STEPS: StopSteps = ((signal.SIGINT, 20.0), (signal.SIGQUIT, 5.0), (signal.SIGKILL, 5.0))

# one call for the file system instead of one for each of a thousand files; only Linux has it
_SYNC_METHOD = "syncfs" if platform.system() == "Linux" else "fsync"

_INITDB_OPTIONS = (
    f"--sync-method={_SYNC_METHOD}",
    f"--username={_ROLE}",
    "--auth-local=trust",  # the socket's mode lets in its owner and root only
    "--auth-host=reject",
    "--encoding=UTF8",
    "--locale=C",
    "--locale-provider=builtin",  # the same order and case rules on every machine, whatever its C library
    "--builtin-locale=C.UTF-8",
)

_SETTINGS = {
    "listen_addresses": "",  # no TCP at all
    "port": str(_PORT),
    "unix_socket_permissions": "0700",
    "max_connections": "100",
    "shared_buffers": "64MB",  # beside workers on a small machine
    "fsync": "on",
    "synchronous_commit": "on",
    "recovery_init_sync_method": _SYNC_METHOD,  # a start after a kill is quick
    "io_method": "sync",  # no pool of I/O processes for so small a database
    "timezone": "UTC",
    "log_timezone": "UTC",
    "logging_collector": "off",
    "log_checkpoints": "off",
    # a failed statement may hold a trace's text, and so may the detail of a violated constraint
    "log_min_error_statement": "panic",
    "log_error_verbosity": "terse",
}


class EmbeddedPostgres(EmbeddedServer):
    """A Postgres of our own in `<data_dir>/postgres`.

    Attributes:
        notices: after `start`, what the person at the terminal should know.
    """

    name = "Postgres"

    def __init__(
        self,
        data_dir: Path,
        *,
        run_as: str | None = None,
        state_dir: Path = STATE_DIR,
        start_timeout_seconds: float = 60.0,
    ) -> None:
        """A server that is not started yet.

        Args:
            data_dir: of the whole embedded stack.
            run_as: when we are root and the data is new: whom it runs as; default user postgres, else nobody.
            state_dir: where root keeps what that user cannot reach elsewhere.
            start_timeout_seconds: for it to serve, recovery after a crash included.
        """
        super().__init__(data_dir, start_timeout_seconds=start_timeout_seconds)
        self._run_as = run_as
        self._state_dir = state_dir
        self._placement: Placement | None = None
        self._socket_dir: Path | None = None
        self.notices: tuple[str, ...] = ()

    @property
    def url(self) -> str:
        """`postgresql://` with role, database and socket; without password: the socket is the owner's alone.

        Raises:
            SetupError: it was not started.
        """
        if self._socket_dir is None:
            raise SetupError(f"Postgres in {self._data_dir} was not started by this process")
        # the port is named, for PGPORT in the environment of a client would be part of the socket's name
        return f"postgresql://{_ROLE}@/postgres?host={self._socket_dir}&port={_PORT}"

    def _launch(self) -> ServerProcess:
        placement = place_postgres(
            self._data_dir, wheel=find_postgres(), run_as=self._run_as, state_dir=self._state_dir
        )
        self._placement = placement
        self.notices = placement.notices
        cluster_dir = placement.cluster_dir
        orphan = find_by_pid_file(cluster_dir / "postmaster.pid", command_part=f"/postgres -D {cluster_dir} ")
        if orphan is not None:
            stop_orphan(orphan, steps=_STOP_STEPS)
        _ensure_cluster(placement)
        owner = cluster_dir.stat()
        self._socket_dir = choose_socket_dir(
            cluster_dir, socket_name=_SOCKET_NAME, owner=(owner.st_uid, owner.st_gid)
        )
        return self._launch_program(
            ServerProgram(
                name=self.name,
                argv=_argv(placement, socket_dir=self._socket_dir),
                stop_steps=_STOP_STEPS,
                log=self.log,
                account=placement.account,
                environment=_environment(cluster_dir),
            ),
            cluster_dir=cluster_dir,
        )

    def _launch_program(self, program: ServerProgram, *, cluster_dir: Path) -> ServerProcess:
        deadline = time.monotonic() + self._start_timeout_seconds
        while True:
            process = ServerProcess(program)
            try:
                process.wait_until_ready(
                    partial(_is_ready, cluster_dir, pid=process.pid),
                    timeout_seconds=self._start_timeout_seconds,
                )
            except SetupError:
                # sessions of a killed server notice its death within moments; until then the data is theirs
                if not process.has_said("pre-existing shared memory block") or time.monotonic() > deadline:
                    raise
                time.sleep(_RETRY_SECONDS)
            else:
                return process

    def _tidy_up(self) -> None:
        if self._socket_dir is not None and self._placement is not None:
            drop_socket_dir(self._socket_dir, preferred=self._placement.cluster_dir)
        self._socket_dir = None


def _argv(placement: Placement, *, socket_dir: Path) -> list[str]:
    settings = {**_SETTINGS, "unix_socket_directories": str(socket_dir)}
    options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
    # -D first: an orphan is recognised by the program's name followed by its data directory
    return [str(placement.programs_dir / "postgres"), "-D", str(placement.cluster_dir), *options]


def _environment(cluster_dir: Path) -> dict[str, str]:
    environment = dict(PLAIN_ENVIRONMENT)
    stale_pid = read_pid(cluster_dir / "postmaster.pid")
    if stale_pid is not None:
        # Postgres does not start while the pid in that file lives, also where a stranger has it by now. This
        # variable names a pid that is known to be no server; the shared memory that the file names as well
        # still keeps Postgres from starting beside sessions of a killed one.
        environment["PG_GRANDPARENT_PID"] = str(stale_pid)
    return environment


def _is_ready(cluster_dir: Path, *, pid: int) -> bool:
    try:
        lines = (cluster_dir / "postmaster.pid").read_text().splitlines()
    except OSError:
        return False
    status_line = 7
    return len(lines) > status_line and lines[0].strip() == str(pid) and lines[status_line].strip() == "ready"


def _ensure_cluster(placement: Placement) -> None:
    cluster_dir = placement.cluster_dir
    version_file = cluster_dir / "PG_VERSION"
    if not cluster_dir.exists():
        _make_cluster(placement)
    elif not version_file.is_file():
        raise SetupError(f"{cluster_dir} holds no Postgres data (no PG_VERSION): remove it or move it away")
    version = version_file.read_text().strip()
    if version != str(POSTGRES_MAJOR):
        raise SetupError(
            f"{cluster_dir} was made by Postgres {version}, the installed wheel holds {POSTGRES_MAJOR}: dump "
            f"it with the old version and load it again, or move it away to begin empty"
        )


def _make_cluster(placement: Placement) -> None:
    unfinished = placement.cluster_dir.with_name(f"{placement.cluster_dir.name}.unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir(mode=0o700)
    if placement.account is not None:
        os.chown(unfinished, placement.account.uid, placement.account.gid)
    initdb = str(placement.programs_dir / "initdb")
    outcome = run([initdb, "-D", str(unfinished), *_INITDB_OPTIONS], account=placement.account)
    if outcome.exit_code != 0:
        reason = next(
            (line for line in outcome.output.splitlines() if "error" in line), outcome.output.strip()
        )
        raise SetupError(f"initdb ended with code {outcome.exit_code} in {unfinished}: {reason}")
    unfinished.rename(placement.cluster_dir)  # whole or not at all: a killed initdb leaves no half cluster
