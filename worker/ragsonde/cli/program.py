"""How a person can call this program again: on the search path or not, as a script or as a module."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sys
from pathlib import Path

NAME = "ragsonde"
_IN_EXAMPLE = re.compile(rf"(?<![\w/.-]){NAME}(?= [\w-])")
_QUOTED = f"`{NAME} "


def name_program() -> str:
    """The words that call this program from this folder: `ragsonde`, or `.venv/bin/ragsonde`.

    What runs inside another program, a test's say, is called `ragsonde`.
    """
    called = Path(sys.argv[0])
    if called.name == NAME:
        return _name_script(called)
    if called.name != "__main__.py" or called.parent.name != NAME:
        return NAME
    script = Path(sys.executable).with_name(NAME)
    return _name_script(script) if script.is_file() else f"{_shorten(Path(sys.executable))} -m {NAME}"


def name_command(arguments: str) -> str:
    """A command line of this program, as it can be typed here."""
    return f"{name_program()} {arguments}"


def name_quoted(text: str) -> str:
    """A sentence of ours with the commands that it quotes, `` `ragsonde up` ``, as they can be typed here."""
    return text.replace(_QUOTED, f"`{name_program()} ")


def name_in_example(line: str) -> str:
    """A command line of an example, whatever stands before or after the program in it."""
    return _IN_EXAMPLE.sub(lambda _: name_program(), line)


def _name_script(script: Path) -> str:
    found = shutil.which(NAME)
    # a bare name was looked up by the shell that started it
    if script.parent == Path() or (found is not None and Path(found).resolve() == script.resolve()):
        return NAME
    return _shorten(script)


def _shorten(program: Path) -> str:
    """The path in words for the shell, from the folder at hand where it lies below that."""
    path = program
    if path.is_absolute() and path.is_relative_to(Path.cwd()):
        path = path.relative_to(Path.cwd())
    text = str(path)
    return shlex.quote(text if os.sep in text else os.path.join(os.curdir, text))  # noqa: PTH118 - pathlib drops the ./ that a shell needs
