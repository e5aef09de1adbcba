"""What the embedded Postgres and the embedded Valkey have in common: one owner, one child, one life."""

from __future__ import annotations

import atexit
import threading
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar, Self

from ragsonde.servers.data_directory import prepare_data_dir
from ragsonde.servers.log_file import LogFile
from ragsonde.servers.ownership import Ownership
from ragsonde_schemas.errors import SetupError

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType

    from ragsonde.servers.processes import ProcessIdentity
    from ragsonde.servers.server_process import ServerProcess


class EmbeddedServer(ABC):
    """A server whose life is part of ours: started as our child, stopped at the latest when we end.

    Whatever an earlier, killed owner left (a server still running, a pid file, a socket) is recognised and
    put in order by `start`; the data stays. Use it as a context manager, or call `start` and `stop`.

    Args:
        data_dir: where the server's data, lock and log lie; made where it is missing.
        start_timeout_seconds: for the server to serve, recovery after a crash included.
    """

    name: ClassVar[str]

    def __init__(self, data_dir: Path, *, start_timeout_seconds: float = 60.0) -> None:
        self._data_dir = data_dir
        self._start_timeout_seconds = start_timeout_seconds
        self._ownership: Ownership | None = None
        self._process: ServerProcess | None = None

    @property
    @abstractmethod
    def url(self) -> str:
        """Where it is reached, once started."""

    @property
    def pid(self) -> int:
        """Its process number.

        Raises:
            SetupError: it was not started.
        """
        return self._started().pid

    @property
    def is_owned(self) -> bool:
        """Whether this object holds the data directory's lock for this server."""
        return self._ownership is not None

    @property
    def is_alive(self) -> bool:
        """Whether it was started and has not ended."""
        return self._process is not None and self._process.exit_code is None

    @property
    def exit_code(self) -> int | None:
        """What a server that died by itself ended with, negative for a signal; None otherwise."""
        return self._process.exit_code if self._process is not None else None

    @property
    def log(self) -> LogFile:
        """What it writes."""
        return LogFile(self._data_dir / "log" / f"{self.name.lower()}.log")

    @property
    def identity(self) -> ProcessIdentity:
        """Who the server process is, for other processes to recognise.

        Raises:
            SetupError: it was not started, or never came up.
        """
        return self._started().identity

    def start(self) -> None:
        """Starts it and returns when it serves; also after it died by itself; nothing while it lives.

        Raises:
            SetupError: another process runs it already (its pid is named), a wheel is missing, or the server
                does not come up (its last complaint is told).
            RuntimeError: called from another thread than the main one, with whose end the server would die.
        """
        if threading.current_thread() is not threading.main_thread():
            raise RuntimeError(
                f"start {self.name} from the main thread: it ends with the thread that starts it"
            )
        if self.is_alive:
            return
        self._data_dir = prepare_data_dir(self._data_dir)
        if self._ownership is None:
            ownership = Ownership(self._data_dir / f"{self.name.lower()}.lock", what=self.name)
            ownership.take()
            self._ownership = ownership
            atexit.register(self.stop)
        try:
            self._process = self._launch()
        except BaseException:
            if self._process is None:  # never ran: what is left to own is nothing
                self.stop()
            raise

    def stop(self) -> None:
        """Stops it and waits for its end; nothing when it is not running."""
        if self._process is not None:
            self._process.stop()
            self._process = None
        self._tidy_up()
        if self._ownership is not None:
            self._ownership.release()
            self._ownership = None
        atexit.unregister(self.stop)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    @abstractmethod
    def _launch(self) -> ServerProcess:
        """A process that serves, after the remains of earlier ones were put in order."""

    @abstractmethod
    def _tidy_up(self) -> None:
        """Removes what only a running server needs."""

    def _started(self) -> ServerProcess:
        if self._process is None:
            raise SetupError(f"{self.name} in {self._data_dir} was not started by this process")
        return self._process
