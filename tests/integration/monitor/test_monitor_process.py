"""The monitor as a process: what it serves, what it survives, how it ends."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import time
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from threading import Event
from typing import TYPE_CHECKING

import pytest

from services.rabbitmq import own_vhost, require_rabbitmq

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pytestmark = pytest.mark.e2e

START_SECONDS = 60.0
STOP_SECONDS = 30.0
PROGRAM = "import typer; from ragsonde.cli.monitor import monitor; typer.run(monitor)"
NOWHERE = {
    "broker_url": "amqp://guest:secret@127.0.0.1:1//",
    "database_url": "postgresql://u:secret@127.0.0.1:1/x",
}


class MonitorProcess:
    """A running `ragsonde monitor`."""

    def __init__(self, process: subprocess.Popen[str], port: int) -> None:
        self.process = process
        self.port = port

    def get(self, path: str) -> tuple[int, str]:
        with closing(HTTPConnection("127.0.0.1", self.port, timeout=10)) as connection:
            connection.request("GET", path)
            response = connection.getresponse()
            return response.status, response.read().decode()

    def wait_until(self, is_so: Callable[[], bool]) -> None:
        ends_at = time.monotonic() + START_SECONDS
        while True:
            if self.process.poll() is not None:
                pytest.fail(f"the monitor ended: {self.process.communicate()[1]}")
            try:
                if is_so():
                    return
            except ConnectionRefusedError:
                pass
            assert time.monotonic() < ends_at, f"waited in vain; /metrics: {self.get('/metrics')[1][-3000:]}"
            Event().wait(0.05)

    def has_line(self, start: str) -> bool:
        """True when a sample that starts so is not 0."""
        lines = self.get("/metrics")[1].splitlines()
        return any(line.startswith(start) and float(line.rsplit(" ", 1)[1]) > 0 for line in lines)

    def end(self, number: signal.Signals) -> str:
        """What it logged, after a signal ended it in time and well."""
        self.process.send_signal(number)
        _, log = self.process.communicate(timeout=STOP_SECONDS)
        assert self.process.returncode == 0, log
        return log


@contextmanager
def running_monitor(*, broker_url: str, database_url: str) -> Iterator[MonitorProcess]:
    with closing(socket.create_server(("127.0.0.1", 0))) as probe:
        port = probe.getsockname()[1]
    options = ("--port", str(port), "--broker-url", broker_url, "--database-url", database_url)
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *options], stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        yield MonitorProcess(process, port)
    finally:
        with process:
            process.kill()


def test_without_broker_and_database_it_lives_on_says_so_and_ends_when_asked():
    with running_monitor(**NOWHERE) as monitor:
        monitor.wait_until(
            lambda: monitor.has_line('ragsonde_monitor_job_failures_total{job_name="sweeper"}')
        )
        monitor.wait_until(lambda: monitor.has_line('ragsonde_monitor_job_failures_total{job_name="queues"}'))
        assert monitor.get("/health/live")[0] == 200
        assert "Postgres is away" in monitor.get("/")[1]
        status, body = monitor.get("/health/ready")
        assert status == 503
        assert {part for part, state in json.loads(body)["parts"].items() if state != "ok"} == {
            "broker",
            "postgres",
        }
        assert "secret" not in body
        log = monitor.end(signal.SIGINT)
    assert log.count("monitor_job_failed job=sweeper") == 1
    assert "secret" not in log


@pytest.mark.integration
def test_with_broker_and_database_every_job_succeeds(database_url):
    require_rabbitmq()
    with (
        own_vhost() as broker_url,
        running_monitor(broker_url=broker_url, database_url=database_url) as monitor,
    ):
        for job in ("sweeper", "partitions", "retention", "queues", "ledger", "labels", "gathered"):
            series = f'ragsonde_monitor_job_last_success_timestamp_seconds{{job_name="{job}"}}'
            monitor.wait_until(lambda series=series: monitor.has_line(series))
        assert monitor.get("/health/ready") == (
            200,
            '{"status": "ok", "parts": {"broker": "ok", "postgres": "ok"}}\n',
        )
        assert 'ragsonde_queue_messages{queue="ragsonde.traces"} 0.0\n' in monitor.get("/metrics")[1]
        monitor.end(signal.SIGTERM)
