# ruff: noqa: INP001  # a program, in no package
"""Audits what ragsonde is installed with: `audit.py` offline, `audit.py --vulnerabilities` by pip-audit.

Offline, as a part of `make check`: every requirement of the locks is one version with hashes and no
address; what the code imports is declared; what is declared leads to all that the lock for running holds;
every licence is one that goes with Apache-2.0. Whether a version was yanked is not known offline: the
resolver of `make lock` leaves such versions out, and pip warns of them at installation.
"""

from __future__ import annotations

import argparse
import ast
import json
import re
import subprocess
import sys
import tomllib
from importlib.metadata import PackageNotFoundError, distribution, packages_distributions
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

ROOT = Path(__file__).resolve().parents[2]
RUN_LOCK = "requirements/run.lock"
LOCKS = (RUN_LOCK, "requirements/dev.lock")
RUN_EXTRAS = ("embedded",)
IMPORTED_EXTRAS = (*RUN_EXTRAS, "otlp")
OWN = frozenset({"ragsonde", "ragsonde_schemas"})

ALLOWED = frozenset(
    {
        "APACHE-2.0", "BSD-2-CLAUSE", "BSD-3-CLAUSE", "BSD", "ISC", "MIT", "PSF-2.0", "CNRI-PYTHON",
        "ZPL-2.1",
    }
)  # fmt: skip
"""May be used by, and passed on with, a work under Apache-2.0."""

EXCEPTIONS = {
    "certifi": "MPL-2.0 goes by file: its list of certificates is used as it is",
    "psycopg": "LGPL-3.0: used unmodified as a library of its own that anybody may replace",
    "psycopg-binary": "LGPL-3.0: as psycopg; it holds libpq and OpenSSL, under permissive licences",
    "tqdm": "MPL-2.0 goes by file: used as it is, by huggingface-hub and openai",
}
"""Licences beyond these that were looked at, and why they do no harm."""

COME_WITH = {
    "pydantic-core": "pydantic requires one version of it exactly, and is used through it",
    "protobuf": "the classes of opentelemetry-proto are its messages",
    "vine": "amqp and kombu take and give its promises",
    "_typeshed": "types only, which type checkers bring along",
}
"""What the code imports and leaves to a declared package to require, and why."""

_NAMES = {
    "APACHE 2.0": "APACHE-2.0",
    "APACHE LICENSE 2.0": "APACHE-2.0",
    "APACHE SOFTWARE LICENSE": "APACHE-2.0",
    "BSD LICENSE": "BSD",
    "NEW BSD": "BSD-3-CLAUSE",
    "ISC LICENSE": "ISC",
    "ISC LICENSE (ISCL)": "ISC",
    "MIT LICENSE": "MIT",
    "THE MIT LICENSE (MIT)": "MIT",
    "PYTHON SOFTWARE FOUNDATION LICENSE": "PSF-2.0",
    "ZPL 2.1": "ZPL-2.1",
    "ZOPE PUBLIC LICENSE": "ZPL-2.1",
    "MOZILLA PUBLIC LICENSE 2.0 (MPL 2.0)": "MPL-2.0",
}
_PIN = re.compile(r"([A-Za-z0-9._-]+)==([A-Za-z0-9.!+_-]+)(?: ; (.+?))?((?: --hash=sha256:[0-9a-f]{64})+)")
_ADDRESS = re.compile(
    r"://|(?:^|\s)(?:-i|-f|--index-url|--extra-index-url|--find-links|--trusted-host)\b|\s@\s"
)


class Pin(NamedTuple):
    """A locked requirement; `marker` is '' where it is installed everywhere."""

    name: str
    version: str
    marker: str


def read_lock(text: str, *, where: str) -> tuple[list[Pin], list[str]]:
    """The pins of a lock, and what in it is none."""
    pins, problems = [], []
    for line in text.replace("\\\n", " ").splitlines():
        requirement = " ".join(line.split())
        if not requirement or requirement.startswith("#"):
            continue
        if _ADDRESS.search(requirement):
            problems.append(f"{where}: found an address of an index or a file, expected names only")
        elif match := _PIN.fullmatch(requirement):
            pins.append(Pin(canonicalize_name(match[1]), match[2], match[3] or ""))
        else:
            shown = requirement.partition(" --hash")[0][:80]
            problems.append(f"{where}: found {shown!r}, expected name==version with sha256 hashes")
    return pins, problems


def check_licence(name: str, fields: Mapping[str, Any]) -> str | None:
    """What is wrong with a distribution's licence; None where nothing is.

    Args:
        name: of the distribution.
        fields: `expression`, `licence` and `classifiers` of its metadata.
    """
    if name in EXCEPTIONS:
        return None
    found = list(_list_licences(fields))
    if found and set(found) <= ALLOWED:
        return None
    told = ", ".join(sorted(set(found))) or "none"
    expected = ", ".join(sorted(ALLOWED))
    return f"{name}: found the licence {told}, expected one of {expected}, or a reason in EXCEPTIONS"


def list_imports(source: str) -> set[str]:
    """The top-level packages that a module imports from elsewhere, wherever in it."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.partition(".")[0])
    return found - OWN - set(sys.stdlib_module_names)


def check_offline() -> list[str]:
    """Everything that is wrong and can be known without a network."""
    problems: list[str] = []
    pins: dict[str, list[Pin]] = {}
    for name in LOCKS:
        pins[name], found = read_lock((ROOT / name).read_text("utf-8"), where=name)
        problems += found
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    problems += _check_imports(project)
    problems += _check_closure(project, pins[RUN_LOCK])
    for pin in pins[RUN_LOCK]:
        problems += _check_installed(pin)
    return problems


def _list_licences(fields: Mapping[str, Any]) -> Iterator[str]:
    """In the words of SPDX: of the expression, else of the classifiers, else of the text's first line."""
    classifiers = [one for one in fields["classifiers"] if one.startswith("License ::")]
    if fields["expression"] or not classifiers:
        told = (fields["expression"] or fields["licence"] or "").strip().partition("\n")[0]
        words = re.split(r"\bAND\b|\bOR\b", told)
    else:
        words = [one.rpartition("::")[2] for one in classifiers]
    for word in words:
        name = " ".join(word.split()).upper()
        name = _NAMES.get(name, name.strip("()"))
        if name:
            yield name


