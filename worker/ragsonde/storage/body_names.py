"""Whom a stored body names: trace ids, and values under keys that are of users, sessions and apps.

Bodies are looked through as they are, as many of them cannot be decoded: JSON, JSON inside of JSON strings,
and the fields of OTLP protobuf. What is compressed is unpacked first. A value that stands under another key,
or in a text, names nobody: ids may be as short as "1". Pseudonyms of users are known under every key.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, NamedTuple

from ragsonde.decoding.compression import Compression, decompress
from ragsonde_schemas.errors import DecodeError

if TYPE_CHECKING:
    from collections.abc import Iterator

_UNPACKED_BYTES = 16 * 1_048_576
_MAGIC = {b"\x1f\x8b": Compression.GZIP, b"\x28\xb5\x2f\xfd": Compression.ZSTD}

_KEY = rb'"([^"\\]{1,80})"'
_TEXT = rb'"((?:[^"\\]|\\.){1,512})"'
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
_STRING = re.compile(rb'"((?:[^"\\]|\\.){1,512})"')
_WIRE_ATTRIBUTE = re.compile(
    rb"\x0a([\x01-\x50])([A-Za-z0-9_.\-]{1,80})\x12[\x02-\x7f]\x0a([\x01-\x7f])", re.DOTALL
)
_WIRE_TRACE_ID = re.compile(rb"\x0a\x10(.{16})", re.DOTALL)

_USER = re.compile(r"user|account", re.IGNORECASE)
_PSEUDONYM = re.compile(r"[0-9a-f]{8}:[0-9a-f]{64}")
"""Of a user, as `ragsonde_schemas.user_key` makes it: unmistakable under whatever key."""
_SESSION = re.compile(r"session|conversation|thread", re.IGNORECASE)
_APPS = frozenset({"app", "service.name"})


class BodyNames(NamedTuple):
    """Whom a body names.

    Attributes:
        strings: every string in it that may be an id of a trace.
    """

    strings: frozenset[str]
    users: frozenset[str]
    sessions: frozenset[str]
    apps: frozenset[str]


def read_names(body: bytes) -> BodyNames:
    """Whom a body names; never raises, whatever the bytes."""
    plain = _unpack(body)
    pairs = list(_list_pairs(plain))
    strings = {_read(match[1]) for match in _STRING.finditer(plain)}
    strings |= {match[1].hex() for match in _WIRE_TRACE_ID.finditer(plain)}
    return BodyNames(
        strings=frozenset(strings),
        users=frozenset(
            [
                *(value for key, value in pairs if _USER.search(key)),
                *(one for one in strings if _PSEUDONYM.fullmatch(one)),
            ]
        ),
        sessions=frozenset(value for key, value in pairs if _SESSION.search(key)),
        apps=frozenset(value for key, value in pairs if key in _APPS),
    )


def _list_pairs(plain: bytes) -> Iterator[tuple[str, str]]:
    layers = [plain]
    if b'\\"' in plain:  # JSON as a string inside of JSON
        layers.append(plain.replace(b'\\"', b'"'))
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


def _unpack(body: bytes) -> bytes:
    for magic, compression in _MAGIC.items():
        if body.startswith(magic):
            try:
                return decompress(body, compression=compression, limit=_UNPACKED_BYTES)
            except DecodeError:
                return body
    return body
