"""Texts that look as if they wanted to steer the judge, in plain words."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from ragsonde_schemas.trace import InjectionKind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ragsonde_schemas.trace import Extraction

MEANINGS = {
    InjectionKind.OVERRIDE: "it tells to leave instructions aside",
    InjectionKind.VERDICT: "it asks for a verdict or gives one",
    InjectionKind.ROLE: "it holds tags of a conversation with a model",
    InjectionKind.DELIMITER: "it pretends that the data ends",
    InjectionKind.REPLY: "it has the form of a judge's reply",
    InjectionKind.HIDDEN: "it holds characters that people do not see",
    InjectionKind.ENCODED: "it says so in encoded form",
}


def describe_suspicions(extraction: Extraction) -> Iterator[str]:
    """A line for each text that is suspected, with the reasons; never the text."""
    for where, suspicions in groupby(extraction.suspected_injection, key=lambda one: one.where):
        reasons = "; ".join(MEANINGS[suspicion.kind] for suspicion in suspicions)
        yield f"suspected injection in {where}: {reasons}"
