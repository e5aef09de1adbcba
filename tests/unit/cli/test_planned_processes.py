import json

import pytest

from ragsonde.cli.up import plan_processes
from ragsonde.settings import read_settings


def plan(tmp_path, *, workers=1, **settings):
    environ = {name: value for name, value in settings.items() if value is not None}
    read = read_settings(environ={"RAGSONDE_DATA_DIR": str(tmp_path), **environ})
    return plan_processes(read, config=None, workers=workers)


def test_an_address_of_version_6_is_written_in_brackets(tmp_path):
    (monitor, worker) = plan(tmp_path, RAGSONDE_HOST="::1")
    assert monitor.url.startswith("http://[::1]:")
    assert worker.url.startswith("http://[::1]:")


def test_an_address_of_version_4_is_not(tmp_path):
    assert all(one.url.startswith("http://127.0.0.1:") for one in plan(tmp_path))


def test_each_process_has_a_port_of_its_own(tmp_path):
    processes = plan(tmp_path, workers=3)
    assert len({one.url for one in processes}) == len(processes) == 4


@pytest.mark.parametrize(("deadline_seconds", "grace_seconds"), [(10, 40), (300, 330)])
def test_what_runs_may_end_however_long_the_longest_deadline_is(tmp_path, deadline_seconds, grace_seconds):
    judge = {
        "name": "gpt",
        "kind": "litellm",
        "model": "openai/x",
        "timeout_seconds": 5,
        "deadline_seconds": deadline_seconds,
    }
    planned = plan(tmp_path, RAGSONDE_JUDGES=json.dumps([judge]))
    assert {one.child.grace_seconds for one in planned} == {grace_seconds}
