"""Message bodies that nobody should send: seeded damage to every sample, and bytes of no origin at all."""

from __future__ import annotations

import bz2
import gzip
import json
import re
import zlib
from copy import deepcopy
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import zstandard

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Iterator

DATA = Path(__file__).parents[1] / "data"
SAMPLES = [
    path.read_bytes()
    for path in sorted((DATA / "samples").iterdir())
    if path.name != "MANIFEST.json" and not path.name.endswith(".expected.json")
]
DEMO = (DATA / "demo.jsonl").read_bytes().splitlines()[:20]
BODIES = (*SAMPLES, *DEMO)
JSON_BODIES = tuple(body for body in BODIES if body.lstrip()[:1] in b"{[")
COMPRESSORS = {
    "gzip": gzip.compress,
    "zstd": zstandard.compress,
    "deflate": zlib.compress,
    "bzip2": bz2.compress,
}

ODD_VALUES: tuple[Any, ...] = (
    None,
    True,
    -1,
    0,
    2**31,
    2**63,
    10**400,
    1e308,
    -0.0,
    "",
    " ",
    "\0",
    "\ud800",
    "\u202e\u200b\ufeff",
    "0x10",
    "1e999",
    "NaN",
    "9999-12-31T23:59:59.999999999Z",
    "0000-00-00T00:00:00Z",
    "x" * 20_000,
    "a.b." * 500,
    "A. " * 3000,
    "\\" * 500,
    '{"content": "cut',
    "[" * 200,
    [],
    {},
    [[]],
    [None] * 50,
    {"": {"": {"": None}}},
    {"content": {"content": {"content": 1}}},
    [{"role": "user"}] * 20,
    ["\0"] * 20,
)
WORDS = (
    "null",
    "true",
    "-",
    "1e400",
    "NaN",
    '"',
    "\\u",
    "\\ud800",
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\x00",
    "\xff",
)
_ID = re.compile(rb'"(?:traceId|trace_id|traceID)"\s*:\s*"([0-9A-Za-z_-]{6,})"')


class Fuzzed(NamedTuple):
    """A body and what its producer says of it.

    Attributes:
        body: unlike every other one.
        damage: what was done.
        properties: AMQP properties and headers, hostile ones among them.
    """

    body: bytes
    damage: str
    properties: dict[str, Any]


def make_fuzzed(count: int, *, order: random.Random) -> list[Fuzzed]:
    """So many bodies, no two of them equal, every damage in turn."""
    made: list[Fuzzed] = []
    known: set[bytes] = set()
    for damage in cycle(DAMAGES):
        if len(made) == count:
            return made
        body = damage(order)
        if body not in known:
            known.add(body)
            made.append(Fuzzed(body, damage.__name__, _choose_properties(order)))
    raise AssertionError


def rename_trace(body: bytes, order: random.Random) -> bytes:
    """The body under a trace id of its own, of the same length, where it writes one in JSON."""
    found = _ID.search(body)
    if found is None:
        return body
    old = found[1]
    return body.replace(old, bytes(order.choice(b"0123456789abcdef") for _ in old))


def flip_bytes(order: random.Random) -> bytes:
    body = bytearray(_choose(order))
    for _ in range(order.choice((1, 1, 2, 5, 40))):
        body[order.randrange(len(body))] = order.randrange(256)
    return bytes(body)


def cut(order: random.Random) -> bytes:
    body = _choose(order)
    return body[: order.randrange(len(body))]


def remove_part(order: random.Random) -> bytes:
    body = _choose(order)
    begin, end = sorted(order.randrange(len(body)) for _ in range(2))
    return body[:begin] + body[end:]


def double_part(order: random.Random) -> bytes:
    body = _choose(order)
    begin, end = sorted(order.randrange(len(body)) for _ in range(2))
    return body[:end] + body[begin:]


def join_two(order: random.Random) -> bytes:
    one, other = _choose(order), _choose(order)
    return one[: order.randrange(len(one))] + other[order.randrange(len(other)) :]


def list_several(order: random.Random) -> bytes:
    several = [rename_trace(order.choice(JSON_BODIES), order) for _ in range(order.randrange(2, 4))]
    if order.random() < 0.5:
        several[0] = several[0][: order.randrange(1, len(several[0]))]
    between = order.choice((b"\n", b",", b"\r\n\r\n", b" "))
    body = between.join(b" ".join(one.split(b"\n")) for one in several)
    return b"[" + body + b"]" if between == b"," else body


def change_types(order: random.Random) -> bytes:
    value = json.loads(rename_trace(order.choice(JSON_BODIES), order))
    places = list(_list_places(value))
    for place in order.sample(places, min(len(places), order.choice((1, 2, 3, 10)))):
        _change(value, place, order)
    return json.dumps(value, ensure_ascii=order.random() < 0.5).encode("utf-8", "surrogatepass")


