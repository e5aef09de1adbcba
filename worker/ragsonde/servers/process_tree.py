"""Our own processes under `ragsonde up`: started in order, kept alive, stopped in reverse order."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from ragsonde.servers.backoff import Backoff
from ragsonde.servers.leash import spawn
from ragsonde.servers.log_file import LogFile
from ragsonde.servers.process_event import Change, ProcessEvent
from ragsonde.servers.watch import Watch

if TYPE_CHECKING:
    import threading

_POLL_SECONDS = 0.1

OnEvent = Callable[[ProcessEvent], None]


@dataclass(frozen=True)
class Child:
    """A process to keep alive.

    Attributes:
        name: for people.
        argv: absolute path of the program and its arguments.
        log_path: file that takes both its outputs, kept below about 10 MiB with one older part.
        environment: its variables; ours where not given.
        grace_seconds: between SIGTERM and SIGKILL when it is stopped.
        backoff: how long to wait before it is started again, by how often it died.
    """

    name: str
    argv: Sequence[str]
    log_path: Path
    environment: Mapping[str, str] = field(default_factory=lambda: dict(os.environ), repr=False)
    grace_seconds: float = 30.0
    backoff: Callable[[], Backoff] = Backoff


class ProcessTree:
    """Children that live while `run` does.

    Each is in a session of its own, so that a Ctrl-C at the terminal reaches only us and we stop them in
    order; on Linux the kernel kills them when we are killed.

    Args:
        children: in the order of starting.
        tend: called every moment as well, for what else must be kept alive; what it returns is told as
            events.
    """

    def __init__(
        self, children: Sequence[Child], *, tend: Callable[[], Sequence[ProcessEvent]] = tuple
    ) -> None:
        self._children = tuple(children)
        self._tend = tend

    def run(self, until: threading.Event, *, on_event: OnEvent) -> None:
        """Returns when `until` was set and every child has ended; also on an exception no child is left.

        A child that ends before is started again, after a growing pause.
        """
        with ExitStack() as stops:
            watches = []
            for child in self._children:
                life = _ChildLife(child)
                watch = Watch(life, backoff=child.backoff())
                stops.callback(_stop, life, on_event)
                on_event(watch.begin())
                watches.append(watch)
            while not until.wait(_POLL_SECONDS):
                for watch in watches:
                    _tell(watch.tend(), on_event)
                _tell(self._tend(), on_event)


class _ChildLife:
    """A child, one life after the other."""

    def __init__(self, child: Child) -> None:
        self._child = child
        self._process: subprocess.Popen[bytes] | None = None
        self.name = child.name
        self.log = LogFile(child.log_path)

    @property
    def pid(self) -> int:
        return self._process.pid if self._process is not None else 0

    @property
    def exit_code(self) -> int | None:
        return self._process.poll() if self._process is not None else None

    def start(self) -> None:
        with self.log.open() as output:
            self._process = spawn(
                self._child.argv,
                output=output,
                # every message it works on is delivered again, so it may be cut off at once
                death_signal=signal.SIGKILL,
                environment=self._child.environment,
                working_dir=Path.cwd(),
            )

    def stop(self) -> tuple[ProcessEvent, ...]:
        """How it was stopped; nothing when it was not running."""
        if self._process is None or self._process.poll() is not None:
            return ()
        self._process.terminate()
        try:
            self._process.wait(timeout=self._child.grace_seconds)
        except subprocess.TimeoutExpired:
            self._kill()
            return (self._event(Change.KILLED),)
        except BaseException:  # interrupted while waiting
            self._kill()
            raise
        return (self._event(Change.STOPPED),)

    def _kill(self) -> None:
        process = self._process
        if process is not None:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)  # what it started as well
            process.wait()

    def _event(self, change: Change) -> ProcessEvent:
        return ProcessEvent(self.name, change, pid=self.pid, exit_code=self.exit_code)


def _stop(life: _ChildLife, on_event: OnEvent) -> None:
    _tell(life.stop(), on_event)


def _tell(events: Sequence[ProcessEvent], on_event: OnEvent) -> None:
    for event in events:
        on_event(event)
