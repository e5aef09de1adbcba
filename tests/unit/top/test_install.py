"""What the installer says while pip works."""

import runpy
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
INSTALL = runpy.run_path(str(ROOT / "deploy" / "tools" / "install.py"), run_name="install")
LINES = [
    *(f"Collecting package-{number}==1\n  Downloading it" for number in range(60)),
    "Installing collected packages: package-0, package-1",
]


@pytest.mark.parametrize(
    ("is_terminal", "told"),
    [
        (
            False,
            ["  25 of at most 80 packages\n", "  50 of at most 80 packages\n", "  unpacking 60 packages\n"],
        ),
        (True, ["\r  60 of at most 80 packages", "\n  unpacking 60 packages\n"]),
    ],
)
def test_it_counts_packages(is_terminal, told):
    assert list(INSTALL["tell_progress"](LINES, total=80, is_terminal=is_terminal))[-len(told) :] == told


def test_what_pip_says_is_shown_where_it_fails(tmp_path, capsys):
    lock = tmp_path / "x.lock"
    lock.write_text("nothing-of-that-name @ file:///nowhere/nothing-1-py3-none-any.whl\n", encoding="utf-8")
    assert INSTALL["install"](lock) != 0
    assert "/nowhere/nothing" in capsys.readouterr().err


def test_the_makefile_installs_by_it():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert makefile.count("deploy/tools/install.py requirements/") == 2
    assert sys.version_info >= (3, 11)
