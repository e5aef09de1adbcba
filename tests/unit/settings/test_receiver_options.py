from pathlib import Path

import pytest
from pydantic import SecretStr

from ragsonde.settings import read_settings, read_with_origins
from ragsonde.settings.effective import list_rows
from ragsonde.settings.secrets import build_token_reader
from ragsonde_schemas.errors import ConfigError
from ragsonde_schemas.token import TokenSource


@pytest.fixture(autouse=True)
def _empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def find_problems(text="", **environ):
    if text:
        Path("ragsonde.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        read_settings(environ=environ)
    return caught.value.problems


def test_another_address_needs_a_token():
    (problem,) = find_problems(RAGSONDE_RECEIVER__HOST="0.0.0.0")
    assert "found host 0.0.0.0" in problem
    assert "receiver.token_file" in problem


@pytest.mark.parametrize(
    "environ",
    [
        {"RAGSONDE_RECEIVER__TOKEN": "s3cret"},
        {"RAGSONDE_RECEIVER__TOKEN_FILE": "token"},
        {"RAGSONDE_INSECURE": "true"},
    ],
)
def test_with_a_token_or_where_the_network_is_trusted_it_may_be_bound(environ):
    settings = read_settings(environ={"RAGSONDE_RECEIVER__HOST": "0.0.0.0", **environ})
    assert settings.receiver.host == "0.0.0.0"
    assert settings.host == "127.0.0.1"


def test_a_token_of_the_receiver_lets_no_other_server_bind_another_address():
    (problem,) = find_problems(RAGSONDE_HOST="0.0.0.0", RAGSONDE_RECEIVER__TOKEN="s3cret")
    assert problem.startswith("RAGSONDE_HOST: found 0.0.0.0")


def test_one_source_of_a_token_is_enough():
    (problem,) = find_problems(RAGSONDE_RECEIVER__TOKEN="s3cret", RAGSONDE_RECEIVER__TOKEN_FILE="token")
    assert "keep one of them" in problem
    assert "s3cret" not in problem


def test_a_token_in_the_settings_file_is_refused_with_the_way_out():
    (problem,) = find_problems("receiver: {token: hunter2}\n")
    assert "receiver.token: is a secret" in problem
    assert "RAGSONDE_RECEIVER__TOKEN" in problem
    assert "token_file" in problem
    assert "hunter2" not in problem


@pytest.mark.parametrize("token", ["hunter two", " hunter2", "höhle", "hunter2\n"])
def test_a_token_that_no_header_can_hold_is_refused_and_not_shown(token):
    (problem,) = find_problems(RAGSONDE_RECEIVER__TOKEN=token)
    assert "RAGSONDE_RECEIVER__TOKEN" in problem
    assert token.strip() not in problem


def test_no_listing_of_the_settings_shows_the_token():
    reading = read_with_origins(environ={"RAGSONDE_RECEIVER__TOKEN": "hunter2"})
    shown = {row.key: row.value for row in list_rows(reading)}
    assert shown["receiver.token"] == "****"
    assert "hunter2" not in repr(reading.settings)


def test_a_token_file_is_read_anew_each_time():
    path = Path("token")
    path.write_text("old\n", encoding="utf-8")
    read_token = build_token_reader(TokenSource(token_file=path), key="receiver")
    assert read_token() == "old"
    path.write_text("new\n", encoding="utf-8")
    assert read_token() == "new"


@pytest.mark.parametrize("content", [None, "", " \n"])
def test_a_token_file_that_holds_none_stops_the_start(content):
    if content is not None:
        Path("token").write_text(content, encoding="utf-8")
    with pytest.raises(ConfigError, match=r"receiver\.token_file: token"):
        build_token_reader(TokenSource(token_file=Path("token")), key="receiver")


def test_without_a_token_nobody_is_asked():
    assert build_token_reader(TokenSource(), key="receiver")() is None


@pytest.mark.parametrize("content", ["x", "fifteen-letters", "sixteen letters!", "шестнадцать букв"])
def test_a_token_that_can_be_guessed_or_not_be_sent_stops_the_start_wherever_it_stands(content):
    Path("token").write_text(content, encoding="utf-8")
    with pytest.raises(ConfigError, match=r"page\.token_file: found"):
        build_token_reader(TokenSource(token_file=Path("token")), key="page", fewest=16)


def test_a_short_token_of_the_environment_stops_the_start():
    with pytest.raises(ConfigError, match=r"page\.token: found 5 characters, expected at least 16"):
        build_token_reader(TokenSource(token=SecretStr("short")), key="page", fewest=16)
