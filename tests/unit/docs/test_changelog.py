"""CHANGELOG.md: the version of the package has its notes, and what they lead to is there."""

import re
import tomllib
from pathlib import Path

from ragsonde.cli.main import COMMANDS
from ragsonde.storage.migrations import find_migrations

ROOT = Path(__file__).parents[3]
TEXT = (ROOT / "CHANGELOG.md").read_text()
VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
HEADINGS = re.findall(r"^## (.+)$", TEXT, re.MULTILINE)
GROUPS = {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}


def read_notes():
    """What is told of the version of the package."""
    return TEXT.split(f"## [{VERSION}]")[1].split("\n## ")[0]


def test_the_version_has_a_section_with_a_date_after_what_is_not_released():
    assert HEADINGS[0] == "[Unreleased]"
    assert re.fullmatch(rf"\[{re.escape(VERSION)}\] - \d{{4}}-\d\d-\d\d", HEADINGS[1])


def test_its_groups_are_those_of_keep_a_changelog():
    assert set(re.findall(r"^### (.+)$", TEXT, re.MULTILINE)) <= GROUPS


def test_its_links_lead_somewhere():
    links = re.findall(r"\]\((?!https:)([^)#]+)\)", TEXT)
    assert len(links) > 10
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_its_commands_exist():
    named = set(re.findall(r"`ragsonde ([a-z-]+)", read_notes()))
    assert named
    assert named <= COMMANDS.keys()


def test_its_schema_is_the_newest_one():
    newest = max(path.name[:4] for path in (find_migrations() / "versions").glob("0*.py"))
    assert f"Schema {newest}." in read_notes()
