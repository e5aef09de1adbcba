"""`ragsonde up` as a process, from its start to Ctrl-C."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import psycopg

from ragsonde.servers.running import find_running
from services.waiting import wait_for


def find_processes(folder: Path) -> dict[int, str]:
    """Command lines of the living processes that work in the folder or name it, by pid."""
    found = {}
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
            place = str((entry / "cwd").readlink())
        except OSError:
            continue
        if entry.name != str(os.getpid()) and (str(folder) in command or place.startswith(str(folder))):
            found[int(entry.name)] = command
    return found


def kill_all(folder: Path) -> None:
    """Kills what `find_processes` finds; what ended with another one, before its turn, is dead as well."""
    for pid in find_processes(folder):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


_STARTED: list[Stack] = []


def end_stacks() -> None:
    """Kills what is left of every stack that was started: of a test that failed before it stopped its own."""
    while _STARTED:
        stack = _STARTED.pop()
        if stack.process.poll() is None:
            kill_all(stack.folder)
            stack.process.wait(timeout=10)


class Stack:
    """A running `ragsonde up`."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        self.folder, self.log = folder, folder / "up.log"
        environment = {name: value for name, value in os.environ.items() if not name.startswith("RAGSONDE_")}
        self.begun = time.monotonic()
        self._begins_at = self.log.stat().st_size if self.log.exists() else 0
        with self.log.open("ab") as output:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "ragsonde", "up", *arguments],
                cwd=folder,
                env=environment,
                stdout=output,
                stderr=output,
            )
        _STARTED.append(self)

    def read_log(self) -> str:
        text = self.log.read_bytes()[self._begins_at :].decode()
        assert self.process.poll() in (None, 0), text
        return text

    def wait_until_ready(self) -> float:
        """Seconds from the start to the printed addresses."""
        # a demo loads two weeks first
        wait_for(lambda: "Ctrl-C stops everything" in self.read_log(), seconds=240, what="the addresses")
        return time.monotonic() - self.begun

    @property
    def metrics(self) -> str:
        return re.search(r"worker-1 +(http://\S+/metrics)", self.read_log()).group(1)

    @property
    def monitor_metrics(self) -> str:
        return re.search(r"monitor +(http://\S+/metrics)", self.read_log()).group(1)

    @property
    def page(self) -> str:
        """Where people read, without a slash at its end."""
        return self.monitor_metrics.removesuffix("/metrics")

    @property
    def traces_url(self) -> str:
        """Where the receiver takes traces."""
        return re.search(r"any known format (http://\S+/traces)", self.read_log()).group(1)

    def query(self, sql: str, *parameters: object) -> list[tuple]:
        with psycopg.connect(find_running(self.folder / "ragsonde-data").database_url) as connection:
            return connection.execute(sql, parameters).fetchall()

    def count_traces(self) -> int:
        return self.query("SELECT count(*) FROM trace")[0][0]

    def count_judged(self) -> int:
        """Evaluations of the free judge: of the demo, its traces of today without its history."""
        return self.query("SELECT count(*) FROM evaluation WHERE judge = 'lexical'")[0][0]

    def wait_until_scored(self) -> float:
        """Seconds from the start to the first score in the table that it shows."""
        wait_for(lambda: re.search(r"[1-9]\d* scored", self.read_log()), what="the first scores")
        return time.monotonic() - self.begun

    def stop(self) -> int:
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(timeout=60)
