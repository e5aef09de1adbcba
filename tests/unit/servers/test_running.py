from __future__ import annotations

import json
import os

import pytest

from ragsonde.servers.processes import ProcessIdentity, observe
from ragsonde.servers.running import StackUrls, find_running, forget_running, note_running

URLS = StackUrls("postgresql://ragsonde@/postgres?host=/d", "redis+socket:///d/v.sock?virtual_host=0")


@pytest.fixture
def ourselves():
    observed = observe(os.getpid())
    assert observed is not None
    return observed.identity


def test_a_running_stack_is_found(tmp_path, ourselves):
    note_running(tmp_path, urls=URLS, servers=(ourselves, ourselves))

    assert find_running(tmp_path) == URLS


def test_the_note_is_private(tmp_path, ourselves):
    note_running(tmp_path, urls=URLS, servers=(ourselves,))

    assert (tmp_path / "servers.json").stat().st_mode & 0o777 == 0o600


def test_nothing_is_found_where_nothing_was_noted(tmp_path):
    assert find_running(tmp_path) is None
    assert find_running(tmp_path / "absent") is None


def test_nothing_is_found_after_it_was_forgotten(tmp_path, ourselves):
    note_running(tmp_path, urls=URLS, servers=(ourselves,))
    forget_running(tmp_path)
    forget_running(tmp_path)

    assert find_running(tmp_path) is None


def test_a_note_whose_pid_belongs_to_a_stranger_now_finds_nothing(tmp_path, ourselves):
    stranger = ProcessIdentity(ourselves.pid, "another time")
    note_running(tmp_path, urls=URLS, servers=(ourselves, stranger))

    assert find_running(tmp_path) is None


@pytest.mark.parametrize("note", ["", "{", "[]", "{}", '{"urls": {}, "servers": []}', "null"])
def test_a_broken_note_finds_nothing(tmp_path, note):
    (tmp_path / "servers.json").write_text(note)

    assert find_running(tmp_path) is None


def test_a_note_with_unknown_fields_finds_nothing(tmp_path):
    (tmp_path / "servers.json").write_text(
        json.dumps({"urls": {"database_url": "a", "broker_url": "b", "more": "c"}, "servers": []})
    )

    assert find_running(tmp_path) is None
