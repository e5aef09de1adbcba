"""Walks through values of any shape and rewrites the texts in them, those inside JSON texts too."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple, TypeGuard

from ragsonde.extraction.nesting import NESTING_LEVELS, find_too_deep
from ragsonde.redaction.credentials import names_secret
from ragsonde.redaction.placeholders import WITHHELD, is_placeholder
from ragsonde_schemas.redaction import Replaced, add_counts

if TYPE_CHECKING:
    from collections.abc import Callable

    from ragsonde.ports import Redaction

JSON_ROUNDS = 4
"""So often JSON inside of JSON texts is opened; what is deeper is taken as a text."""
_CARD_DIGITS = 13
"""Integers of fewer digits name no card."""
_LONGEST_NUMBER = 40
_IDS = frozenset({"id", "trace_id", "event_id", "session_id", "record_key", "context_ids"})
"""Keys whose values name something: what differs in them stays different."""
_SECRET = "[key]"  # noqa: S105 - a placeholder


class Rewriting(NamedTuple):
    """How texts are rewritten.

    Attributes:
        text: of any text that is no JSON object or list.
        name: of a key of a mapping.
        named: the value under a key, where its name decides; else None.
        opens: whether a text that looks like JSON is to be opened.
    """

    text: Callable[[str], str]
    name: Callable[[str], str] = lambda name: name
    named: Callable[[str, Any], Any] = lambda _name, _value: None
    opens: Callable[[str], bool] = lambda _text: True


def rewrite(value: Any, how: Rewriting, *, rounds: int = JSON_ROUNDS) -> Any:  # noqa: ANN401 - of any shape
    """The value with its texts rewritten, of the same shape; JSON texts stay JSON, or as they are.

    Integers that are long enough to name a card are texts too.
    """
    if isinstance(value, str):
        return _rewrite_text(value, how, rounds=rounds)
    if isinstance(value, dict):
        return {
            how.name(str(key)): _rewrite_named(key, item, how, rounds=rounds) for key, item in value.items()
        }
    if isinstance(value, list | tuple):
        items = [rewrite(item, how, rounds=rounds) for item in value]
        return items if isinstance(value, list) else tuple(items)
    digits = _write_digits(value)
    if digits is None:
        return value
    kept = how.text(digits)
    return value if kept == digits else kept


def _write_digits(value: object) -> str | None:
    """The digits of a whole number that is long enough to name a card, also of one written as 4.1e15."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if not 10 ** (_CARD_DIGITS - 1) <= abs(value) < 10**_LONGEST_NUMBER:
        return None
    return str(int(value)) if int(value) == value else None


def _rewrite_named(key: object, item: Any, how: Rewriting, *, rounds: int) -> Any:  # noqa: ANN401 - of any shape
    decided = how.named(str(key), item)
    return rewrite(item, how, rounds=rounds) if decided is None else decided


def _rewrite_text(text: str, how: Rewriting, *, rounds: int) -> str:
    inner = open_json(text) if rounds and how.opens(text) else None
    if inner is None:
        return how.text(text)
    kept = rewrite(inner, how, rounds=rounds - 1)
    return text if kept == inner else json.dumps(kept, ensure_ascii=False, separators=(",", ":"))


def open_json(text: str) -> dict[str, Any] | list[Any] | None:
    """The object or list that a text is, as JSON; else None."""
    stripped = text.strip()
    if stripped[:1] not in {"{", "["} or find_too_deep(stripped, limit=NESTING_LEVELS) is not None:
        return None
    try:
        value = json.loads(stripped)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict | list) else None


def redact_value(value: Any, redaction: Redaction) -> Replaced[Any]:  # noqa: ANN401 - of any shape
    """A value whose texts, and whose secrets by name, are redacted; all texts in one call.

    Raises:
        ExtractionError: the user's function failed.
    """
    texts: dict[str, str] = {}
    names: dict[str, str] = {}
    secrets: list[str] = []

    def note_ids(name: str, item: object) -> object:
        if name not in _IDS or not _is_text_or_texts(item):
            return None
        names.update((text, text) for text in ([item] if isinstance(item, str) else item))
        return item

    def decide(name: str, item: object) -> object:
        if name in _IDS and _is_text_or_texts(item):
            return new_names[item] if isinstance(item, str) else [new_names[one] for one in item]
        return note_secret(name, item)

    def note_secret(name: str, item: object) -> object:
        if "key" not in redaction.kinds or not isinstance(item, str) or not item or not names_secret(name):
            return None
        if is_placeholder(item, kind="key"):
            return item
        secrets.append(name)
        return _SECRET

    rewrite(
        value,
        Rewriting(
            lambda text: texts.setdefault(text, text), lambda name: names.setdefault(name, name), note_ids
        ),
    )
    kept = redaction.replace(tuple(texts))
    kept_names = redaction.replace_names(tuple(names))
    new_texts = dict(zip(texts, kept.value, strict=True))
    new_names = dict(zip(names, kept_names.value, strict=True))
    changed = rewrite(
        value,
        Rewriting(
            lambda text: new_texts.get(text, text),
            lambda name: new_names.get(name, name),
            decide,
        ),
    )
    return Replaced(
        changed,
        add_counts(kept.counts, kept_names.counts, {"key": len(secrets)} if secrets else {}),
    )


def _is_text_or_texts(item: object) -> TypeGuard[str | list[str]]:
    return isinstance(item, str) or (isinstance(item, list) and all(isinstance(one, str) for one in item))


def withhold_value(value: Any) -> Any:  # noqa: ANN401 - of any shape
    """A value of the same shape without any of its texts; keys are kept."""
    return rewrite(value, Rewriting(lambda text: WITHHELD if text.strip() else text))
