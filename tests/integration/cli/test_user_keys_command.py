"""`ragsonde user-keys` over a real Postgres."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import update

from ragsonde.cli.main import run
from ragsonde.storage.tables import UserKeyRow

pytestmark = pytest.mark.integration


@pytest.fixture
def command(own_engine, capsys):
    """Runs the command: code and output."""
    url = own_engine.url.render_as_string(hide_password=False)

    def call(*arguments):
        with pytest.raises(SystemExit) as ended:
            run(["user-keys", *arguments, "--database-url", url])
        said = capsys.readouterr()
        return ended.value.code, said.out + said.err

    return call


def list_keys(command):
    return json.loads(command("list", "--output", "json")[1])["keys"]


def test_a_key_is_rotated_and_the_older_one_retired_when_it_is_not_used_any_more(command, own_engine):
    (first,) = list_keys(command)
    (before,) = [
        form for form in json.loads(command("find", "anna", "-o", "json")[1])["forms"] if form != "anna"
    ]
    assert before.startswith(f"{first['id']}:")

    assert "would be made" in command("rotate", "--dry-run")[1]
    assert len(list_keys(command)) == 1
    assert command("rotate")[0] == 0
    newest, oldest = list_keys(command)
    assert (newest["is_used"], oldest["is_used"]) == (False, True)
    assert "is the one that is used" in command("retire", oldest["id"])[1]

    long_ago = datetime.now(UTC) - timedelta(minutes=5)
    with own_engine.begin() as connection:
        connection.execute(update(UserKeyRow).values(used_from=long_ago).where(UserKeyRow.id == newest["id"]))
    with own_engine.begin() as connection:
        earlier = long_ago - timedelta(days=1)
        connection.execute(update(UserKeyRow).values(used_from=earlier).where(UserKeyRow.id == oldest["id"]))
    assert "would be erased" in command("retire", oldest["id"], "--dry-run")[1]
    found = command("find", "anna")[1]
    assert f"{before}   its pseudonym by key {oldest['id']}" in found
    assert "anna   the id as it is" in found
    assert "a pseudonym already" in command("find", before)[1]
    assert command("retire", oldest["id"])[0] == 0
    assert before not in command("find", "anna")[1]
    assert "its pseudonyms find nobody" in command("list")[1]


def test_a_mistake_is_told_with_the_way_out(command, monkeypatch):
    assert "the user's id" in command("find")[1]
    code, told = command("retire", "nokey")
    assert (code, "found no key nokey" in told) == (2, True)

    monkeypatch.setenv("RAGSONDE_USER_KEY", "short")
    assert "RAGSONDE_USER_KEY: found fewer than 16 characters" in command("list")[1]
    monkeypatch.setenv("RAGSONDE_USER_KEY", "0123456789abcdef-and-more")
    assert "given by the settings" in command("list")[1]
    assert "the settings give the keys" in command("rotate")[1]
    assert "0123456789abcdef" not in command("list", "--output", "json")[1]
