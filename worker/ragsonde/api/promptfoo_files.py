"""Reads promptfoo's files into plain values: the tests' YAML and what it refers to with `file://`."""

from __future__ import annotations

import csv
import io
import json
import re
from typing import TYPE_CHECKING, Any, NamedTuple

import yaml

from ragsonde_schemas.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

YAML_SUFFIXES = frozenset({".yaml", ".yml"})
REFERENCE = "file://"
LARGEST_FILE_BYTES = 128 * 1024 * 1024
_READABLE = ".yaml, .yml, .json, .jsonl or .csv"
_EXPECTED = re.compile(
    r"(?P<type>[a-z][a-z-]*)(?:\(\s*(?P<threshold>[\d.]+)\s*\))?\s*(?::\s*(?P<value>.*))?", re.DOTALL
)


class RawTest(NamedTuple):
    """A test as it stands in a file.

    Attributes:
        place: where, for people: `rag.yaml: test 3`.
        folder: what references in it are relative to.
    """

    place: str
    content: dict[str, Any]
    folder: Path


class RawTests(NamedTuple):
    """All tests, and what the configuration around them says.

    Attributes:
        default: `defaultTest`, {} where there is none.
        templates: `assertionTemplates` by name.
    """

    tests: list[RawTest]
    default: dict[str, Any]
    templates: dict[str, Any]


def read_raw_tests(path: Path) -> RawTests:
    """The tests of a YAML file: a list of them, or a configuration with `tests`.

    Raises:
        InputError: the file or one that it refers to cannot be read, or is something else.
    """
    content = read_file(path)
    config = {"tests": content} if isinstance(content, list) else content
    if not isinstance(config, dict) or config.get("tests") is None:
        more = "; scenarios are not read: write them as tests" if _has(config, "scenarios") else ""
        raise InputError(
            f"{path}: found {_name(config)}, expected promptfoo's tests: a list, "
            f"or a mapping with `tests`{more}"
        )
    tests = [
        RawTest(f"{path}: test {number}", *found)
        for number, found in enumerate(_list_tests(config["tests"], folder=path.parent, place=str(path)), 1)
    ]
    if not tests:
        raise InputError(f"{path}: holds no test")
    default = config.get("defaultTest") or {}
    if isinstance(default, str):
        default = read_reference(default, folder=path.parent, place=f"{path}: defaultTest")
    templates = config.get("assertionTemplates") or {}
    if not isinstance(default, dict) or not isinstance(templates, dict):
        raise InputError(f"{path}: expected a mapping as defaultTest and as assertionTemplates")
    return RawTests(tests, default, templates)


def read_reference(reference: str, *, folder: Path, place: str) -> Any:  # noqa: ANN401 - whatever the file holds
    """What the file of a `file://` reference holds: plain values, or its text for .txt and .md.

    Raises:
        InputError: it is no such reference, or one to code, to several files, or to what cannot be read.
    """
    name = reference.removeprefix(REFERENCE)
    if name == reference:
        raise InputError(f"{place}: found {reference!r}, expected a mapping or {REFERENCE} and a file")
    if any(sign in name for sign in "*?[{"):
        raise InputError(f"{place}: {reference}: patterns are not read; name each file")
    path = folder / name
    if path.suffix.lower() in {".txt", ".md"}:
        return _read_text(path)
    return read_file(path, place=f"{place}: ")


def read_file(path: Path, *, place: str = "") -> Any:  # noqa: ANN401 - whatever the file holds
    """The plain values of a YAML, JSON, JSONL or CSV file.

    Raises:
        InputError: it cannot be read, or is of another kind.
    """
    suffix = path.suffix.lower()
    if suffix not in {*YAML_SUFFIXES, ".json", ".jsonl", ".csv"}:
        raise InputError(f"{place}{path}: is not read; expected {_READABLE}, code is not run")
    text = _read_text(path, place=place)
    try:
        if suffix == ".csv":
            return [_read_row(row) for row in csv.DictReader(io.StringIO(text))]
        if suffix == ".jsonl":
            return [json.loads(line) for line in text.splitlines() if line.strip()]
        return json.loads(text) if suffix == ".json" else yaml.safe_load(text)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        where = f":{mark.line + 1}:{mark.column + 1}" if mark else ""
        raise InputError(f"{place}{path}{where}: no valid YAML: {error.problem}") from error
    except (yaml.YAMLError, csv.Error, ValueError, RecursionError) as error:
        first = str(error).partition("\n")[0]
        raise InputError(f"{place}{path}: no valid {suffix[1:].upper()}: {first}") from error


def _list_tests(tests: object, *, folder: Path, place: str) -> list[tuple[dict[str, Any], Path]]:
    found: list[tuple[dict[str, Any], Path]] = []
    for number, test in enumerate(tests if isinstance(tests, list) else [tests], 1):
        where = f"{place}: tests[{number - 1}]" if isinstance(tests, list) else f"{place}: tests"
        if isinstance(test, str):
            inside = read_reference(test, folder=folder, place=where)
            below = (folder / test.removeprefix(REFERENCE)).parent
            found += _list_tests(inside, folder=below, place=f"{where} ({test})")
        elif isinstance(test, dict) and "path" not in test:
            found.append((test, folder))
        else:
            raise InputError(
                f"{where}: found {_name(test)}, expected a test with `vars`; tests made by code are not run"
            )
    return found


def _read_row(row: dict[str, Any]) -> dict[str, Any]:
    """A test from a line of CSV: columns are variables, those named `__...` belong to promptfoo."""
    test: dict[str, Any] = {"vars": {}, "assert": [], "metadata": {}}
    for column, cell in row.items():
        name = (column or "").strip()
        if name == "__description":
            test["description"] = cell
        elif name.startswith("__metadata:"):
            test["metadata"][name.removeprefix("__metadata:")] = cell
        elif name.startswith("__expected"):
            test["assert"] += _read_expected(cell, threshold=row.get("__threshold"))
        elif name and not name.startswith("__"):
            test["vars"][name] = cell
    return test


def _read_expected(cell: str | None, *, threshold: str | None) -> list[dict[str, Any]]:
    found = _EXPECTED.fullmatch((cell or "").strip())
    if found is None:
        return []
    assertion: dict[str, Any] = {"type": found["type"], "value": found["value"]}
    limit = found["threshold"] or (threshold or "").strip()
    return [{**assertion, "threshold": limit} if limit else assertion]


def _read_text(path: Path, *, place: str = "") -> str:
    try:
        with path.open("rb") as file:
            body = file.read(LARGEST_FILE_BYTES + 1)
    except OSError as error:
        raise InputError(f"{place}{path}: cannot be read ({error.strerror})") from error
    if len(body) > LARGEST_FILE_BYTES:
        raise InputError(f"{place}{path}: larger than {LARGEST_FILE_BYTES} bytes")
    try:
        return body.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{place}{path}: no UTF-8 at byte {error.start}: save it as UTF-8") from error


def _has(config: object, key: str) -> bool:
    return isinstance(config, dict) and key in config


def _name(value: object) -> str:
    if isinstance(value, dict):
        return (
            f"a mapping with the keys {', '.join(map(str, list(value)[:5]))}" if value else "an empty mapping"
        )
    return "nothing" if value is None else f"a {type(value).__name__}"
