"""Parts of traces that stand beside each other, and which of them are of one trace."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence


class Part(NamedTuple):
    """What a flat run, or an observation, says of the trace that it is a part of; None: nothing.

    Attributes:
        id: its own.
        trace_id: of the whole.
        parent_id: of the part above.
    """

    id: str | None = None
    trace_id: str | None = None
    parent_id: str | None = None


def group_parts(parts: Sequence[Part]) -> list[list[int]]:
    """The indices of the parts of each trace, in order.

    A part's trace is the one it names, else that of the nearest part above that names one, else the topmost
    part's. Parts of one id are one; parts that are each other's parents are one trace.
    """
    known: dict[object, Part] = {}
    keys: list[object] = []
    for number, part in enumerate(parts):
        key: object = number if part.id is None else part.id
        before = known.get(key, part)
        known[key] = Part(part.id, before.trace_id or part.trace_id, before.parent_id or part.parent_id)
        keys.append(key)
    traces: dict[object, object] = {}
    groups: dict[object, list[int]] = {}
    for number, key in enumerate(keys):
        groups.setdefault(_find_trace(key, known, traces), []).append(number)
    return list(groups.values())


def _find_trace(key: object, known: dict[object, Part], traces: dict[object, object]) -> object:
    """The key of a part's trace.

    Args:
        key: of the part.
        known: all parts by their keys.
        traces: what was found so far; what is found now is added, for all parts on the way.
    """
    way: dict[object, None] = {}
    while key not in way and key not in traces:
        way[key] = None
        part = known[key]
        if part.trace_id is not None:
            traces[key] = part.trace_id
            break
        if part.parent_id is None or part.parent_id not in known:
            break
        key = part.parent_id
    trace = traces.get(key, key)
    traces.update(dict.fromkeys(way, trace))
    return trace


def read_text(fields: dict[str, Any], key: str) -> str | None:
    """The text under `key`; None where there is none."""
    value = fields.get(key)
    return value if isinstance(value, str) else None
