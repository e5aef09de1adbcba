"""The setting `score_sinks`, as it is read and shown."""

from __future__ import annotations

import pytest

from ragsonde.cli.main import run
from ragsonde.settings import read_settings
from ragsonde_schemas.errors import ConfigError


def write(tmp_path, text):
    file = tmp_path / "ragsonde.yaml"
    file.write_text(text)
    return file


def test_sinks_are_read_with_their_defaults(tmp_path):
    file = write(tmp_path, "score_sinks:\n- {kind: webhook, url: 'https://hooks.example/x', name: quality}\n")
    (sink,) = read_settings(file, environ={}).score_sinks
    assert (sink.label, sink.queue, sink.attempts) == ("quality", 10_000, 8)


@pytest.mark.parametrize(
    ("sink", "words"),
    [
        ("{kind: webhook}", "needs either `url` or `url_file`"),
        ("{kind: webhook, url: 'https://x/y', bach: 3}", r"score_sinks\[0\]\.bach: unknown setting.*batch"),
        ("{kind: webhook, url: 'https://x/y', batch: true}", "expected a whole number"),
        ("{kind: webhook, url: 'https://me:s3cret@x/y'}", "use url_file"),
    ],
)
def test_a_mistake_is_named_with_its_place(tmp_path, sink, words):
    with pytest.raises(ConfigError, match=words) as error:
        read_settings(write(tmp_path, f"score_sinks:\n- {sink}\n"), environ={})
    assert "s3cret" not in str(error.value)


def test_check_config_builds_what_a_worker_would(tmp_path, capsys):
    file = write(tmp_path, "score_sinks:\n- {kind: webhok, url: 'https://x/y'}\n")
    with pytest.raises(SystemExit) as ended:
        run(["check-config", "--config", str(file)])
    assert ended.value.code == 2
    assert "found webhok, expected one of webhook, otlp" in capsys.readouterr().err


def test_check_config_shows_them(tmp_path, capsys):
    file = write(tmp_path, "score_sinks:\n- {kind: webhook, url: 'https://x/y'}\n")
    with pytest.raises(SystemExit) as ended:
        run(["check-config", "--config", str(file)])
    assert ended.value.code == 0
    assert "score_sinks[0].url" in capsys.readouterr().out
