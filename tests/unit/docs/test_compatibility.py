"""compatibility.md: each version that the package says it runs on is told of, tried or not."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "reference" / "compatibility.md").read_text()
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
PYTHONS = [
    one.rpartition(" ")[2] for one in PROJECT["classifiers"] if re.search(r":: Python :: 3\.\d+$", one)
]


@pytest.mark.parametrize("version", PYTHONS)
def test_each_python_of_the_package_has_a_line(version):
    assert re.search(rf"^\| {re.escape(version)}(\.\d+)? \|", PAGE, re.MULTILINE)


def test_no_other_python_is_named():
    named = set(re.findall(r"^\| (3\.\d+)", PAGE, re.MULTILINE))
    assert named == set(PYTHONS)


@pytest.mark.parametrize("version", ["15", "16", "17", "18"])
def test_each_postgres_has_a_line(version):
    assert re.search(rf"^\| {version}\.\d+", PAGE, re.MULTILINE)


def test_the_tests_that_its_commands_name_are_there():
    paths = re.findall(r"(tests/[\w/.]+)", PAGE)
    assert paths
    assert [path for path in paths if not (ROOT / path.rstrip(".")).exists()] == []
