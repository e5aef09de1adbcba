"""Tells of keys of a native message that are no fields of ours, unless a mapping or a function uses them."""

from __future__ import annotations

import difflib
from dataclasses import replace
from typing import TYPE_CHECKING

from ragsonde_schemas.decoded import DecodedMessage
from ragsonde_schemas.message import TraceMessage

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from ragsonde.extraction.findings import Findings
    from ragsonde.extraction.mapping_paths import Path
    from ragsonde_schemas.decoded import Record

_NAMED_AT_MOST = 5
_KEY_CHARACTERS = 40
_NEAR = 0.75
_FOREIGN_WORDS = {
    word: name
    for name, words in {
        "query": ("question", "input", "prompt", "user_input", "user_query"),
        "contexts": (
            "docs",
            "documents",
            "source_documents",
            "retrieved_contexts",
            "retrieved_documents",
            "chunks",
            "passages",
        ),
        "answer": ("response", "output", "actual_output", "completion", "generation", "reply"),
        "reference": ("ground_truth", "expected_output", "expected_answer", "reference_answer"),
        "occurred_at": ("timestamp", "time", "created_at"),
        "latency_ms": ("latency", "duration_ms"),
        "cost_usd": ("cost",),
    }.items()
    for word in words
}
"""What other tools call a field of ours, where no likeness of letters tells."""


def warn_of_unknown_keys(
    message: TraceMessage, *, used: Collection[str] = (), filled: Collection[str] = ()
) -> list[str]:
    """One warning that names the unknown keys of the message itself, if it has any.

    Args:
        message: as it came.
        used: keys of which it is known what they are for.
        filled: fields that were found elsewhere, so that no key needs to mean them.
    """
    unknown = [key for key in message.model_extra or {} if key not in used]
    if not unknown:
        return []
    given = {*message.model_fields_set, *filled}
    free = [name for name in TraceMessage.model_fields if name not in given]
    names = ", ".join(_shorten(key) for key in unknown[:_NAMED_AT_MOST])
    more = f" and {len(unknown) - _NAMED_AT_MOST} more" if len(unknown) > _NAMED_AT_MOST else ""
    meant = [near for key in unknown[:_NAMED_AT_MOST] if (near := _find_nearest(key, free)) is not None]
    question = f"; did you mean {', '.join(dict.fromkeys(meant))}?" if meant else ""
    noun = "key" if len(unknown) == 1 else "keys"
    return [f"unknown {noun} {names}{more}: kept, not used{question}"]


def forget_used_keys(found: Findings, record: Record, *, paths: Mapping[str, tuple[Path, ...]]) -> Findings:
    """The findings, their warning of unknown keys without those that were used.

    A path uses the keys that it begins with, where it found something; a function is given all of them, so
    that nobody can say which one it leaves unused.

    Args:
        found: by rules, mappings and functions.
        record: where it was found.
        paths: by field, of the entry of `extraction` that was applied.
    """
    if not isinstance(record, DecodedMessage):
        return found
    earlier = warn_of_unknown_keys(record.message)
    if not earlier or earlier[0] not in found.warnings:
        return found
    mapped = [field for field, evidence in found.evidence.items() if evidence.rule.startswith("mapping:")]
    asked = [field for field, evidence in found.evidence.items() if evidence.rule.startswith("extractor:")]
    if not mapped and not asked:
        return found
    used = {key for field in mapped for path in paths.get(field, ()) for key in path.keys}
    if asked:
        used.update(record.message.model_extra or {})
    left = warn_of_unknown_keys(record.message, used=used, filled=(*mapped, *asked))
    place = found.warnings.index(earlier[0])
    return replace(found, warnings=(*found.warnings[:place], *left, *found.warnings[place + 1 :]))


def _find_nearest(key: str, names: list[str]) -> str | None:
    """The field, not given itself, that a key may mean: another tool's word for it, or a slip of the pen."""
    word = _shorten(key).casefold().replace("-", "_")
    if _FOREIGN_WORDS.get(word) in names:
        return _FOREIGN_WORDS[word]
    return next(iter(difflib.get_close_matches(word, names, n=1, cutoff=_NEAR)), None)


def _shorten(key: str) -> str:
    return key if len(key) <= _KEY_CHARACTERS else f"{key[:_KEY_CHARACTERS]}…"
