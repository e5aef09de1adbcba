"""The tutorial as a reader goes through it: its shell blocks as printed, and what they print."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "tutorial.md").read_text()
WRITTEN = Path("ragsonde-tutorial")
"""Where the reader's own files go."""
ACTIVATE = ". .venv/bin/activate\n"
"""Given once in a terminal; each block runs in a shell of its own, which has to be told anew."""
INSTALL = "python -m pip install ./ragsonde-tutorial/first-hit\n"
"""The one command that needs a package registry; `install_first_hit` stands in for it."""
_BLOCK = re.compile(r"```sh\n(.*?)```(?:\n\n```text\n(.*?)```)?", re.DOTALL)
_CHANGING = (
    (re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d(:\d\d)?"), "TIME"),
    (re.compile(r"@[0-9a-f]{6}"), "@HASH"),
    (re.compile(r"\s+"), " "),
)


class Block(NamedTuple):
    """Commands of one shell block, and the lines that the page shows of their output."""

    commands: str
    shown: list[str]


def list_blocks(heading: str) -> list[Block]:
    """Those of the section whose heading ends so."""
    section = re.split(rf"^## .*{re.escape(heading)}$", PAGE, flags=re.MULTILINE)[1].partition("\n## ")[0]
    return [
        Block(commands, [line for line in shown.splitlines() if line.strip() not in {"", "..."}])
        for commands, shown in _BLOCK.findall(section)
    ]


def make_clone(folder: Path) -> None:
    """What the reader's folder holds that the tutorial names: the programs in .venv, and the sample file."""
    programs = folder / ".venv" / "bin"
    programs.mkdir(parents=True)
    for name, command in (("python", ""), ("ragsonde", " -m ragsonde")):
        program = programs / name
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}"{command} "$@"\n')
        program.chmod(0o755)
    (programs / "activate").write_text(f'PATH="{programs}:$PATH"\n')
    (folder / "tests").symlink_to(ROOT / "tests")


def run_block(block: Block, folder: Path, *, places: dict[str, str] | None = None) -> str:
    """What the block prints in the folder; `places` are addresses in place of printed ones."""
    commands = block.commands
    for printed, here in (places or {}).items():
        commands = commands.replace(printed, here)
    if commands == INSTALL:
        install_first_hit(folder)
        return ""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("RAGSONDE_")}
    environment["PYTHONPATH"] = f"{folder / 'installed'}:{environment.get('PYTHONPATH', '')}"
    environment["COLUMNS"] = "200"
    ended = subprocess.run(
        ["sh", "-e", "-c", ACTIVATE + commands],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


def install_first_hit(folder: Path) -> None:
    """What pip makes of the package: its module, and metadata with its entry points."""
    package = folder / WRITTEN / "first-hit"
    project = tomllib.loads((package / "pyproject.toml").read_text())["project"]
    metadata = folder / "installed" / f"first_hit-{project['version']}.dist-info"
    metadata.mkdir(parents=True)
    (metadata.parent / "first_hit.py").write_text((package / "first_hit.py").read_text())
    names = f"Name: {project['name']}\nVersion: {project['version']}\n"
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\n{names}")
    lines = [
        line
        for group, points in project["entry-points"].items()
        for line in (f"[{group}]", *(f"{name} = {target}" for name, target in points.items()))
    ]
    (metadata / "entry_points.txt").write_text("\n".join(lines) + "\n")


def find_missing(block: Block, printed: str, *, without_digits: bool = False) -> list[str]:
    """Shown lines that were not printed; times, hashes and widths of columns may differ."""

    def fold(line: str) -> str:
        for pattern, word in _CHANGING:
            line = pattern.sub(word, line)
        return re.sub(r"[\d.,]+", "N", line).strip() if without_digits else line.strip()

    lines = {fold(line) for line in printed.splitlines()}
    return [line for line in block.shown if fold(line) not in lines]
