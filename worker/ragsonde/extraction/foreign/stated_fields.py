"""Fields that stand at the top of another tool's JSON because its producer put them there.

Every format of other tools takes them under the names of a native message; what is stated goes before what a
format's own rules find.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ragsonde.extraction.conventions.recorded_facts import read_reference, read_tags
from ragsonde.extraction.documents import read_name, read_score
from ragsonde.extraction.findings import Found, cite
from ragsonde.extraction.foreign.places import look_up_path

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ragsonde.extraction.findings import Findings

NAMES = ("app", "environment", "release", "variant", "session_id", "user_id", "model")
_TEXTS = ("query", "retrieval_query")
_AMOUNTS = ("latency_ms", "cost_usd")


def find_names(
    document: dict[str, Any], *, format_name: str, places: Mapping[str, tuple[str, ...]]
) -> dict[str, Found]:
    """The fields that are names, each from the top of the document, else from its first place that has one.

    Args:
        document: the record.
        format_name: names the rules.
        places: field -> paths with dots, beside the field's own name; a field whose places begin with '' is
            not taken from the top, where this format has another meaning for it.
    """
    found: dict[str, Found] = {}
    for field in NAMES:
        own = places.get(field, ())
        for place in own[1:] if own[:1] == ("",) else (field, *own):
            name = read_name(look_up_path(document, place))
            if name is not None:
                found[field] = Found(name, cite(f"{format_name}:{place}"))
                break
    return found


def add_stated(findings: Findings, document: dict[str, Any], *, takes_metadata: bool = True) -> Findings:
    """The findings with what the document states itself: query, reference, tags, metadata and amounts.

    Args:
        findings: by the format's own rules.
        document: the record.
        takes_metadata: the document's `metadata`, where the rules found none, is its producer's; not so where
            the format keeps things of its own there.
    """
    stated: dict[str, Any] = {
        field: text for field in _TEXTS if isinstance(text := document.get(field), str) and text.strip()
    }
    reference = read_reference(document.get("reference"))
    if reference is not None:
        stated["reference"] = reference
    tags = read_tags(document.get("tags"))
    if tags:
        stated["tags"] = tags
    evidence = {field: cite(f"{findings.format}:{field}") for field in stated}
    for field in _AMOUNTS:
        amount = read_score(document.get(field))
        if amount is not None and amount >= 0:
            stated[field] = amount
    probability = read_score(document.get("sampling_probability"))
    if probability is not None and 0 < probability <= 1:
        stated["sampling_probability"] = probability
    event_id = read_name(document.get("event_id"))
    if event_id is not None:
        stated["event_id"] = event_id
    metadata = document.get("metadata")
    if takes_metadata and isinstance(metadata, dict) and not findings.metadata:
        stated["metadata"] = metadata
    return replace(findings, **stated, evidence={**findings.evidence, **evidence})


def read_found(value: object, rule: str, *, is_exact: bool = True) -> Found:
    """`value` with the rule that found it; nothing for None."""
    return Found() if value is None else Found(value, cite(rule, is_exact=is_exact))