def nest_deeply(order: random.Random) -> bytes:
    value = json.loads(rename_trace(order.choice(JSON_BODIES), order))
    place = order.choice(list(_list_places(value)))
    marked = deepcopy(value)
    _put(marked, place, "@deep@")
    levels = order.choice((20, 60, 64, 65, 200, 3000))
    opening, closing = order.choice((("[", "]"), ('{"a":', "}"), ('{"content":[', "]}"), ("[", "")))
    deep = opening * levels + "1" + closing * levels
    return json.dumps(marked).replace('"@deep@"', deep).encode()


def insert_words(order: random.Random) -> bytes:
    body = _choose(order)
    for _ in range(order.choice((1, 2, 8))):
        at = order.randrange(len(body))
        body = body[:at] + order.choice(WORDS).encode("latin-1") + body[at:]
    return body


def write_long_numbers(order: random.Random) -> bytes:
    digits = str(order.randrange(1, 10)) * order.choice((20, 400, 5000))
    number = order.choice((digits, "-" + digits, digits + ".5", "1e" + digits[:6], "0." + digits))
    body = rename_trace(order.choice(JSON_BODIES), order)
    numbers = list(re.finditer(rb"(?<=[:\[,])\s*\d+(?=[,}\]\s])", body)) or list(
        re.finditer(rb'"[^"]*"', body)
    )
    found = order.choice(numbers)
    return body[: found.start()] + number.encode() + body[found.end() :]


def compress(order: random.Random) -> bytes:
    packed = order.choice(list(COMPRESSORS.values()))(_choose(order))
    if order.random() < 0.3:
        return packed
    damaged = bytearray(packed)
    damaged[order.randrange(len(damaged))] ^= 1 << order.randrange(8)
    return bytes(damaged[: order.randrange(len(damaged) // 2, len(damaged) + 1)])


def write_random_bytes(order: random.Random) -> bytes:
    start = order.choice(
        (b"", b"\x0a", b"{", b"[", b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"\xef\xbb\xbf", b"\x80\x04")
    )
    return start + order.randbytes(order.choice((1, 10, 300, 5000)))


def spoil_utf8(order: random.Random) -> bytes:
    body = order.choice(JSON_BODIES)
    at = order.randrange(len(body))
    bad = order.choice((b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xf5\x80\x80\x80", b"\xc0\xaf", b"\x00"))
    return body[:at] + bad + body[at:]


def repeat_keys(order: random.Random) -> bytes:
    body = rename_trace(order.choice(JSON_BODIES), order)
    keys = list(re.finditer(rb'"(\w+)"\s*:', body))
    one, other = order.choice(keys), order.choice(keys)
    return body[: one.start(1)] + other[1] + body[one.end(1) :]


DAMAGES: tuple[Callable[[random.Random], bytes], ...] = (
    flip_bytes,
    cut,
    remove_part,
    double_part,
    join_two,
    list_several,
    change_types,
    change_types,
    nest_deeply,
    insert_words,
    write_long_numbers,
    compress,
    write_random_bytes,
    spoil_utf8,
    repeat_keys,
)


def _choose(order: random.Random) -> bytes:
    return rename_trace(order.choice(BODIES), order)


def _list_places(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:  # noqa: ANN401 - JSON
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield (*place, key)
        yield from _list_places(item, (*place, key))


def _change(value: Any, place: tuple[Any, ...], order: random.Random) -> None:  # noqa: ANN401 - JSON
    """Another value at a place that an earlier change has left there."""
    try:
        _put(value, place, deepcopy(order.choice(ODD_VALUES)))
    except (KeyError, IndexError, TypeError):
        return


def _put(value: Any, place: tuple[Any, ...], new: Any) -> None:  # noqa: ANN401 - JSON
    for key in place[:-1]:
        value = value[key]
    value[place[-1]] = new


def _choose_properties(order: random.Random) -> dict[str, Any]:
    content_type = order.choice(
        (None, None, "application/json", "text/plain; charset=utf-16", "x" * 200, "\u00e9/\0")
    )
    if order.random() < 0.05:
        content_type = "application/x-protobuf"
    headers = order.choice(
        (
            {},
            {"task": "celery.map", "id": "1", "eta": "2100-01-01T00:00:00"},
            {"task": "ragsonde.evaluate", "id": "x", "retries": -1, "timelimit": ["a", None]},
            {"compression": "gzip"},
            {"compression": "x" * 300},
            {"traceparent": {"a": [1, None, True]}, "x-death": "no list", "x-delivery-count": -(2**40)},
            {"callbacks": [{"task": "celery.map"}], "chord": {}, "group": 5, "": ""},
            {"x-delivery-count": "\0", "redelivered": True, "origin": "\ud7ff"},
        )
    )
    properties: dict[str, Any] = {"application_headers": headers}
    if content_type is not None:
        properties["content_type"] = content_type
    if order.random() < 0.3:
        properties["content_encoding"] = order.choice(
            ("gzip", "deflate", "zstd", "br", "utf-8", "binary", "\0")
        )
    if order.random() < 0.3:
        properties["message_id"] = order.choice(("same", "\0", "x" * 255, ""))
    if order.random() < 0.2:
        properties["reply_to"], properties["correlation_id"] = "nowhere", "1"
    if order.random() < 0.2:
        properties["priority"] = order.randrange(256)
    return properties
