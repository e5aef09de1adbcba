# ruff: noqa: INP001  # a part of a program, in no package
"""Which licences packages have, which of these go with Apache-2.0, and the list of them in THIRD_PARTY.md."""

from __future__ import annotations

import re
from importlib.metadata import PackageNotFoundError, distribution
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

ALLOWED = frozenset(
    {
        "APACHE-2.0", "BSD-2-CLAUSE", "BSD-3-CLAUSE", "BSD", "ISC", "MIT", "PSF-2.0", "CNRI-PYTHON",
        "ZPL-2.1", "0BSD", "CC0-1.0", "ZLIB", "MIT-0",
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

ONLY_HERE = {
    "hypothesis": "MPL-2.0: runs tests",
    "orjson": "MPL-2.0 in part: used by tools of the tests",
    "pathspec": "MPL-2.0: used by mypy",
}
"""The same of what is in the lock for developing alone: it is not passed on."""

ELSEWHERE = {
    "async-timeout": "APACHE-2.0",
    "cffi": "MIT-0",
    "colorama": "BSD-3-CLAUSE",
    "httpx2-jsfetch": "BSD-3-CLAUSE",
    "pycparser": "BSD-3-CLAUSE",
    "tzdata": "APACHE-2.0",
}
"""Licences of what is installed on other systems or Pythons only, as its metadata tell them."""

LIST = "THIRD_PARTY.md"
BEGIN = "<!-- packages: written by `deploy/tools/audit.py --write-licences` -->"
END = "<!-- end of packages -->"

_NAMES = {
    "3-CLAUSE BSD LICENSE": "BSD-3-CLAUSE",
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
_SHOWN = {
    "APACHE-2.0": "Apache-2.0",
    "BSD-2-CLAUSE": "BSD-2-Clause",
    "BSD-3-CLAUSE": "BSD-3-Clause",
    "CNRI-PYTHON": "CNRI-Python",
    "ZLIB": "Zlib",
    "LGPL-3.0-ONLY": "LGPL-3.0-only",
}


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


def check_list(text: str, names: Iterable[str]) -> list[str]:
    """What is wrong with the list of licences in THIRD_PARTY.md."""
    listed = {line for line in cut_list(text)[1].splitlines() if line.startswith("| `")}
    expected = set(list_lines(names))
    todo = "run `deploy/tools/audit.py --write-licences`"
    return [f"{LIST}: {line} is missing; {todo}" for line in sorted(expected - listed)] + [
        f"{LIST}: {line} is not in the lock, or not so; {todo}" for line in sorted(listed - expected)
    ]


def list_lines(names: Iterable[str]) -> list[str]:
    """A line of the list for each package, by name, with its licence and what is to be said of it."""
    return [
        f"| `{name}` | {_show_licence(name)} | {EXCEPTIONS.get(name, '')} |" for name in sorted(set(names))
    ]


def cut_list(text: str) -> tuple[str, str, str]:
    """What stands before the list of licences, the list, and what comes after it."""
    before, begin, rest = text.partition(BEGIN)
    listed, end, after = rest.partition(END)
    if not begin or not end:
        raise SystemExit(f"{LIST}: expected the lines {BEGIN} and {END}")
    return before + begin, listed, end + after


def renew_list(text: str, names: Iterable[str]) -> str:
    """The text of THIRD_PARTY.md with the list written anew."""
    before, _, after = cut_list(text)
    table = "\n".join(["| package | licence | remark |", "| --- | --- | --- |", *list_lines(names)])
    return f"{before}\n{table}\n{after}"


def _show_licence(name: str) -> str:
    fields = read_fields(name)
    found = {ELSEWHERE[name]} if fields is None else set(_list_licences(fields))
    return ", ".join(sorted(_SHOWN.get(one, one) for one in found))


def read_fields(name: str) -> dict[str, Any] | None:
    """What a package says of its licence; None where it is not installed."""
    try:
        metadata = distribution(name).metadata
    except PackageNotFoundError:
        return None
    return {
        "expression": metadata.get("License-Expression"),
        "licence": metadata.get("License"),
        "classifiers": metadata.get_all("Classifier") or [],
    }


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
