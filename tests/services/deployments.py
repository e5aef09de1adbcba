"""Whole deployments for tests: a broker, a database, and processes of ours on them."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import urllib.request
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING
from urllib.error import HTTPError
from urllib.parse import urlsplit

import psycopg
import redis

from ragsonde.intake.publisher import Publisher
from services.rabbitmq import rabbitmqctl
from services.waiting import wait_for

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LOG_END_CHARACTERS = 20_000


class Running:
    """A process of ours.

    Attributes:
        process: as started.
        command: what it is: `worker`, `monitor` or `receiver`.
        url: where it answers HTTP.
    """

    def __init__(self, process: subprocess.Popen, log: Path, *, command: str) -> None:
        self.process, self.command = process, command
        self._log = log

    @property
    def pid(self) -> int:
        return self.process.pid

    @property
    def url(self) -> str:
        found = wait_for(
            lambda: re.findall(r"metrics=(http://\S+)/metrics", self.read_log()),
            seconds=60,
            what=f"the address in the log of process {self.pid}",
        )
        return found[-1]

    def read_log(self) -> str:
        """What this process has logged so far; fails when it ended without having been asked to."""
        text = self._log.read_text()
        code = self.process.poll()
        assert code is None or code <= 0, f"process {self.pid} ended with {code}:\n{text}"
        return text

    def read(self, path: str) -> str:
        with urllib.request.urlopen(self.url + path, timeout=10) as answer:  # noqa: S310 - our own address
            return answer.read().decode()

    def read_series(self, name: str) -> float:
        """The sum of a series over its labels."""
        found = re.findall(rf"^ragsonde_{name}(?:{{.*}})? (\S+)$", self.read("/metrics"), flags=re.MULTILINE)
        return sum(float(value) for value in found)

    def is_on_broker(self) -> bool:
        """True when /health/ready says that the broker is well."""
        try:
            parts = json.loads(self.read("/health/ready"))["parts"]
        except HTTPError as error:
            parts = json.loads(error.read())["parts"]
        return parts["broker"] == "ok"

    def kill(self) -> None:
        self.process.kill()
        self.process.wait(timeout=30)

    def terminate(self, *, seconds: float = 60) -> int:
        """Its exit code after SIGTERM; what its threads do is told where it does not end in time."""
        self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(timeout=seconds)
        except subprocess.TimeoutExpired as error:
            self.process.send_signal(signal.SIGABRT)
            self.process.wait(timeout=30)
            error.add_note(self.read_log()[-LOG_END_CHARACTERS:])
            raise


class Deployment:
    """A broker and a migrated database, with whatever processes a test starts.

    Attributes:
        kind: `rabbitmq` or `embedded`.
    """

    def __init__(
        self, kind: str, *, broker_url: str, database_url: str, folder: Path, data_dir: Path | None = None
    ) -> None:
        self.kind, self.broker_url, self.database_url, self.folder = kind, broker_url, database_url, folder
        self._data_dir = data_dir
        self._processes: list[Running] = []
        self.settings: dict[str, str] = {}

    @property
    def environment(self) -> dict[str, str]:
        ours = {name: value for name, value in os.environ.items() if not name.startswith("RAGSONDE_")}
        # a process that is aborted tells what each of its threads does
        where = {"RAGSONDE_DATABASE_URL": self.database_url, "PYTHONFAULTHANDLER": "1"}
        if self._data_dir is None:
            where["RAGSONDE_BROKER_URL"] = self.broker_url
        else:
            where["RAGSONDE_DATA_DIR"] = str(self._data_dir)
        return {**ours, **where, **self.settings}

    def start(self, command: str, *arguments: str, program: tuple[str, ...] = ("-m", "ragsonde")) -> Running:
        """Starts `ragsonde COMMAND`; everything is stopped at the end of the test."""
        log = self.folder / f"{command}-{len(self._processes) + 1}.log"
        with log.open("ab") as output:
            process = subprocess.Popen(
                [sys.executable, *program, command, *arguments],
                env=self.environment,
                cwd=self.folder,
                stdout=output,
                stderr=output,
            )
        running = Running(process, log, command=command)
        self._processes.append(running)
        return running

    def run(self, *arguments: str, stdin: str = "") -> subprocess.CompletedProcess:
        """Runs `ragsonde ARGUMENTS` to its end."""
        return subprocess.run(
            [sys.executable, "-m", "ragsonde", *arguments],
            env=self.environment,
            cwd=self.folder,
            input=stdin,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    def wait_until_unsuspected(self) -> None:
        """Returns when no message that came again is worked on: killed once more, it would be parked."""
        wait_for(
            lambda: self.count("SELECT count(*) FROM suspect") == 0, seconds=60, what="the last suspect's end"
        )

    @contextmanager
    def publisher(self) -> Iterator[Publisher]:
        publisher = Publisher(self.broker_url)
        try:
            publisher.declare_topology()
            yield publisher
        finally:
            publisher.close()

    def publish(self, messages: list[dict]) -> None:
        with self.publisher() as publisher:
            for message in messages:
                publisher.publish_trace(json.dumps(message).encode(), content_type="application/json")

    def start_ready_worker(self, *arguments: str) -> Running:
        """A worker that consumes."""
        worker = self.start("worker", "--threads", "2", *arguments)
        wait_for(worker.is_on_broker, seconds=90, what="a worker on its broker")
        return worker

    def wait_until_scored(self, count: int) -> None:
        wait_for(
            lambda: self.count("SELECT count(*) FROM evaluation WHERE state = 'scored'") == count,
            seconds=30,
            what=f"{count} scored",
        )

    def ask_rabbitmq(self, command: str, *columns: str) -> list[dict]:
        """What rabbitmqctl lists of our virtual host."""
        answer = rabbitmqctl(command, "-p", self.vhost, "--quiet", "--formatter", "json", *columns)
        return json.loads(answer.stdout)

    @property
    def vhost(self) -> str:
        return self.broker_url.rpartition("/")[2]

    def query(self, sql: str, *parameters: object) -> list[tuple]:
        with psycopg.connect(self.database_url, autocommit=True) as connection:
            return connection.execute(sql, parameters or None).fetchall()

    def count(self, sql: str, *parameters: object) -> int:
        return self.query(sql, *parameters)[0][0]

    def list_living(self, command: str) -> list[Running]:
        """The processes of a command that have not ended."""
        return [one for one in self._processes if one.command == command and one.process.poll() is None]

    def kill(self) -> None:
        """Kills every process: quicker than to stop them, where nothing is left to be seen."""
        for running in self._processes:
            running.kill()

    def stop(self) -> None:
        with ExitStack() as stack:
            for running in self._processes:
                if running.process.poll() is None:
                    running.process.terminate()
                stack.callback(_end, running.process)


def empty_valkey(url: str) -> None:
    """Removes everything from the embedded broker of a test session."""
    with redis.Redis(unix_socket_path=urlsplit(url).path) as client:
        client.flushall()


def _end(process: subprocess.Popen) -> None:
    try:
        process.wait(timeout=20)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait(timeout=10)
