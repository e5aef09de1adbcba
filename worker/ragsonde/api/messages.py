"""Cuts a file into messages: JSON lines, a JSON array, one message of any format, or promptfoo's tests."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import NamedTuple

from ragsonde.api.promptfoo import is_promptfoo, read_tests
from ragsonde.decoding.array_items import find_items
from ragsonde_schemas.errors import InputError

STDIN = "-"
_LINE_SUFFIXES = {".jsonl", ".ndjson"}
_EMPTY_LIST = re.compile(r"\s*\[\s*\]\s*")
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_CONTROL_BYTES = frozenset(range(0x20)) - frozenset(b"\t\n\r")


class Message(NamedTuple):
    """The bytes of one message.

    Attributes:
        place: where it stands, for people: `traces.jsonl:12`, `item 3`.
    """

    place: str
    body: bytes


def read_messages(path: str | Path) -> list[Message]:
    """The messages of a file, or of standard input for `-`; of a YAML file, promptfoo's tests.

    Raises:
        InputError: the file cannot be read, or there is nothing in it.
    """
    is_stdin = str(path) == STDIN
    if not is_stdin and is_promptfoo(path):
        return [Message(test.place, test.body) for test in read_tests(path)]
    if is_stdin and sys.stdin is None:
        raise InputError("standard input: is closed; expected traces there, or a file in place of -")
    try:
        body = sys.stdin.buffer.read() if is_stdin else Path(path).read_bytes()
    except OSError as error:
        raise InputError(
            f"{path}: cannot be read ({error.strerror}); expected a file of traces, or - for standard input"
        ) from error
    name = "standard input" if is_stdin else str(path)
    return split_messages(body, name=name, is_lines=Path(path).suffix.lower() in _LINE_SUFFIXES)


def split_messages(body: bytes, *, name: str, is_lines: bool = False) -> list[Message]:
    """The messages in a file's bytes; none of them is decoded yet, so each may turn out to be no message.

    One JSON value that fills the file is one message, or one for each item of an array; else JSON text of
    which any line is whole JSON is JSON lines. The rest is one message: its decoder tells what is wrong.

    Args:
        body: all of the file.
        name: of the file, for the places.
        is_lines: the name says that it holds JSON lines.

    Raises:
        InputError: there is nothing in it.
    """
    body = body.removeprefix(_BYTE_ORDER_MARK)
    if not body.strip():
        raise InputError(f"{name}: is empty; expected traces, one JSON object a line")
    text = _read_json_text(body)
    items = _split_array(text, name=name) if text else None
    if items:
        return items
    if text and _EMPTY_LIST.fullmatch(text):
        raise InputError(f"{name}: holds an empty list; expected traces in it")
    lines = [
        Message(f"{name}:{number}", line) for number, line in enumerate(body.split(b"\n"), 1) if line.strip()
    ]
    if is_lines:
        return lines
    if text and not _is_json(text) and len(lines) > 1 and any(_is_json(line) for line in text.split("\n")):
        return lines
    return [Message(name, body)]


def _split_array(text: str, *, name: str) -> list[Message] | None:
    """The items of a JSON array with the lines they begin in; None where the text is none or empty."""
    items: list[Message] = []
    line, counted = 1, 0
    for begin, end in find_items(text) or ():
        line, counted = line + text.count("\n", counted, begin), begin
        items.append(Message(f"{name}:{line} (item {len(items) + 1})", text[begin:end].encode()))
    return items or None


def _read_json_text(body: bytes) -> str | None:
    """The body as text where it can be JSON; None for protobuf, which may begin with a line end too."""
    if body.lstrip()[:1] not in {b"{", b"["} or not _CONTROL_BYTES.isdisjoint(body):
        return None
    try:
        return body.decode()
    except UnicodeDecodeError:
        return None


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True
