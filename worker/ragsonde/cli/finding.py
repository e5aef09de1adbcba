"""What `doctor` says of one part."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class Verdict(StrEnum):
    """How a part is."""

    OK = "ok"
    WARNING = "warning"
    FAILING = "failing"


class Finding(NamedTuple):
    """One part, what was found of it, and what to do where it is not well."""

    check: str
    verdict: Verdict
    found: str
    advice: str = ""
