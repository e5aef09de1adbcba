from __future__ import annotations

import pytest

from ragsonde.servers.process_event import Change, ProcessEvent


@pytest.mark.parametrize(
    ("event", "line"),
    [
        (ProcessEvent("worker", Change.STARTED, pid=7), "worker (pid 7) started"),
        (
            ProcessEvent(
                "worker", Change.DIED, pid=7, exit_code=-9, restart_in_seconds=0.5, detail="Error: no"
            ),
            "worker (pid 7) ended unexpectedly with SIGKILL, again in 0.5 s: Error: no",
        ),
        (
            ProcessEvent("worker", Change.DIED, pid=7, exit_code=2, restart_in_seconds=4.0),
            "worker (pid 7) ended unexpectedly with code 2, again in 4 s",
        ),
        (
            ProcessEvent("Postgres", Change.NOT_STARTED, restart_in_seconds=1.0, detail="disk full"),
            "Postgres could not be started, again in 1 s: disk full",
        ),
        (ProcessEvent("monitor", Change.STOPPED, pid=8, exit_code=0), "monitor (pid 8) stopped"),
        (
            ProcessEvent("monitor", Change.KILLED, pid=8, exit_code=-9),
            "monitor (pid 8) did not stop in time and was killed",
        ),
    ],
)
def test_an_event_reads_as_one_line(event, line):
    assert str(event) == line
