"""Cuts a file into messages: JSON lines, a JSON array, one message of any format, or promptfoo's tests."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ragsonde.api.promptfoo import is_promptfoo, read_tests
from ragsonde.decoding.members import cut_array, cut_lines
from ragsonde.decoding.table import DEFAULT_FORMATS
from ragsonde_schemas.errors import InputError

if TYPE_CHECKING:
    from ragsonde.decoding.formats import Formats
    from ragsonde.decoding.members import Cut

STDIN = "-"
_LINE_SUFFIXES = {".jsonl", ".ndjson"}
_EMPTY_LIST = re.compile(r"\s*\[\s*\]\s*")
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_CONTROL_BYTES = frozenset(range(0x20)) - frozenset(b"\t\n\r")


class Message(NamedTuple):
    """The bytes of one message.

    Attributes:
        place: where it stands, for people: `traces.jsonl:12`, `item 3`; of several lines or items that are
            one trace, the first, and how many more there are.
    """

    place: str
    body: bytes


def read_messages(path: str | Path, *, formats: Formats = DEFAULT_FORMATS) -> list[Message]:
    """The messages of a file, or of standard input for `-`; of a YAML file, promptfoo's tests.

    Args:
        path: of the file.
        formats: that the messages are read in.

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
    is_lines = Path(path).suffix.lower() in _LINE_SUFFIXES
    return split_messages(body, name=name, is_lines=is_lines, formats=formats)


def split_messages(
    body: bytes, *, name: str, is_lines: bool = False, formats: Formats = DEFAULT_FORMATS
) -> list[Message]:
    """The messages in a file's bytes; none of them is decoded yet, so each may turn out to be no message.

    One JSON value that fills the file is one message, or one for each item of an array; else JSON text of
    which any line is whole JSON is JSON lines. Items or lines that are parts of one trace, such as flat runs,
    stay together. The rest is one message: its decoder tells what is wrong.

    Args:
        body: all of the file.
        name: of the file, for the places.
        is_lines: the name says that it holds JSON lines.
        formats: that the messages are read in.

    Raises:
        InputError: there is nothing in it.
    """
    body = body.removeprefix(_BYTE_ORDER_MARK)
    if not body.strip():
        raise InputError(f"{name}: is empty; expected traces, one JSON object a line")
    text = _read_json_text(body)
    items = _split_array(text, name=name, formats=formats) if text else None
    if items:
        return items
    if text and _EMPTY_LIST.fullmatch(text):
        raise InputError(f"{name}: holds an empty list; expected traces in it")
    lines = [(number, line) for number, line in enumerate(body.split(b"\n"), 1) if line.strip()]
    has_lines = text and not _is_json(text) and len(lines) > 1 and any(map(_is_json, text.split("\n")))
    if not is_lines and not has_lines:
        return [Message(name, body)]
    return [
        Message(
            f"{name}:{lines[cut.members[0]][0]}{_describe_more(cut, ' (and {} more of its trace)')}", cut.body
        )
        for cut in cut_lines([line for _, line in lines], formats=formats)
    ]


def _split_array(text: str, *, name: str, formats: Formats) -> list[Message] | None:
    """The items of a JSON array with the lines they begin in; None where the text is none or empty."""
    items: list[Message] = []
    line, counted = 1, 0
    for cut in cut_array(text, formats=formats) or ():
        line, counted = line + text.count("\n", counted, cut.start), cut.start
        number = cut.members[0] + 1
        place = f"{name}:{line} (item {number}{_describe_more(cut, ' and {} more of its trace')})"
        items.append(Message(place, cut.body))
    return items or None


def _describe_more(cut: Cut, words: str) -> str:
    more = len(cut.members) - 1
    return words.format(more) if more else ""


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
