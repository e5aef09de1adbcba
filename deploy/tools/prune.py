# ruff: noqa: INP001  # a program, in no package
"""Uninstalls what ragsonde itself does not lead to: the servers of the extra `embedded`, for an image.

`requirements/run.lock` is one lock for both, checked by its hashes when it is installed.
"""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import PackageNotFoundError, distribution, distributions
from typing import TYPE_CHECKING

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

PROJECT = "ragsonde"
KEPT_EXTRAS = frozenset({"otlp"})
"""What an image has beside what ragsonde always needs: the score sink `otlp`."""


def find_reached(name: str, *, extras: frozenset[str] = frozenset()) -> set[str]:
    """The canonical names of what a distribution needs here with these of its extras, itself included."""
    reached: set[str] = set()
    looked_at: set[tuple[str, frozenset[str]]] = set()
    waiting = [(canonicalize_name(name), extras)]
    while waiting:
        one = waiting.pop()
        if one in looked_at:
            continue
        looked_at.add(one)
        reached.add(one[0])
        waiting += _list_needed(*one)
    return reached


def _list_needed(name: str, extras: Iterable[str]) -> list[tuple[str, frozenset[str]]]:
    try:
        required = distribution(name).requires or []
    except PackageNotFoundError:
        return []
    environments = [{"extra": extra} for extra in ("", *extras)]
    return [
        (canonicalize_name(one.name), frozenset(one.extras))
        for one in map(Requirement, required)
        if one.marker is None or any(one.marker.evaluate(environment) for environment in environments)
    ]


def find_needless(installed: Iterable[str], *, project: str = PROJECT) -> list[str]:
    """The names among those installed that the project does not lead to, by the extras of an image."""
    return sorted({canonicalize_name(name) for name in installed} - find_reached(project, extras=KEPT_EXTRAS))


def main(pip: Sequence[str]) -> int:
    """The exit code of pip, which is called with the names.

    Args:
        pip: the command line of a pip that works on this Python's environment.
    """
    needless = find_needless(one.metadata["Name"] for one in distributions())
    sys.stdout.write(f"left out of the image: {', '.join(needless) or 'nothing'}\n")
    if not needless:
        return 0
    # a command line of the Dockerfile's
    return subprocess.run([*pip, "uninstall", "--yes", "--quiet", *needless], check=False).returncode  # noqa: S603


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
