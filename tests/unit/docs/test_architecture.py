"""architecture.md and CONTRIBUTING.md name the packages that there are, in the order of their floors."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[3]
PICTURE = (ROOT / "docs" / "architecture.md").read_text().partition("## The packages")[2].split("```")[1]
PACKAGES = {path.parent.name for path in (ROOT / "worker" / "ragsonde").glob("*/__init__.py")}
LAYERS = [
    re.findall(r"\w+", layer)
    for contract in tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    for layer in contract.get("layers", ())
]


def find_line(name):
    """The first line of the picture on which a package stands, without what explains one."""
    lines = [line.partition("   ")[0] for line in PICTURE.splitlines() if not line.startswith("  ")]
    return next(number for number, line in enumerate(lines) if re.search(rf"\b{name}\b", line))


def test_packages_of_one_floor_stand_on_one_line_and_floors_in_their_order():
    floors = [[name for name in layer if name in PACKAGES] for layer in LAYERS]
    lines = [{find_line(name) for name in floor} for floor in floors if floor]
    assert all(len(line) == 1 for line in lines)
    numbers = [number for line in lines for number in line]
    assert numbers == sorted(set(numbers))
    assert {name for floor in floors for name in floor} == PACKAGES


def test_those_that_watch_are_told_apart():
    contributing = (ROOT / "CONTRIBUTING.md").read_text()
    for name in ("monitor", "watching", "regression"):
        assert f"{name}/" in PICTURE
        assert f"`{name}`" in contributing
