"""What attributes hold: producers write JSON into strings, often twice."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ragsonde.extraction.documents import read_name
from ragsonde.extraction.embedded_json import read_embedded, read_plain
from ragsonde.extraction.findings import Found, cite

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

_JSON_START = re.compile(r'\s*(?:\{\s*"|\[\s*(?:"|\{\s*"))')
_NO_MODELS = frozenset({"unknown", "none", "null", "custom"})


def read_value(recorded: object) -> Any:  # noqa: ANN401 - JSON holds anything
    """The value that an attribute holds: JSON inside strings is decoded, any other text stays one.

    None for a blank text, for the text `null` and for JSON that was cut off on its way.
    """
    if not isinstance(recorded, str):
        return recorded
    embedded = read_embedded(recorded)
    if embedded is not None:
        return embedded
    text = read_plain(recorded)
    is_cut = text is not None and is_unreadable_json(text) and text.strip()[-1] not in "]}"
    return None if is_cut else text


def is_unreadable_json(text: str) -> bool:
    """True for a text that begins like a JSON object or list but, as the caller knows, cannot be read."""
    return _JSON_START.match(text) is not None


def read_object(recorded: object) -> dict[str, Any]:
    """The object that an attribute holds; {} for anything else."""
    value = read_value(recorded)
    return value if isinstance(value, dict) else {}


def read_prefixed(attributes: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    """The attributes below `prefix` (with its dot) by the rest of their names, JSON in them decoded."""
    return {
        key[len(prefix) :]: read_value(value)
        for key, value in attributes.items()
        if key.startswith(prefix) and len(key) > len(prefix)
    }


def find_first(
    attributes: Mapping[str, Any],
    names: Iterable[str],
    *,
    read: Callable[[object], str | None],
    convention: str,
    is_exact: bool = True,
) -> Found:
    """What `read` finds in the first of these attributes in which it finds anything."""
    for name in names:
        found = read(attributes.get(name))
        if found is not None:
            return Found(found, cite(write_rule(convention, name), is_exact=is_exact))
    return Found()


def find_names(
    attributes: Mapping[str, Any],
    places: Mapping[str, Iterable[str]],
    *,
    convention: str,
    is_exact: bool = True,
) -> dict[str, Found]:
    """Fields that are names, each from the first of its places that holds one.

    Args:
        attributes: of a span, or an object in one of them.
        places: field -> names of attributes; a model called `unknown` is none.
        convention: names the rules, with the attribute.
        is_exact: False where the places only neighbour what is asked for.
    """
    found: dict[str, Found] = {}
    for field, names in places.items():
        read = _read_model if field == "model" else _read_name
        name = find_first(attributes, names, read=read, convention=convention, is_exact=is_exact)
        if name.value is not None:
            found[field] = name
    return found


def write_rule(convention: str, attribute: str) -> str:
    """The rule that an attribute is read by: `langfuse:trace.input`, `mlflow:tags.env`.

    Args:
        convention: its name, or that and a place in it (`mlflow:tags`).
        attribute: with its convention's prefix or without.
    """
    name = attribute.removeprefix("ai.observability.").removeprefix("ai.")
    name = name.removeprefix(f"{convention.partition(':')[0]}.")
    return f"{convention}{'.' if ':' in convention else ':'}{name}"


def _read_name(recorded: object) -> str | None:
    return read_name(read_plain(recorded) if isinstance(recorded, str) else recorded)


def _read_model(recorded: object) -> str | None:
    name = _read_name(recorded)
    return None if name is None or name.strip().lower() in _NO_MODELS else name
