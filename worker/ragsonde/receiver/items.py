"""Cuts a posted body into messages, one for each trace item, so that a bad one holds up no other."""

from __future__ import annotations

from typing import NamedTuple

from ragsonde.decoding.array_items import find_items
from ragsonde.decoding.json_text import BYTE_ORDER_MARK
from ragsonde.decoding.sniffing import BodyKind, find_body_kind
from ragsonde_schemas.errors import DecodeError, ParkReason

ITEMS_AT_MOST = 10_000
WHOLE = "body"


class Item(NamedTuple):
    """One message to be.

    Attributes:
        place: where it stands in the body: `body`, `item 3`, `line 7`; both count from 1.
    """

    place: str
    body: bytes


def split_items(body: bytes, *, content_type: str) -> list[Item]:
    """The items of a JSON array or of JSON lines; else the body is the one item.

    None of them has been decoded. A broken array stays whole: its decoder tells where it breaks.

    Args:
        body: without compression, not blank.
        content_type: in lower case, without parameters.

    Raises:
        DecodeError: OVERSIZE, with more than 10,000 items.
    """
    kind = find_body_kind(body, content_type=content_type)
    if kind is BodyKind.JSON_LINES:
        lines = body.removeprefix(BYTE_ORDER_MARK).split(b"\n")
        items = [Item(f"line {number}", line) for number, line in enumerate(lines, 1) if line.strip()]
    elif kind is BodyKind.JSON:
        items = _split_array(body)
    else:
        items = [Item(WHOLE, body)]
    if len(items) > ITEMS_AT_MOST:
        message = f"found {len(items)} items, expected at most {ITEMS_AT_MOST}; post fewer at once"
        raise DecodeError(ParkReason.OVERSIZE, message)
    return items


def _split_array(body: bytes) -> list[Item]:
    whole = [Item(WHOLE, body)]
    if body.removeprefix(BYTE_ORDER_MARK).lstrip()[:1] != b"[":
        return whole
    try:
        text = body.decode("utf-8-sig")
    except UnicodeDecodeError:
        return whole
    places = find_items(text)
    if places is None:
        return whole
    return [Item(f"item {number}", text[begin:end].encode()) for number, (begin, end) in enumerate(places, 1)]
