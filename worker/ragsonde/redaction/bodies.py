"""Bodies of parked messages, redacted so that they can still be published again.

What can be read is kept: JSON and JSON lines value by value, other text by what stands in it, OTLP protobuf
text by text. Of protobuf that no decoder reads, what is taken out is starred. What is compressed is looked
into, and packed again.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from ragsonde.decoding.protobuf_texts import Texts, map_texts
from ragsonde.decoding.sniffing import PROTOBUF_FIRST_BYTE
from ragsonde.decoding.unpacking import unpack
from ragsonde.redaction.user_ids import collect_users, hide_known, hide_users, is_unmistakable, names_user
from ragsonde.redaction.values import open_json, redact_value
from ragsonde_schemas.errors import DecodeError, ExtractionError
from ragsonde_schemas.redaction import add_counts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ragsonde.decoding.limits import DecodingLimits
    from ragsonde.redaction.privacy import Privacy
    from ragsonde_schemas.envelope import Envelope

_LONGEST_CHARACTER = 4
_FILLER = b"*"
_BINARY = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")
_NAMED_TEXT = re.compile(r'"([A-Za-z][\w.-]{0,80})\\{0,3}"\s{0,9}:\s{0,9}\\{0,3}"([^"\\]{1,512})')
_KEY_FIELD, _VALUE_FIELD, _STRING_FIELD = b"\x0a", b"\x12", b"\x0a"
_KEY_NAME = re.compile(rb"\x0a([\x01-\x7f])([A-Za-z][A-Za-z0-9_.-]{1,126})")
_VARINT_CONTINUES = 0x80


class ProtectedBody(NamedTuple):
    """A body as it may be parked.

    Attributes:
        body: b"" where nothing of it may be kept.
        content_encoding: as it is now.
        remark: what is to be said of it; '' for nothing.
        counts: how many places were replaced, by kind.
    """

    body: bytes
    content_encoding: str | None
    remark: str = ""
    counts: dict[str, int] = {}  # noqa: RUF012 - never changed


class _UnreadableError(Exception):
    """The body cannot be looked into."""


def protect_body(envelope: Envelope, privacy: Privacy, *, limits: DecodingLimits) -> ProtectedBody:
    """The body of a message that is to be parked, with users' ids and texts as they may be kept.

    Raises:
        DatabaseLostError: the keys cannot be read.
    """
    body = envelope.body
    try:
        plain, compression = unpack(body, encoding=envelope.content_encoding, limit=limits.decompressed_bytes)
        kept, counts = _protect_plain(plain, privacy, is_whole=len(body) == envelope.body_bytes)
    except (DecodeError, ExtractionError, _UnreadableError):
        return _leave_out(envelope, privacy)
    if kept == plain:
        return ProtectedBody(body, envelope.content_encoding)
    if compression is None:
        return ProtectedBody(kept, envelope.content_encoding, counts=counts)
    return ProtectedBody(gzip.compress(kept, mtime=0), "gzip", counts=counts)


def _leave_out(envelope: Envelope, privacy: Privacy) -> ProtectedBody:
    if privacy.redaction is None or privacy.keeps_unreadable or not envelope.body:
        return ProtectedBody(envelope.body, envelope.content_encoding)
    digest = hashlib.sha256(envelope.body).hexdigest()
    return ProtectedBody(
        b"",
        envelope.content_encoding,
        f"its body, {envelope.body_bytes} bytes with sha256 {digest}, could not be redacted and is not kept",
    )


def _protect_plain(body: bytes, privacy: Privacy, *, is_whole: bool) -> tuple[bytes, dict[str, int]]:
    text = _read_text(body, is_whole=is_whole)
    if text is not None:
        kept, counts = _protect_text(text, privacy)
        # half a character that JSON escapes cannot be encoded, and is written as JSON escapes it
        return kept.encode(errors="backslashreplace"), counts
    if body[:1] != bytes((PROTOBUF_FIRST_BYTE,)):
        raise _UnreadableError
    return _protect_bytes(body, privacy)


def _read_text(body: bytes, *, is_whole: bool) -> str | None:
    """The text that a body is, or the first part of one is; None where it is none."""
    for cut in range(1 if is_whole else _LONGEST_CHARACTER):
        try:
            text = body[: len(body) - cut].decode()
        except UnicodeDecodeError:
            continue
        return None if _BINARY.search(text) else text
    return None


def _protect_text(text: str, privacy: Privacy) -> tuple[str, dict[str, int]]:
    whole = open_json(text.removeprefix("\ufeff"))
    if whole is not None:
        kept, counts = _protect_value(whole, privacy)
        return (text if kept == whole else _write(kept)), counts
    lines = text.split("\n")
    values = [open_json(line) for line in lines]
    if not any(value is not None for value in values):
        return _protect_raw(text, privacy)
    raw = "\n".join(line for line, value in zip(lines, values, strict=True) if value is None)
    kept_raw, raw_counts = _protect_raw(raw, privacy)
    others = iter(kept_raw.split("\n"))
    kept, counts = _protect_value([value for value in values if value is not None], privacy)
    objects = iter(zip(kept, (value for value in values if value is not None), strict=True))
    new_lines = []
    for line, value in zip(lines, values, strict=True):
        if value is None:
            new_lines.append(next(others, ""))
        else:
            new, old = next(objects)
            new_lines.append(line if new == old else _write(new))
    return "\n".join(new_lines), {**raw_counts, **counts}


def _protect_value(value: Any, privacy: Privacy) -> tuple[Any, dict[str, int]]:  # noqa: ANN401 - JSON
    ring, others = privacy.user_keys.read(), privacy.user_id_names
    known = {one for one in collect_users(value, others=others) if not ring.is_pseudonym(one)}
    hidden = hide_users(value, ring, others=others, known=known, is_body=True)
    if privacy.redaction is None:
        return hidden, {}
    kept = redact_value(hidden, privacy.redaction)
    return kept.value, kept.counts


def _protect_raw(text: str, privacy: Privacy) -> tuple[str, dict[str, int]]:
    """A text that is no JSON, or damaged JSON: users are known by the names before them."""
    ring = privacy.user_keys.read()
    named = {
        found[2].strip()
        for found in _NAMED_TEXT.finditer(text)
        if names_user(found[1], others=privacy.user_id_names)
    }
    hidden = text
    for user_id in named:
        if user_id and not ring.is_pseudonym(user_id):
            quoted = re.compile(rf'(?<=")(\s*){re.escape(user_id)}(\s*)(?=\\{{0,3}}")')
            hidden = quoted.sub(ring.hide(user_id), hidden)
            hidden = hide_known(hidden, ring, known={user_id})
    if privacy.redaction is None:
        return hidden, {}
    kept = privacy.redaction.replace([hidden])
    return kept.value[0], kept.counts


def _protect_bytes(body: bytes, privacy: Privacy) -> tuple[bytes, dict[str, int]]:
    """An OTLP export with its texts as they may be kept; what no decoder reads of it is starred."""
    given: list[Any] = []
    counts: dict[str, int] = {}

    def note(name: str, text: str | int) -> str | int:
        given.append({name: text} if name else text)
        return text

    def star(raw: bytes) -> bytes:
        kept, starred = _star(raw, privacy)
        counts.update(add_counts(counts, starred))
        return kept

    map_texts(body, Texts(text=note, rest=lambda raw: raw))
    values, replaced = _protect_value(given, privacy)
    written = iter([next(iter(one.values())) if isinstance(one, dict) else one for one in values])
    kept = map_texts(body, Texts(text=lambda _name, _text: next(written), rest=star))
    return kept, add_counts(replaced, counts)


def _star(raw: bytes, privacy: Privacy) -> tuple[bytes, dict[str, int]]:
    """As many bytes as before: what is taken out of them is starred."""
    kept = _star_users(raw, privacy)
    redaction = privacy.redaction
    if redaction is None or not raw:
        return kept, {}
    if redaction.reads_texts_only:
        raise _UnreadableError
    text = kept.decode(errors="surrogateescape")
    counts: dict[str, int] = {}
    pieces, at = [], 0
    for start, end, kind in redaction.find_places(text):
        size = len(text[start:end].encode(errors="surrogateescape"))
        pieces += [text[at:start], "*" * size]
        counts[kind] = counts.get(kind, 0) + 1
        at = end
    return "".join([*pieces, text[at:]]).encode(errors="surrogateescape"), counts


def _star_users(body: bytes, privacy: Privacy) -> bytes:
    """The bytes with users' ids starred, in attributes and in JSON inside of them."""
    spans = [*_find_named_attributes(body, privacy), *_find_named_texts(body, privacy)]
    kept = bytearray(body)
    for start, end in spans:
        kept[start:end] = _FILLER * (end - start)
    starred = bytes(kept)
    for user_id in {body[start:end] for start, end in spans}:
        if is_unmistakable(user_id.decode(errors="replace")):
            starred = starred.replace(user_id, _FILLER * len(user_id))
    return starred


