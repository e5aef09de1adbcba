"""The commands and blocks of the pages on agreement, rescoring and what-if do what the pages say."""

from __future__ import annotations

import io
import json
import re
import shlex
from pathlib import Path

import pytest
import typer
import yaml
from typer.testing import CliRunner

from fakes.traces import REFUND
from ragsonde.cli.main import load_command, run

PAGES = {
    name: (Path(__file__).parents[3] / "docs" / "how-to" / f"{name}.md").read_text(encoding="utf-8")
    for name in ("judge-the-judge", "rescore-and-what-if")
}
COMMANDS = [
    shlex.split(line)
    for page in PAGES.values()
    for block in re.findall(r"```sh\n(.*?)```", page, re.DOTALL)
    for line in block.splitlines()
]
OFFLINE = [command for command in COMMANDS if any(".jsonl" in word and "traces" in word for word in command)]
ANNOTATION = json.loads(re.findall(r"```json\n(.*?)```", PAGES["judge-the-judge"], re.DOTALL)[0])
SETTINGS = re.findall(r"```yaml\n(.*?)```", PAGES["rescore-and-what-if"], re.DOTALL)[0]


@pytest.fixture(autouse=True)
def _files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("traces.jsonl").write_text(json.dumps({**REFUND, "trace_id": "t-1"}) + "\n", encoding="utf-8")
    for name in ("annotations", "verdicts", "anna", "boris"):
        Path(f"{name}.jsonl").write_text(json.dumps(ANNOTATION) + "\n", encoding="utf-8")
    Path("new.yaml").write_text(SETTINGS, encoding="utf-8")
    judges = [{"name": "gpt", "kind": "recorded", "path": "verdicts.jsonl"}]
    Path("ragsonde.yaml").write_text(yaml.safe_dump({"judges": judges}), encoding="utf-8")


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_every_option_on_the_pages_is_one(command):
    known = CliRunner().invoke(_as_app(command[1]), ["--help"], env={"COLUMNS": "300"}).output
    for word in command[2:]:
        if word.startswith("--"):
            assert word in known


@pytest.mark.parametrize("command", OFFLINE, ids=" ".join)
def test_every_command_on_files_runs(command, capsys, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    with pytest.raises(SystemExit) as ended:
        run(command[1:])
    assert ended.value.code == 0, capsys.readouterr().err


def test_the_annotation_of_the_page_is_read_in_full(capsys):
    with pytest.raises(SystemExit):
        run(["evaluate", "traces.jsonl", "--judge", "gpt", "--against", "annotations.jsonl", "-o", "json"])
    aspects = json.loads(capsys.readouterr().out.splitlines()[-1])["agreement"]["aspects"]
    assert {name: one["n"] for name, one in aspects.items() if one["n"]} == {
        "relevant": 2, "level": 2, "used": 2, "insufficient": 1,
    }  # fmt: skip


def _as_app(name):
    app = typer.Typer()
    app.command()(load_command(name).callback)
    return app
