"""What tests of commands about falls share: streams to steer, and the commands over their database."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from fakes.clock import FakeClock
from ragsonde.cli.main import run
from services.steering_ground import SteeringGround


@pytest.fixture
def ground(own_engine, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    # the command goes by the clock of the machine: what is made up ends at about now
    return SteeringGround(own_engine, clock=FakeClock(datetime.now(UTC) - timedelta(days=10)))


@pytest.fixture
def stream(ground):
    return ground.begin()


@pytest.fixture
def call(database_url, capsys):
    """Runs a command on this test's own database: exit code, what it prints, what it complains of."""

    def run_command(*words):
        with pytest.raises(SystemExit) as ended:
            run([*words, "--database-url", database_url])
        out, err = capsys.readouterr()
        return ended.value.code, out, err

    return run_command
