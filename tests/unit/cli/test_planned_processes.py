import json
import socket

import pytest

from ragsonde.cli.up import list_problems, plan_processes
from ragsonde.servers.process_tree import FinalExitError
from ragsonde.settings import read_settings


def plan(tmp_path, *, workers=1, **settings):
    environ = {name: value for name, value in settings.items() if value is not None}
    read = read_settings(environ={"RAGSONDE_DATA_DIR": str(tmp_path), **environ})
    return plan_processes(read, config=None, workers=workers)


def test_an_address_of_version_6_is_written_in_brackets(tmp_path):
    processes = plan(tmp_path, RAGSONDE_HOST="::1")
    assert len(processes) == 3
    assert all(one.url.startswith("http://[::1]:") for one in processes)


def test_an_address_of_version_4_is_not(tmp_path):
    assert all(one.url.startswith("http://127.0.0.1:") for one in plan(tmp_path))


def test_each_process_has_a_port_of_its_own(tmp_path):
    processes = plan(tmp_path, workers=3)
    assert len({one.url for one in processes}) == len(processes) == 5


def test_a_port_that_another_program_has_is_told_and_one_of_ours_is_not(tmp_path, capsys):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        plan(tmp_path, workers=2, RAGSONDE_PORTS__WORKER_METRICS=str(port))
        assert f"worker-1: port {port} is taken, it listens on" in capsys.readouterr().err
    plan(tmp_path, workers=2, RAGSONDE_PORTS__WORKER_METRICS=str(port))
    assert "worker-" not in capsys.readouterr().err


def test_the_receiver_says_where_it_takes_traces_and_may_bind_an_address_of_its_own(tmp_path):
    processes = plan(tmp_path, RAGSONDE_RECEIVER__HOST="127.0.0.2", RAGSONDE_PORTS__RECEIVER="24400")
    (receiver,) = [one for one in processes if one.takes]
    assert receiver.child.name == "receiver"
    assert receiver.takes == f"OTLP {receiver.url}/v1/traces"
    assert receiver.url.startswith("http://127.0.0.2:244")
    assert receiver.child.argv[-3:-1] == ["receiver", "--port"]


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


def test_what_refuses_its_settings_is_not_started_again(tmp_path):
    assert {one.child.final_codes for one in plan(tmp_path)} == {frozenset({2})}


@pytest.mark.parametrize(
    ("said", "problems"),
    [
        (
            ["loading", "ragsonde: a: wrong", "ragsonde: b: wrong"],
            ["worker-1: a: wrong", "worker-1: b: wrong"],
        ),
        (["loading", "Usage: ragsonde"], ["worker-1: Usage: ragsonde"]),
        ([], ["worker-1: ended with code 2"]),
    ],
)
def test_its_message_is_told_with_its_name(said, problems):
    assert list_problems(FinalExitError("worker-1", exit_code=2, said=said)) == problems
