"""The audit of dependencies: what it lets pass, what it names, and that it passes here."""

import json
import re
import runpy
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
SCRIPT = ROOT / "deploy" / "tools" / "audit.py"
AUDIT = runpy.run_path(str(SCRIPT), run_name="audit")
HASH = "    --hash=sha256:" + "0" * 64


def test_the_locks_licences_and_imports_of_this_project_pass():
    assert AUDIT["check_offline"]() == []


def test_a_pin_with_hashes_passes_with_or_without_a_marker():
    text = f"kombu==5.7.1 \\\n{HASH} \\\n{HASH}\ncolorama==0.4.6 ; sys_platform == 'win32' \\\n{HASH}\n"
    pins, problems = AUDIT["read_lock"](text, where="x.lock")
    assert problems == []
    assert pins == [("kombu", "5.7.1", ""), ("colorama", "0.4.6", "sys_platform == 'win32'")]


@pytest.mark.parametrize(
    "line",
    [
        "kombu==5.7.1",
        f"kombu>=5.7 \\\n{HASH}",
        "kombu==5.7.1 \\\n    --hash=sha256:00",
        f"kombu @ https://example.org/kombu.whl \\\n{HASH}",
        "--index-url https://example.org/simple",
        "-i https://example.org/simple",
        "--find-links ./wheels",
    ],
)
def test_what_is_not_pinned_not_hashed_or_names_an_address_is_told(line):
    pins, problems = AUDIT["read_lock"](line, where="x.lock")
    assert (pins, len(problems)) == ([], 1)
    assert problems[0].startswith("x.lock: found")


VULNERABLE = {"name": "a", "version": "1", "vulns": [{"id": "CVE-1", "fix_versions": ["2"]}]}


def fields(expression=None, licence=None, *classifiers):
    return {
        "expression": expression,
        "licence": licence,
        "classifiers": [f"License :: {c}" for c in classifiers],
    }


@pytest.mark.parametrize(
    "given",
    [
        fields("MIT"),
        fields("Apache-2.0 OR BSD-2-Clause"),
        fields(None, "MIT License\n\nCopyright"),
        fields(None, "anything", "OSI Approved :: BSD License"),
    ],
)
def test_permissive_licences_pass(given):
    assert AUDIT["check_licence"]("some", given) is None


@pytest.mark.parametrize(
    "given",
    [
        fields("AGPL-3.0-only"),
        fields("MIT AND GPL-2.0-only"),
        fields(None, "Proprietary"),
        fields(None, "MIT", "OSI Approved :: GNU General Public License v3 (GPLv3)"),
        fields(),
    ],
)
def test_other_licences_and_none_are_told(given):
    assert "some: found the licence" in AUDIT["check_licence"]("some", given)


def test_imports_are_those_of_other_distributions_also_within_functions():
    lines = ("import os", "import kombu.mixins", "def f():", "    from httpx import get", "import ragsonde")
    source = "\n".join((*lines, "from . import x"))
    assert AUDIT["list_imports"](source) == {"kombu", "httpx"}


@pytest.mark.parametrize(
    ("printed", "code", "told"),
    [
        ('{"dependencies": [{"name": "a", "version": "1", "vulns": []}]}', 0, "1 packages asked for"),
        (json.dumps({"dependencies": [VULNERABLE]}), 1, "a 1: CVE-1; mended in: 2"),
        ('{"dependencies": [{"name": "a", "skip_reason": "not found"}]}', 0, "NOT AUDITED"),
        ("no network", 0, "NOT AUDITED"),
    ],
)
def test_vulnerabilities_are_told_and_so_is_that_nobody_could_be_asked(capsys, printed, code, told):
    command = [sys.executable, "-c", f"print({printed!r})"]
    assert AUDIT["check_vulnerabilities"](command) == code
    assert told in capsys.readouterr().out


def test_a_command_that_is_not_there_is_told(capsys):
    assert AUDIT["check_vulnerabilities"](["no-such-command-anywhere"]) == 0
    assert "NOT AUDITED" in capsys.readouterr().out


def test_make_check_makes_the_audit():
    makefile = (ROOT / "Makefile").read_text()
    (check,) = re.findall(r"(?m)^check:.*\n\t(.*)$", makefile)
    assert " dependencies " in f"{check} "
    assert "deploy/tools/audit.py" in makefile
