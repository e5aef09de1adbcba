"""What docs/how-to/protect-personal-data.md and the threat model show and say holds."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from ragsonde.cli.main import load_command
from ragsonde.exposition.series import WORKER_SERIES
from ragsonde.redaction.table import KINDS
from ragsonde.settings import read_settings

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "how-to" / "protect-personal-data.md").read_text()
MODEL = (ROOT / "docs" / "explanation" / "threat-model.md").read_text()
(COMMANDS,) = re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)


@pytest.mark.parametrize("block", re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL))
def test_its_settings_are_read(block, tmp_path):
    file = tmp_path / "ragsonde.yaml"
    file.write_text(block, encoding="utf-8")

    assert read_settings(file, environ={}) != read_settings(environ={})


@pytest.mark.parametrize("line", COMMANDS.splitlines())
def test_its_commands_are_accepted(line):
    _, command, *arguments = shlex.split(line, comments=True)

    assert load_command(command).make_context(command, arguments, resilient_parsing=True).params["action"]


def test_its_table_names_every_kind():
    assert set(re.findall(r"(?m)^\| `(\w+)` \| ", PAGE)) >= set(KINDS)


def test_its_series_exist():
    named = set(re.findall(r"ragsonde_\w+_total", PAGE + MODEL))

    assert named <= {declared.full_name for declared in WORKER_SERIES}


def test_the_files_that_the_threat_model_names_exist():
    named = re.findall(r"`((?:[\w-]+/)+[\w.]*)(?:\.format_traceback)?`", MODEL)
    places = [ROOT, ROOT / "worker" / "ragsonde", ROOT / "schemas"]

    assert len(named) > 15
    assert [name for name in named if not any((place / name).exists() for place in places)] == []
