# ruff: noqa: INP001  # a program, in no package
"""Audits what ragsonde is installed with: `audit.py` offline, `audit.py --vulnerabilities` by pip-audit.

`audit.py --write-licences` writes the list of licences in THIRD_PARTY.md anew.
Offline, as a part of `make check`: every requirement of the locks is one version with hashes and no
address; what the code imports is declared; what is declared leads to all that the lock for running holds;
every licence is one that goes with Apache-2.0, and the list in THIRD_PARTY.md has each package. Whether a
version was yanked is not known offline: the
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

from licences import ALLOWED, ELSEWHERE, LIST, ONLY_HERE, check_licence, check_list, read_fields, renew_list
from packaging.markers import Marker
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

ROOT = Path(__file__).resolve().parents[2]
RUN_LOCK = "requirements/run.lock"
LOCKS = (RUN_LOCK, "requirements/dev.lock")
RUN_EXTRAS = ("embedded", "otlp")
OWN = frozenset({"ragsonde", "ragsonde_schemas"})

COME_WITH = {
    "pydantic-core": "pydantic requires one version of it exactly, and is used through it",
    "protobuf": "the classes of opentelemetry-proto are its messages",
    "vine": "amqp and kombu take and give its promises",
    "_typeshed": "types only, which type checkers bring along",
}
"""What the code imports and leaves to a declared package to require, and why."""

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
    for pin in {pin.name: pin for name in LOCKS for pin in pins[name]}.values():
        problems += _check_installed(pin)
    return problems + check_list((ROOT / LIST).read_text("utf-8"), [pin.name for pin in pins[RUN_LOCK]])


def _check_installed(pin: Pin) -> list[str]:
    fields = read_fields(pin.name)
    if fields is None:
        if pin.marker and ELSEWHERE.get(pin.name) in ALLOWED:
            return []
        if pin.marker:
            return [f"{pin.name}: is not installed here; name its licence in ELSEWHERE"]
        return [f"{pin.name}: is in a lock and not installed; run `make setup`"]
    applies = not pin.marker or Marker(pin.marker).evaluate()
    if applies and (found := distribution(pin.name).version) != pin.version:
        return [f"{pin.name}: found {found}, expected {pin.version} of the locks; run `make setup`"]
    problem = None if pin.name in ONLY_HERE else check_licence(pin.name, fields)
    return [problem] if problem else []


def _list_declared(project: Mapping[str, Any], extras: Iterable[str]) -> list[Requirement]:
    optional = project["optional-dependencies"]
    return [
        Requirement(one)
        for one in (*project["dependencies"], *(r for extra in extras for r in optional[extra]))
    ]


def _check_imports(project: Mapping[str, Any]) -> list[str]:
    declared = {canonicalize_name(one.name) for one in _list_declared(project, RUN_EXTRAS)} | set(COME_WITH)
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


def write_list() -> None:
    """Writes the list of licences in THIRD_PARTY.md anew."""
    pins, _ = read_lock((ROOT / RUN_LOCK).read_text("utf-8"), where=RUN_LOCK)
    text = (ROOT / LIST).read_text("utf-8")
    (ROOT / LIST).write_text(renew_list(text, [pin.name for pin in pins]), "utf-8")


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")


def main() -> int:
    """0 where nothing is wrong, 1 where something is."""
    parser = argparse.ArgumentParser(description="Audits what ragsonde is installed with.")
    parser.add_argument(
        "--vulnerabilities", nargs=argparse.REMAINDER, metavar="COMMAND", help="ask a database by pip-audit"
    )
    parser.add_argument("--write-licences", action="store_true", help=f"write the list in {LIST} anew")
    options = parser.parse_args()
    if options.write_licences:
        write_list()
        return 0
    command = options.vulnerabilities
    if command is not None:
        return check_vulnerabilities(command or ["pip-audit"])
    problems = check_offline()
    for problem in problems:
        _say(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