def _check_installed(pin: Pin) -> list[str]:
    try:
        metadata = distribution(pin.name).metadata
    except PackageNotFoundError:
        return [] if pin.marker else [f"{pin.name}: is in {RUN_LOCK} and not installed; run `make setup`"]
    if metadata["Version"] != pin.version:
        return [
            f"{pin.name}: found {metadata['Version']}, expected {pin.version} of {RUN_LOCK}; run `make setup`"
        ]
    problem = check_licence(
        pin.name,
        {
            "expression": metadata.get("License-Expression"),
            "licence": metadata.get("License"),
            "classifiers": metadata.get_all("Classifier") or [],
        },
    )
    return [problem] if problem else []


def _list_declared(project: Mapping[str, Any], extras: Iterable[str]) -> list[Requirement]:
    optional = project["optional-dependencies"]
    return [
        Requirement(one)
        for one in (*project["dependencies"], *(r for extra in extras for r in optional[extra]))
    ]


def _check_imports(project: Mapping[str, Any]) -> list[str]:
    declared = {canonicalize_name(one.name) for one in _list_declared(project, IMPORTED_EXTRAS)} | set(
        COME_WITH
    )
    owners = packages_distributions()
    problems = []
    for source in sorted(
        path for room in ("worker", "schemas", "migrations") for path in (ROOT / room).rglob("*.py")
    ):
        for name in sorted(list_imports(source.read_text("utf-8"))):
            dists = {name, *(canonicalize_name(one) for one in owners.get(name, ()))}
            if dists.isdisjoint(declared):
                problems.append(
                    f"{source.relative_to(ROOT)}: imports {name}, which pyproject.toml does not declare"
                )
    return problems


def _check_closure(project: Mapping[str, Any], pins: Iterable[Pin]) -> list[str]:
    """Names of the lock that nothing declared leads to."""
    reached: set[str] = set()
    waiting = _list_declared(project, RUN_EXTRAS)
    while waiting:
        one = waiting.pop()
        name = canonicalize_name(one.name)
        key = f"{name}[{','.join(sorted(one.extras))}]"
        if key in reached:
            continue
        reached |= {key, name}
        try:
            required = distribution(name).requires or []
        except PackageNotFoundError:
            continue
        environments = [{"extra": extra} for extra in ("", *one.extras)]
        waiting += [inner for inner in map(Requirement, required) if _may_apply(inner, environments)]
    return [
        f"{pin.name}: is in {RUN_LOCK}, and nothing that pyproject.toml declares leads to it"
        for pin in pins
        if pin.name not in reached
    ]


def _may_apply(requirement: Requirement, environments: list[dict[str, str]]) -> bool:
    """True where an extra that was not asked for does not rule it out; markers of systems are let pass."""
    if requirement.marker is None or "extra" not in str(requirement.marker):
        return True
    return any(requirement.marker.evaluate(environment) for environment in environments)


def check_vulnerabilities(command: list[str]) -> int:
    """Asks the database of PyPI by pip-audit; 1 where it knows of a vulnerability, else 0.

    Where it cannot be asked, or knows nothing of the packages, that is said: nothing is then known.
    """
    options = ["--require-hashes", "--disable-pip", "--format", "json", "--progress-spinner", "off"]
    lock = ["-r", str(ROOT / RUN_LOCK)]
    try:
        ended = subprocess.run(  # noqa: S603  # a command line of our own
            [*command, *options, *lock], capture_output=True, text=True, check=False
        )
    except OSError as error:
        _say(f"NOT AUDITED: {command[0]} cannot be run: {error.strerror}")
        return 0
    try:
        audited = json.loads(ended.stdout)["dependencies"]
    except (ValueError, KeyError):
        last = (ended.stderr.strip().splitlines() or ["no output"])[-1]
        _say(f"NOT AUDITED: pip-audit did not run, or did not reach its database: {last[:200]}")
        return 0
    skipped = [one for one in audited if "skip_reason" in one]
    bad = [one for one in audited if one.get("vulns")]
    for one in bad:
        for found in one["vulns"]:
            fixed = ", ".join(found["fix_versions"]) or "none"
            _say(f"{one['name']} {one['version']}: {found['id']}; mended in: {fixed}")
    if len(skipped) == len(audited):
        known = f"the database knows none of the {len(audited)} packages"
        _say(f"NOT AUDITED: {known}; is another index in its place?")
    else:
        asked = len(audited) - len(skipped)
        _say(f"{asked} packages asked for, {len(skipped)} not known, {len(bad)} vulnerable")
    return 1 if bad else 0


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")


def main() -> int:
    """0 where nothing is wrong, 1 where something is."""
    parser = argparse.ArgumentParser(description="Audits what ragsonde is installed with.")
    parser.add_argument(
        "--vulnerabilities", nargs=argparse.REMAINDER, metavar="COMMAND", help="ask a database by pip-audit"
    )
    command = parser.parse_args().vulnerabilities
    if command is not None:
        return check_vulnerabilities(command or ["pip-audit"])
    problems = check_offline()
    for problem in problems:
        _say(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
