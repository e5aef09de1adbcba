"""The embedded stack: Postgres and Valkey of one data directory, started and stopped together."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

from ragsonde.servers.data_directory import prepare_data_dir
from ragsonde.servers.placement import STATE_DIR
from ragsonde.servers.postgres import EmbeddedPostgres
from ragsonde.servers.running import StackUrls, find_running, forget_running, note_running
from ragsonde.servers.valkey import EmbeddedValkey
from ragsonde.servers.watch import Watch

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType

    from ragsonde.servers.embedded_server import EmbeddedServer
    from ragsonde.servers.process_event import ProcessEvent

__all__ = ["EmbeddedStack", "StackUrls", "find_running"]


class EmbeddedStack:
    """Both servers of a data directory, owned by this process.

    Other processes find them with `find_running`; a second owner is refused.
    """

    def __init__(self, data_dir: Path, *, run_as: str | None = None, state_dir: Path = STATE_DIR) -> None:
        """A stack that is not started yet.

        Args:
            data_dir: everything of the stack lies here; made where it is missing.
            run_as: when we are root and the data is new: whom Postgres runs as; default user postgres, else
                nobody.
            state_dir: where root keeps what that user cannot reach elsewhere.
        """
        self._data_dir = data_dir
        self._postgres = EmbeddedPostgres(data_dir, run_as=run_as, state_dir=state_dir)
        self._valkey = EmbeddedValkey(data_dir)
        self._watches: tuple[Watch, ...] = ()

    @property
    def _servers(self) -> tuple[EmbeddedServer, ...]:
        return (self._postgres, self._valkey)

    @property
    def notices(self) -> tuple[str, ...]:
        """After `start`, what the person at the terminal should know, one sentence each."""
        return self._postgres.notices

    def start(self) -> StackUrls:
        """Where both servers are reached, now that they serve.

        Raises:
            SetupError: another process runs them already (its pid is named), a wheel is missing, or a server
                does not come up; neither is running then.
        """
        self._data_dir = prepare_data_dir(self._data_dir)
        with ExitStack() as undo:
            undo.callback(self.stop)
            for server in self._servers:
                server.start()
            urls = self._note()
            undo.pop_all()
        self._watches = tuple(Watch(server) for server in self._servers)
        return urls

    def stop(self) -> None:
        """Stops both, the last started first, and waits for their end."""
        self._watches = ()
        with ExitStack() as steps:
            for server in self._servers:
                steps.callback(server.stop)
            if all(server.is_owned for server in self._servers):
                steps.callback(forget_running, self._data_dir)

    def tend(self) -> tuple[ProcessEvent, ...]:
        """What had to be done; to be called every moment.

        A server that died is started again, after a growing pause; logs are kept short.
        """
        events = tuple(event for watch in self._watches for event in watch.tend())
        if events and all(server.is_alive for server in self._servers):
            self._note()
        return events

    def __enter__(self) -> StackUrls:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _note(self) -> StackUrls:
        urls = StackUrls(database_url=self._postgres.url, broker_url=self._valkey.url)
        note_running(self._data_dir, urls=urls, servers=tuple(server.identity for server in self._servers))
        return urls