def _find_named_attributes(body: bytes, privacy: Privacy) -> Iterator[tuple[int, int]]:
    for found in _KEY_NAME.finditer(body):
        size = found[1][0]
        name, end = found[2][:size], found.start(2) + size
        if len(name) == size and names_user(name.decode(), others=privacy.user_id_names):
            span = _find_string(body, end)
            if span is not None:
                yield span


def _find_named_texts(body: bytes, privacy: Privacy) -> Iterator[tuple[int, int]]:
    text = body.decode("latin-1")
    for found in _NAMED_TEXT.finditer(text):
        if names_user(found[1], others=privacy.user_id_names):
            yield found.span(2)


def _find_string(body: bytes, at: int) -> tuple[int, int] | None:
    """Where the text of the value lies that follows an attribute's key."""
    if body[at : at + 1] != _VALUE_FIELD:
        return None
    _, at = _read_size(body, at + 1)
    if body[at : at + 1] != _STRING_FIELD:
        return None
    size, at = _read_size(body, at + 1)
    return (at, at + size) if at + size <= len(body) else (at, len(body))


def _read_size(body: bytes, at: int) -> tuple[int, int]:
    size = shift = 0
    while at < len(body):
        byte = body[at]
        at += 1
        size |= (byte & (_VARINT_CONTINUES - 1)) << shift
        shift += 7
        if byte < _VARINT_CONTINUES:
            break
    return size, at


def _write(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
