import json
from pathlib import Path

import pytest

from ragsonde.settings import read_settings, read_with_origins
from ragsonde.settings.effective import list_rows
from ragsonde.settings.secrets import hide_password, holds_password, read_secret
from ragsonde_schemas.errors import ConfigError


@pytest.fixture(autouse=True)
def _empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_a_password_in_the_settings_file_is_refused_with_the_way_out():
    Path("ragsonde.yaml").write_text("broker_url: amqp://shop:hunter2@rabbit/\n", encoding="utf-8")

    with pytest.raises(ConfigError, match="set RAGSONDE_BROKER_URL, or broker_url_file") as caught:
        read_settings(environ={})

    assert "hunter2" not in str(caught.value)


def test_a_url_without_password_may_stand_in_the_settings_file():
    Path("ragsonde.yaml").write_text("database_url: postgresql://ragsonde@db/ragsonde\n", encoding="utf-8")

    assert read_settings(environ={}).database_url.get_secret_value() == "postgresql://ragsonde@db/ragsonde"


def test_an_api_key_in_the_settings_file_is_refused_with_the_way_out():
    Path("ragsonde.yaml").write_text(
        "judges: [{name: gpt, kind: litellm, model: openai/gpt-5-mini, api_key: sk-hunter2}]\n",
        encoding="utf-8",
    )

    with pytest.raises(
        ConfigError, match=r"judges\[0\]\.api_key: is a secret.*api_key_env.*api_key_file"
    ) as caught:
        read_settings(environ={})

    assert "hunter2" not in str(caught.value)


def test_a_secret_of_the_wrong_type_is_not_shown():
    with pytest.raises(ConfigError, match=r"RAGSONDE_BROKER_URL: found \*\*\*\*, expected text") as caught:
        read_settings(environ={"RAGSONDE_BROKER_URL": '["hunter2"]'})

    assert "hunter2" not in str(caught.value)


def test_a_url_comes_from_a_file_without_the_line_end():
    Path("url").write_text("amqp://shop:hunter2@rabbit/\n", encoding="utf-8")

    reading = read_with_origins(environ={"RAGSONDE_BROKER_URL_FILE": "url"})

    assert reading.settings.broker_url.get_secret_value() == "amqp://shop:hunter2@rabbit/"
    assert str(reading.find_origin(("broker_url",))) == "RAGSONDE_BROKER_URL_FILE: url"


def test_a_variable_wins_over_a_secret_file_that_the_settings_file_names():
    Path("url").write_text("amqp://from-file/", encoding="utf-8")
    Path("ragsonde.yaml").write_text("broker_url_file: url\n", encoding="utf-8")

    settings = read_settings(environ={"RAGSONDE_BROKER_URL": "amqp://from-variable/"})

    assert settings.broker_url.get_secret_value() == "amqp://from-variable/"


def test_a_secret_file_in_a_variable_wins_over_a_url_in_the_settings_file():
    Path("url").write_text("amqp://from-file/", encoding="utf-8")
    Path("ragsonde.yaml").write_text("broker_url: amqp://from-yaml/\n", encoding="utf-8")

    settings = read_settings(environ={"RAGSONDE_BROKER_URL_FILE": "url"})

    assert settings.broker_url.get_secret_value() == "amqp://from-file/"


def test_url_and_file_from_the_same_source_are_refused():
    with pytest.raises(ConfigError, match="broker_url is given too; keep one"):
        read_settings(environ={"RAGSONDE_BROKER_URL_FILE": "url", "RAGSONDE_BROKER_URL": "amqp://h/"})


@pytest.mark.parametrize(
    ("content", "expected"), [(None, "cannot be read"), ("\n", "is empty"), (b"\xff", "no UTF-8")]
)
def test_a_secret_file_that_holds_none_is_named(content, expected):
    if content is not None:
        Path("url").write_bytes(content if isinstance(content, bytes) else content.encode())

    with pytest.raises(ConfigError, match=f"RAGSONDE_DATABASE_URL_FILE: url.*{expected}|{expected}"):
        read_settings(environ={"RAGSONDE_DATABASE_URL_FILE": "url"})


def test_a_secret_file_is_read_again_when_asked(tmp_path):
    path = tmp_path / "secret"
    path.write_text("old", encoding="utf-8")
    assert read_secret(path, key="api_key_file").get_secret_value() == "old"

    path.write_text("new", encoding="utf-8")

    assert read_secret(path, key="api_key_file").get_secret_value() == "new"


def test_no_secret_is_shown_in_rows_or_repr():
    judge = {"name": "gpt", "kind": "litellm", "model": "openai/gpt-5-mini", "api_key": "hunter2"}
    reading = read_with_origins(
        environ={
            "RAGSONDE_BROKER_URL": "amqp://shop:hunter2@rabbit:5672/vhost?password=hunter2",
            "RAGSONDE_DATABASE_URL": "postgresql://:hunter2@/ragsonde?host=/run",
            "RAGSONDE_JUDGES": json.dumps([judge]),
        }
    )

    rows = {row.key: row.value for row in list_rows(reading)}

    assert "hunter2" not in repr(reading.settings)
    assert "hunter2" not in str(rows)
    assert rows["broker_url"] == "amqp://shop:****@rabbit:5672/vhost?****"
    assert rows["judges[0].api_key"] == "****"


@pytest.mark.parametrize(
    ("url", "shown", "has_password"),
    [
        ("amqp://u:p@h:1//", "amqp://u:****@h:1//", True),
        ("amqp://u@h/v", "amqp://u@h/v", False),
        ("postgresql://[::1]:5432/d", "postgresql://[::1]:5432/d", False),
        ("postgresql:///d?host=/run/pg", "postgresql:///d?****", False),
        ("postgresql:///d?PASSWORD=x", "postgresql:///d?****", True),
        ("amqp://u:p@h:notaport/", "****", True),
        ("hunter2", "****", False),
        ("http://[", "****", True),
    ],
)
def test_a_url_is_shown_without_its_password(url, shown, has_password):
    assert hide_password(url) == shown
    assert holds_password(url) is has_password


@pytest.mark.parametrize("name", ["broker_url", "database_url"])
@pytest.mark.parametrize("place", ["h:notaport", "h:70000", "h:0", "[::1]:x", "h:1 ", ":²"])
def test_a_port_that_is_none_is_told_without_the_password(name, place):
    scheme = {"broker_url": "amqp", "database_url": "postgresql"}[name]
    url = f"{scheme}://shop:hunter2@{place}/d"

    with pytest.raises(ConfigError) as caught:
        read_settings(environ={f"RAGSONDE_{name.upper()}": url})

    (problem,) = caught.value.problems
    assert problem.startswith(f"RAGSONDE_{name.upper()}: found a port that is no number from 1 to 65535")
    assert "hunter2" not in problem


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://u:p:q/r#s?t@h:5432/d?options=a:b",
        "postgresql://[::1]/d",
        "postgresql://h:/d",
        "postgresql:///d?host=/run:x",
        "postgresql://u@/d?host=h:1&host=i:2",
    ],
)
def test_colons_elsewhere_are_no_ports(url):
    settings = read_settings(environ={"RAGSONDE_DATABASE_URL": url})

    assert settings.database_url.get_secret_value() == url


def test_brokers_in_a_row_have_a_port_each():
    url = "amqp://u:p@a:5672//;amqp://u:p@b:5673//"

    assert read_settings(environ={"RAGSONDE_BROKER_URL": url}).broker_url.get_secret_value() == url
