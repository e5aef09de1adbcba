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
from ragsonde_schemas.errors import RagsondeError

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
        final_codes: exit codes after which it is not started again, and the whole tree ends.
    """

    name: str
    argv: Sequence[str]
    log_path: Path
    environment: Mapping[str, str] = field(default_factory=lambda: dict(os.environ), repr=False)
    grace_seconds: float = 30.0
    backoff: Callable[[], Backoff] = Backoff
    final_codes: frozenset[int] = frozenset()


class FinalExitError(RagsondeError):
    """A child ended with one of its final codes.

    Attributes:
        name: the child's.
        exit_code: what it ended with.
        said: the lines that it wrote in its last life, of many only the last ones.
    """

    def __init__(self, name: str, *, exit_code: int, said: Sequence[str]) -> None:
        self.name = name
        self.exit_code = exit_code
        self.said = tuple(said)
        super().__init__(f"{name} ended with code {exit_code}: {'; '.join(said)}")


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

        Raises:
            FinalExitError: one ended with a code after which it is not; the others were stopped.
        """
        with ExitStack() as stops:
            watched = []
            for child in self._children:
                life = _ChildLife(child)
                watch = Watch(life, backoff=child.backoff(), final_codes=child.final_codes)
                stops.callback(_stop, life, on_event)
                on_event(watch.begin())
                watched.append((life, watch))
            while not until.wait(_POLL_SECONDS):
                for life, watch in watched:
                    _tell(watch.tend(), on_event)
                    if watch.has_given_up:
                        raise life.describe_end()
                _tell(self._tend(), on_event)


class _ChildLife:
    """A child, one life after the other."""

    def __init__(self, child: Child) -> None:
        self._child = child
        self._process: subprocess.Popen[bytes] | None = None
        self.name = child.name
        self.log = LogFile(child.log_path)
        self._begun_bytes = 0

    @property
    def pid(self) -> int:
        return self._process.pid if self._process is not None else 0

    @property
    def exit_code(self) -> int | None:
        return self._process.poll() if self._process is not None else None

    def start(self) -> None:
        with self.log.open() as output:
            self._begun_bytes = self.log.size_bytes()
            self._process = spawn(
                self._child.argv,
                output=output,
                # every message it works on is delivered again, so it may be cut off at once
                death_signal=signal.SIGKILL,
                environment=self._child.environment,
                working_dir=Path.cwd(),
            )

    def describe_end(self) -> FinalExitError:
        said = self.log.lines(since_bytes=self._begun_bytes)
        return FinalExitError(self.name, exit_code=self.exit_code or 0, said=said)

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
