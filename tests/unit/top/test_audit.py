"""The audit of dependencies: what it lets pass, what it names, and that it passes here."""

import json
import re
import runpy
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
SCRIPT = ROOT / "deploy" / "tools" / "audit.py"
sys.path.insert(0, str(SCRIPT.parent))  # as Python does for a program
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


LISTED = ("jinja2", "certifi")
HEAD = "# Third-party material\n\n<!-- packages: written by `deploy/tools/audit.py --write-licences` -->\n"
TAIL = "<!-- end of packages -->\nThe end.\n"


def test_the_list_of_licences_is_written_anew_between_its_marks():
    text = AUDIT["renew_list"](HEAD + "| `old` | MIT | |\n" + TAIL, LISTED)
    assert text.startswith(HEAD)
    assert text.endswith(TAIL)
    rows = [line for line in text.splitlines() if line.startswith("| `")]
    assert rows == [
        "| `certifi` | MPL-2.0 | MPL-2.0 goes by file: its list of certificates is used as it is |",
        "| `jinja2` | BSD |  |",
    ]
    assert AUDIT["check_list"](text, LISTED) == []


@pytest.mark.parametrize(
    ("names", "told"),
    [
        ((*LISTED, "kombu"), "| `kombu` | BSD-3-Clause |  | is missing"),
        (LISTED[:1], "is not in the lock, or not so"),
    ],
)
def test_a_list_that_lacks_a_package_or_has_one_too_many_is_told(names, told):
    (problem,) = AUDIT["check_list"](AUDIT["renew_list"](HEAD + TAIL, LISTED), names)
    assert told in problem


def test_a_licence_that_is_written_otherwise_is_told():
    text = AUDIT["renew_list"](HEAD + TAIL, LISTED).replace("| BSD |", "| MIT |")
    assert len(AUDIT["check_list"](text, LISTED)) == 2


def test_every_package_of_the_lock_is_in_the_list():
    pins, _ = AUDIT["read_lock"]((ROOT / "requirements/run.lock").read_text(), where="run.lock")
    text = (ROOT / "THIRD_PARTY.md").read_text("utf-8")
    assert AUDIT["check_list"](text, [pin.name for pin in pins]) == []
    assert len(pins) > 90


def test_what_is_not_installed_needs_a_marker_and_a_licence_that_is_named():
    pin = type(AUDIT["read_lock"](f"a==1 \\\n{HASH}\n", where="x")[0][0])
    check = AUDIT["_check_installed"]
    assert check(pin("colorama", "0.4.6", "sys_platform == 'win32'")) == []
    assert "name its licence" in check(pin("nowhere", "1", "sys_platform == 'win32'"))[0]
    assert "not installed" in check(pin("nowhere", "1", ""))[0]
    assert "expected 0" in check(pin("jinja2", "0", ""))[0]


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
