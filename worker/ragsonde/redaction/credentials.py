"""Finds secrets of the usual shapes: keys and tokens of providers, passwords that are named as such."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ragsonde.redaction.matches import Match

if TYPE_CHECKING:
    from collections.abc import Iterator

_TOKENS = re.compile(
    r"(?<![A-Za-z0-9])(?:"
    r"sk-[A-Za-z0-9_-]{16,}+|[prs]k_(?:live|test)_[A-Za-z0-9]{10,}+"
    r"|(?:AKIA|ASIA)[0-9A-Z]{16}(?![0-9A-Za-z])"
    r"|gh[pousr]_[A-Za-z0-9]{20,}+|github_pat_[A-Za-z0-9_]{20,}+|glpat-[A-Za-z0-9_-]{16,}+"
    r"|xox[a-z]-[A-Za-z0-9-]{10,}+|AIza[0-9A-Za-z_-]{30,}+|hf_[A-Za-z0-9]{20,}+|npm_[A-Za-z0-9]{30,}+"
    r"|pypi-[A-Za-z0-9_-]{40,}+|SG\.[A-Za-z0-9_-]{16,}+\.[A-Za-z0-9_-]{16,}+"
    r")"
    r"|(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{5,}+\.[A-Za-z0-9_-]{5,}+(?:\.[A-Za-z0-9_-]*+){0,3}"
)
_PRIVATE_KEY = re.compile(
    r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
    r"(?:(?!-----END)[A-Za-z0-9+/=\s\\:,.-])*+(?:-----END [A-Z0-9 ]{0,60}-----)?"
)
_AUTHORIZATION = re.compile(
    r"(?:(?<![A-Za-z])bearer|authorization[\"']?\s{0,3}[:=]\s{0,3}[\"']?(?:basic|digest|token))[ ]{1,3}"
    r"(?=[A-Za-z._~+/=-]{0,100}[0-9])([A-Za-z0-9._~+/=-]{8,}+)",
    re.IGNORECASE,
)
_IN_URL = re.compile(r"(?<=://)[^\s/:@\"'<>\\]{0,100}:[^\s/@\"'<>\\\[]{1,200}(?=@)")

_NAMES = (
    r"pass(?:word|wd|phrase)|pwd|(?:client|shared|app|secret)?[_.-]?secret(?:[_.-]?key)?|"
    r"(?:api|access|account|private|secret|auth|subscription)[_.-]?(?:key|token)|authtoken"
)
_SAID = re.compile(
    rf"(?:{_NAMES})\\?[\"']?[ \t]{{0,3}}(?:"
    r"(?:=|:=|=>)[ \t]{0,3}\\?[\"']?([^\s\"'&,;<>\\\[\]{}]{4,}+)"
    r"|:[ \t]{0,3}(?:\\?[\"']([^\s\"'\\\[\]{}][^\"'\\\n]{2,200})(?=[\"'\\])"
    r"|(?=[^\s\"'&,;<>\\\[\]{}]{0,60}[0-9])([^\s\"'&,;<>\\\[\]{}]{4,}+))"
    r")",
    re.IGNORECASE,
)
"""A value after = always; after : in quotes, or with a digit in it: `password: required` tells no secret."""
_SIGNS = re.compile(r"pass|pwd|secret|key|token", re.IGNORECASE)
SECRET_NAME = re.compile(rf"(?:.*[_.-])?(?:{_NAMES}|authorization|proxy-authorization)", re.IGNORECASE)
"""Names of keys in a mapping whose value is a secret, whatever it looks like."""
_LONGEST_NAME = 100


def find_keys(text: str) -> Iterator[Match]:
    """Keys, tokens, private key blocks, passwords: of what is named as a secret only the value."""
    for pattern in (_TOKENS, _PRIVATE_KEY, _IN_URL):
        for found in pattern.finditer(text):
            yield Match(*found.span(), "key")
    for found in _AUTHORIZATION.finditer(text):
        yield Match(*found.span(1), "key")
    if _SIGNS.search(text):
        for found in _SAID.finditer(text):
            group = next(number for number in (1, 2, 3) if found.group(number) is not None)
            yield Match(*found.span(group), "key")


def names_secret(name: str) -> bool:
    """True for a key of a mapping that is called like a secret: `password`, `x-api-key`."""
    return len(name) <= _LONGEST_NAME and SECRET_NAME.fullmatch(name) is not None
