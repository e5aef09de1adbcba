"""Reads what a resolver gave for ids: a mapping, or a list in the order of the ids."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ragsonde.extraction.mapping_paths import name_kind
from ragsonde.extraction.texts import mend_text
from ragsonde_schemas.errors import ExtractionError


def read_texts(given: object, *, ids: Sequence[str], label: str) -> dict[str, str]:
    """The texts by id; an id that the resolver does not know is left out.

    Raises:
        ExtractionError: neither a mapping nor a list with an item for each id, or an item is no text.
    """
    if isinstance(given, Mapping):
        texts = {id_: given.get(id_) for id_ in ids}
    elif isinstance(given, Sequence) and not isinstance(given, str | bytes):
        if len(given) != len(ids):
            raise ExtractionError(f"{label} gave a list of {len(given)} for {len(ids)} ids, expected as many")
        texts = dict(zip(ids, given, strict=True))
    else:
        raise ExtractionError(
            f"{label} gave {name_kind(given)}, expected a mapping from ids to texts, or a list of texts"
        )
    wrong = next((text for text in texts.values() if text is not None and not isinstance(text, str)), None)
    if wrong is not None:
        raise ExtractionError(f"{label} gave {name_kind(wrong)} for an id, expected text or None")
    return {id_: mend_text(text) for id_, text in texts.items() if isinstance(text, str)}
