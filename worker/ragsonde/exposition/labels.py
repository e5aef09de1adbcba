"""How things are named in the labels of series."""

from __future__ import annotations

from ragsonde.extraction.trace_labels import LABEL_CHARACTERS, cut_label

LABEL_MAX_CHARACTERS = LABEL_CHARACTERS
"""Enough for an instance name of 64 with its basis and options."""

EXEMPLAR_LABEL = "trace_id"
EXEMPLAR_MAX_CHARACTERS = 120
"""128 is the client's limit for names and values together, and `trace_id` takes 8."""


def clean_label(value: str) -> str:
    """A label value that every scraper can read: printable, stripped, at most 100 characters.

    What is not printable becomes U+FFFD: a lone surrogate would break the encoding of the whole page. A
    longer one ends in a digest: two that begin alike are two series.
    """
    text = value.strip()
    if len(text) > LABEL_MAX_CHARACTERS:
        text = cut_label(text)
    if not text.isprintable():
        text = "".join(character if character.isprintable() else "\ufffd" for character in text)
    return text


def exemplar_of(trace_id: str) -> dict[str, str] | None:
    """The exemplar that leads from a bucket to the trace, or None where the id is too long or unprintable."""
    if not trace_id or len(trace_id) > EXEMPLAR_MAX_CHARACTERS or not trace_id.isprintable():
        return None
    return {EXEMPLAR_LABEL: trace_id}
