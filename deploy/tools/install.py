# ruff: noqa: INP001  # a program, in no package
"""Installs what a lock names into this Python's environment, and says how far it is.

What pip says is shown where it fails.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_PINNED = re.compile(r"^[\w.\[\]-]+==", re.MULTILINE)
_TOLD_EVERY = 25
"""Packages; on a terminal one line counts each."""


def tell_progress(lines: Iterable[str], *, total: int, is_terminal: bool) -> Iterator[str]:
    """What is written while pip says these lines."""
    done = 0
    for line in lines:
        if line.startswith("Collecting "):
            done += 1
            if is_terminal:
                yield f"\r  {done} of at most {total} packages"
            elif done % _TOLD_EVERY == 0:
                yield f"  {done} of at most {total} packages\n"
        elif line.startswith("Installing collected packages"):
            yield f"{chr(10) if is_terminal else ''}  unpacking {done} packages\n"


def install(lock: Path) -> int:
    """The exit code of pip."""
    total = len(_PINNED.findall(lock.read_text(encoding="utf-8")))
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--require-hashes"]
    said: list[str] = []

    def hear(output: Iterable[str]) -> Iterator[str]:
        for line in output:
            said.append(line)
            yield line

    with subprocess.Popen(  # noqa: S603 - our own Python, with a lock of this repository
        [*command, "-r", str(lock)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as pip:
        for text in tell_progress(hear(pip.stdout or ()), total=total, is_terminal=sys.stdout.isatty()):
            sys.stdout.write(text)
            sys.stdout.flush()
    if pip.returncode:
        sys.stderr.write("".join(said))
    return pip.returncode


if __name__ == "__main__":
    sys.exit(install(Path(sys.argv[1])))
