"""Replaces users' ids by pseudonyms, wherever the name of a key says that a value is one."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ragsonde.redaction.values import Rewriting, rewrite

if TYPE_CHECKING:
    from collections.abc import Collection

    from ragsonde_schemas.user_key import KeyRing

_USER_ID = "userid"
"""What a key's name ends with, without dots, dashes and lines: user.id, userId, enduser.id, ..."""
_OTHER_NAMES = frozenset(
    {"end_user", "from_account_id", "gen_ai.request.user", "gen_ai.user", "llm.user", "mlflow.trace.user"}
)
_USER = "user"
"""The name in the bodies of some tools; elsewhere its value is as often what a user said."""
_USER_OBJECTS = frozenset({"user", "enduser", "account"})
_ID = "id"
_UNMISTAKABLE = 8
"""Characters of an id that is replaced inside of longer texts too."""
_SEPARATORS = re.compile(r"[._-]")
_SIGN = re.compile("user|account", re.IGNORECASE)
_VALUES = ("stringValue", "string_value", "intValue", "int_value")
"""Of an attribute as OTLP writes it in JSON."""


def names_user(name: str, *, others: Collection[str] = ()) -> bool:
    """True for a key whose value is a user's id."""
    if name in others or name in _OTHER_NAMES:
        return True
    return _SEPARATORS.sub("", name).lower().endswith(_USER_ID)


def hide_users(
    value: Any,  # noqa: ANN401 - of any shape
    ring: KeyRing,
    *,
    others: Collection[str] = (),
    known: Collection[str] = (),
    is_body: bool = False,
) -> Any:  # noqa: ANN401 - of the same shape
    """A value in which users' ids are pseudonyms.

    Args:
        value: of any shape.
        ring: makes the pseudonyms.
        others: further names of keys, as configured.
        known: ids that are known of this trace: texts that are one of them are replaced wherever they stand.
        is_body: a whole message, which may name a user by `user`.
    """

    def hide_named(name: str, item: Any) -> Any:  # noqa: ANN401 - as above
        is_id = names_user(name, others=others) or (
            is_body and name == _USER and isinstance(item, str) and not re.search(r"\s", item)
        )
        if not is_id and _is_user_object(name, item):
            return {**rewrite(item, how), _ID: ring.hide(str(item[_ID]))}
        return _hide(item, ring) if is_id else None

    def is_worth_opening(text: str) -> bool:
        return _SIGN.search(text) is not None or any(one in text for one in (*others, *known))

    how = Rewriting(
        text=lambda text: hide_known(text, ring, known=known),
        named=hide_named,
        opens=is_worth_opening,
    )
    return rewrite(_hide_attributes(value, ring, others=others) if is_body else value, how)


def hide_known(text: str, ring: KeyRing, *, known: Collection[str]) -> str:
    """A text in which ids that are known are pseudonyms: where they are all of it, and long ones anywhere.

    Long ones hold a digit or an @ besides: `anonymous` is a word.
    """
    if text.strip() in known:
        return ring.hide(text)
    for one in known:
        if one in text and is_unmistakable(one):
            text = re.sub(rf"(?<!\w){re.escape(one)}(?!\w)", ring.hide(one), text)
    return text


def is_unmistakable(user_id: str) -> bool:
    """True for an id that no other word is."""
    return len(user_id) >= _UNMISTAKABLE and any(one.isdigit() or one == "@" for one in user_id)


def collect_users(value: Any, *, others: Collection[str] = ()) -> set[str]:  # noqa: ANN401 - of any shape
    """The ids that stand under the name of a user's id."""
    found: set[str] = set()

    def note(name: str, item: object) -> None:
        if names_user(name, others=others) and _is_id(item):
            found.add(str(item).strip())
        elif _is_user_object(name, item) and isinstance(item, dict):
            found.add(str(item[_ID]).strip())

    rewrite(
        value, Rewriting(lambda text: text, named=note, opens=lambda text: _SIGN.search(text) is not None)
    )
    return found


def _hide(item: Any, ring: KeyRing) -> Any:  # noqa: ANN401 - of any shape
    """The pseudonym of an id; None where the item is none."""
    return ring.hide(str(item)) if _is_id(item) else None


def _is_user_object(name: str, item: object) -> bool:
    """True for an object that is a user with an id: `"user": {"id": "u-1"}`."""
    is_user = _SEPARATORS.sub("", name).lower() in _USER_OBJECTS
    return is_user and isinstance(item, dict) and _is_id(item.get(_ID))


def is_starred(text: str) -> bool:
    """True for what is left of an id that was starred in bytes: it names nobody."""
    return bool(text.strip()) and not text.strip().strip("*")


def _is_id(item: object) -> bool:
    return (isinstance(item, str) and bool(item.strip()) and not is_starred(item)) or (
        isinstance(item, int) and not isinstance(item, bool)
    )


def _hide_attributes(value: Any, ring: KeyRing, *, others: Collection[str]) -> Any:  # noqa: ANN401 - as above
    """The value with users' ids hidden in attributes that are written as key and value."""
    if isinstance(value, list):
        return [_hide_attributes(item, ring, others=others) for item in value]
    if not isinstance(value, dict):
        return value
    name, given = value.get("key"), value.get("value")
    if isinstance(name, str) and isinstance(given, dict) and names_user(name, others=others):
        said = next((given[one] for one in _VALUES if one in given), None)
        if _is_id(said):
            return {**value, "value": {"stringValue": ring.hide(str(said))}}
    return {key: _hide_attributes(item, ring, others=others) for key, item in value.items()}
