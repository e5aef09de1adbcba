from __future__ import annotations

import os
import subprocess
import sys

import pytest

from ragsonde.servers.ownership import Ownership
from ragsonde_schemas.errors import SetupError

TAKE = """
import sys, pathlib
from ragsonde.servers.ownership import Ownership
Ownership(pathlib.Path(sys.argv[1]), what="Valkey").take()
print("taken", flush=True)
sys.stdin.read()
"""


def test_a_second_owner_is_refused_and_told_who_the_first_is(tmp_path):
    first = Ownership(tmp_path / "valkey.lock", what="Valkey")
    second = Ownership(tmp_path / "valkey.lock", what="Valkey")
    first.take()

    with pytest.raises(
        SetupError, match=rf"Valkey in {tmp_path} is already running, owned by process {os.getpid()}: use"
    ):
        second.take()
    assert not second.is_held

    first.release()
    second.take()
    second.release()


def test_taking_twice_and_releasing_twice_is_harmless(tmp_path):
    ownership = Ownership(tmp_path / "lock", what="it")
    ownership.take()
    ownership.take()
    assert ownership.is_held
    ownership.release()
    ownership.release()
    assert not ownership.is_held


def test_the_lock_of_a_killed_owner_is_free(tmp_path):
    path = tmp_path / "valkey.lock"
    with subprocess.Popen(
        [sys.executable, "-c", TAKE, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as owner:
        assert owner.stdout is not None
        assert owner.stdout.readline() == b"taken\n"
        ownership = Ownership(path, what="Valkey")
        with pytest.raises(SetupError, match=f"owned by process {owner.pid}:"):
            ownership.take()
        owner.kill()
        owner.wait()
        ownership.take()
        ownership.release()


def test_a_child_of_the_owner_does_not_keep_the_lock(tmp_path):
    path = tmp_path / "lock"
    ownership = Ownership(path, what="it")
    ownership.take()
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        ownership.release()
        other = Ownership(path, what="it")
        other.take()
        other.release()
        child.communicate(b"\n")
