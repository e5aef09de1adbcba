"""Cuts a posted body into messages, so that a bad one holds up no other."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ragsonde.decoding.json_text import BYTE_ORDER_MARK
from ragsonde.decoding.members import cut_array, cut_lines
from ragsonde.decoding.sniffing import BodyKind, find_body_kind
from ragsonde_schemas.errors import DecodeError, ParkReason

if TYPE_CHECKING:
    from ragsonde.decoding.members import Cut

ITEMS_AT_MOST = 10_000
WHOLE = "body"


class Item(NamedTuple):
    """One message to be.

    Attributes:
        place: where it stands in the body: `body`, `item 3`, `line 7`; both count from 1. Of several, the
            first is named: `item 3 and 4 more of its trace`.
    """

    place: str
    body: bytes


def split_items(body: bytes, *, content_type: str) -> list[Item]:
    """The items of a JSON array or of JSON lines; else the body is the one item.

    Items that are parts of one trace, such as flat runs, stay together. None of them has been decoded. A
    broken array stays whole: its decoder tells where it breaks.

    Args:
        body: without compression, not blank.
        content_type: in lower case, without parameters.

    Raises:
        DecodeError: OVERSIZE, with more than 10,000 items.
    """
    kind = find_body_kind(body, content_type=content_type)
    if kind is BodyKind.JSON_LINES:
        return _split_lines(body)
    items = _split_array(body) if kind is BodyKind.JSON else None
    return [Item(WHOLE, body)] if items is None else items


def _split_lines(body: bytes) -> list[Item]:
    lines = body.removeprefix(BYTE_ORDER_MARK).split(b"\n")
    numbered = [(number, line) for number, line in enumerate(lines, 1) if line.strip()]
    _check_count(len(numbered))
    return [
        Item(_describe("line", numbered[cut.members[0]][0], cut), cut.body)
        for cut in cut_lines([line for _, line in numbered])
    ]


def _split_array(body: bytes) -> list[Item] | None:
    """None where the body is one message."""
    if body.removeprefix(BYTE_ORDER_MARK).lstrip()[:1] != b"[":
        return None
    try:
        text = body.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None
    cuts = cut_array(text)
    if cuts is None:
        return None
    _check_count(sum(len(cut.members) for cut in cuts))
    return [Item(_describe("item", cut.members[0] + 1, cut), cut.body) for cut in cuts]


def _describe(kind: str, number: int, cut: Cut) -> str:
    more = len(cut.members) - 1
    return f"{kind} {number} and {more} more of its trace" if more else f"{kind} {number}"


def _check_count(count: int) -> None:
    if count > ITEMS_AT_MOST:
        message = f"found {count} items, expected at most {ITEMS_AT_MOST}; post fewer at once"
        raise DecodeError(ParkReason.OVERSIZE, message)
