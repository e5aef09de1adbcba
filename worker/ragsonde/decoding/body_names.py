"""Whom a stored body names: trace ids, and values under keys that are of users, sessions and apps.

Bodies are looked through as they are, as many of them cannot be decoded: JSON, JSON inside of JSON strings,
and the fields of OTLP protobuf. What is compressed is unpacked first. A value that stands under another key,
or in a text, names nobody: ids may be as short as "1". Pseudonyms of users are known under every key.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from ragsonde.decoding.protobuf_texts import Texts, map_texts
from ragsonde.decoding.sniffing import PROTOBUF_FIRST_BYTE
from ragsonde.decoding.unpacking import look_inside
from ragsonde.extraction.nesting import NESTING_LEVELS, find_too_deep
from ragsonde_schemas.body_names import BodyNames

if TYPE_CHECKING:
    from collections.abc import Iterator

_UNPACKED_BYTES = 16 * 1_048_576
_JSON_ROUNDS = 4
"""So often JSON inside of JSON texts is opened."""
_LONGEST_TEXT = 1_048_576
_OPENING = ("{", "[")
_BLANKS = re.compile(r"\s*")
_ESCAPED = re.compile(rb'\\(["\\])')
_DECODER = json.JSONDecoder(strict=False)

_KEY = rb'"([^"\\]{1,80})"'
_TEXT = rb'"((?:[^"\\]|\\.){1,4096})"'
_SCALAR = rb"(-?[0-9]{1,32})(?=[\s,}\]])"
_VALUE = rb"(?:" + _TEXT + rb"|" + _SCALAR + rb")"
_MEMBER = re.compile(rb"(?=" + _KEY + rb"\s*:\s*" + _VALUE + rb")")
_ATTRIBUTE = re.compile(
    rb'(?="key"\s*:\s*'
    + _KEY
    + rb'\s*,\s*"value"\s*:\s*\{\s*"(?:stringValue|intValue)"\s*:\s*'
    + _VALUE
    + rb")"
)
"""Both look ahead: what seems to be a value may be the beginning of JSON inside of a string."""
_STRING = re.compile(rb'"((?:[^"\\]|\\.){1,4096})"')
_WIRE_ATTRIBUTE = re.compile(
    rb"\x0a([\x01-\x50])([A-Za-z0-9_.\-]{1,80})\x12[\x02-\x7f]\x0a([\x01-\x7f])", re.DOTALL
)
_WIRE_TRACE_ID = re.compile(rb"\x0a\x10(.{16})", re.DOTALL)

_USER = re.compile(r"user|account", re.IGNORECASE)
_PSEUDONYM = re.compile(r"[0-9a-f]{8}:[0-9a-f]{64}")
"""Of a user, as `ragsonde_schemas.user_key` makes it: unmistakable under whatever key."""
_SESSION = re.compile(r"session|conversation|thread", re.IGNORECASE)
_TRACE = re.compile(r"(?:^|trace|run|message|record|event)[._-]?id$|^trace$|[._-]trace$", re.IGNORECASE)
_APPS = frozenset({"app", "service.name"})


def read_names(body: bytes, *, encoding: str | None = None, limit: int = _UNPACKED_BYTES) -> BodyNames:
    """Whom a body names; never raises, whatever the bytes.

    Args:
        body: as it was delivered, or a part of it.
        encoding: the content encoding that its producer named.
        limit: how many bytes it may decompress to.
    """
    plain = look_inside(body, encoding=encoding, limit=limit)
    walk = _Walk()
    values = _read_values(plain)
    for value in values or ():
        walk.note(value, "")
    if values is None:
        walk.pairs += _list_pairs(plain)
        walk.strings |= {_read(match[1]) for match in _STRING.finditer(plain)}
        walk.strings |= {match[1].hex() for match in _WIRE_TRACE_ID.finditer(plain)}
        if plain[:1] == bytes((PROTOBUF_FIRST_BYTE,)):
            _note_export(plain, walk)
    pairs, strings = walk.pairs, walk.strings
    return BodyNames(
        strings=frozenset(strings),
        traces=frozenset(
            value
            for key, value in pairs
            if _TRACE.search(key) and not _USER.search(key) and not _SESSION.search(key)
        ),
        users=frozenset(
            [
                *(value for key, value in pairs if _USER.search(key)),
                *(one for one in strings if _PSEUDONYM.fullmatch(one)),
            ]
        ),
        sessions=frozenset(value for key, value in pairs if _SESSION.search(key)),
        apps=frozenset(value for key, value in pairs if key in _APPS),
    )


def _read_values(plain: bytes) -> list[Any] | None:
    """The JSON values that a body is made of: one, or several behind each other; None where it is no JSON."""
    try:
        text = plain.decode().removeprefix("\ufeff")
    except UnicodeDecodeError:
        return None
    if find_too_deep(text, limit=NESTING_LEVELS) is not None:
        return None
    values: list[Any] = []
    at = _find_word(text, 0)
    while at < len(text):
        if text[at] not in "{[":
            return None
        try:
            value, at = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            return None
        values.append(value)
        at = _find_word(text, at)
    return values or None


def _find_word(text: str, at: int) -> int:
    """Where the blanks end."""
    found = _BLANKS.match(text, at)
    return found.end() if found else at


class _Walk:
    """What stands under which key in JSON, and in JSON inside of its texts."""

    def __init__(self) -> None:
        self.pairs: list[tuple[str, str]] = []
        self.strings: set[str] = set()

    def note(self, value: Any, key: str, *, rounds: int = _JSON_ROUNDS) -> None:  # noqa: ANN401 - JSON
        """Notes a value and what is in it; of an object the key before its `id` too."""
        if isinstance(value, dict):
            self._note_attribute(value)
            for name, item in value.items():
                self.note(item, str(name), rounds=rounds)
                if key and name == "id" and _is_id(item):
                    self.pairs.append((f"{key}.id", str(item)))
        elif isinstance(value, list):
            for item in value:
                self.note(item, key, rounds=rounds)
        elif _is_id(value):
            said = str(value)
            self.pairs.append((key, said))
            self.strings.add(said)
            if rounds and said.lstrip()[:1] in _OPENING:
                for inner in _read_values(said.encode(errors="replace")) or ():
                    self.note(inner, key, rounds=rounds - 1)

    def _note_attribute(self, value: dict[str, Any]) -> None:
        """An attribute as OTLP writes it in JSON."""
        name, given = value.get("key"), value.get("value")
        if isinstance(name, str) and isinstance(given, dict):
            self.pairs += [(name, str(item)) for item in given.values() if _is_id(item)]


def _is_id(value: object) -> bool:
    return (isinstance(value, str) and len(value) <= _LONGEST_TEXT) or (
        isinstance(value, int) and not isinstance(value, bool)
    )


def _note_export(plain: bytes, walk: _Walk) -> None:
    """Notes the attributes of an OTLP export."""

    def note(name: str, text: str | int) -> str | int:
        walk.note(text, name)
        return text

    map_texts(plain, Texts(text=note, rest=lambda raw: raw))


def _list_pairs(plain: bytes) -> Iterator[tuple[str, str]]:
    layers = [plain]
    while len(layers) <= _JSON_ROUNDS and b'\\"' in layers[-1]:  # JSON as a string inside of JSON
        layers.append(_ESCAPED.sub(rb"\1", layers[-1]))
    for layer in layers:
        for pattern in (_MEMBER, _ATTRIBUTE):
            for match in pattern.finditer(layer):
                yield match[1].decode(errors="replace"), _read(match[2] or match[3])
    for match in _WIRE_ATTRIBUTE.finditer(plain):
        if match[1][0] == len(match[2]):
            start = match.end()
            yield match[2].decode(), plain[start : start + match[3][0]].decode(errors="replace")


def _read(text: bytes) -> str:
    try:
        return str(json.loads(b'"' + text + b'"', strict=False))
    except ValueError:
        return text.decode(errors="replace")
