"""LangSmith's runs: a tree with its children inside, a list of flat runs, or a batch that a client posts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ragsonde.decoding.foreign_documents import NATIVE_KEYS, Piece, check_count, gather_documents
from ragsonde_schemas.errors import DecodeError, ParkReason

if TYPE_CHECKING:
    from ragsonde.decoding.json_text import JsonDocument, Place
    from ragsonde.decoding.limits import DecodingLimits
    from ragsonde_schemas.decoded import Decoded

FORMAT = "langsmith_run"
_BATCH_KEYS = ("post", "patch")
_RUN_KEYS = frozenset({"run_type", "trace_id", "dotted_order", "parent_run_id"})
_CONTENT_KEYS = frozenset({"inputs", "outputs", "child_runs", "start_time"})
_EMPTY: tuple[object, ...] = (None, {}, [])


class _Run(NamedTuple):
    """A flat run, its posts and patches merged, and their places."""

    fields: dict[str, Any]
    places: list[Place]


def is_langsmith_run(value: object) -> bool:
    """True for a run, a list of runs, or an object with runs under `post` or `patch`."""
    if isinstance(value, list):
        return bool(value) and all(_is_run(item) for item in value)
    return _is_run(value) or _is_batch(value)


def decode_langsmith_run(document: JsonDocument, limits: DecodingLimits) -> Decoded:
    """One record a trace.

    A tree stays as it came. Flat runs become their root's object with all runs below it, flat, in
    `child_runs`; of a run that was posted and patched, the patch's values hold where it has any.

    Raises:
        DecodeError: OVER_LIMIT where there are more runs than a message may hold spans.
    """
    value = document.value
    if _is_run(value):
        _check_tree(value, limit=limits.spans)
        return gather_documents(FORMAT, [Piece(value)], document=document)
    items: list[tuple[Place, dict[str, Any]]] = []
    lists = [((), value)] if isinstance(value, list) else [((key,), value.get(key)) for key in _BATCH_KEYS]
    for above, runs in lists:
        check_count(runs, *above, limit=limits.spans)
        items.extend(((*above, index), run) for index, run in enumerate(runs or ()))
    runs_by_id = _merge(items)
    pieces = [_build_tree(group) for group in _group_by_trace(runs_by_id)]
    for piece in pieces:
        _check_tree(piece.document, limit=limits.spans)
    return gather_documents(FORMAT, pieces, document=document)


def _is_run(value: object) -> bool:
    return (
        isinstance(value, dict)
        and isinstance(value.get("run_type"), str)
        and not _CONTENT_KEYS.isdisjoint(value)
        and ("id" in value or "name" in value)
        and NATIVE_KEYS.isdisjoint(value)
    )


def _is_batch(value: object) -> bool:
    if not isinstance(value, dict):
        return False
    lists = [value[key] for key in _BATCH_KEYS if value.get(key) not in _EMPTY]
    return bool(lists) and all(
        isinstance(runs, list)
        and all(isinstance(run, dict) and "id" in run and not _RUN_KEYS.isdisjoint(run) for run in runs)
        for runs in lists
    )


def _merge(items: list[tuple[Place, dict[str, Any]]]) -> dict[object, _Run]:
    """Each run once, in the order they came first. A run whose id is no text stands for itself."""
    merged: dict[object, _Run] = {}
    for place, run in items:
        name = run.get("id")
        key: object = name if isinstance(name, str) else place
        known = merged.get(key)
        if known is None:
            merged[key] = _Run(dict(run), [place])
        else:
            known.fields.update({field: value for field, value in run.items() if value not in _EMPTY})
            known.places.append(place)
    return merged


def _group_by_trace(runs: dict[object, _Run]) -> list[list[_Run]]:
    groups: dict[object, list[_Run]] = {}
    traces: dict[object, object] = {}
    for key, run in runs.items():
        groups.setdefault(_find_trace(key, runs, traces), []).append(run)
    return list(groups.values())


def _find_trace(key: object, runs: dict[object, _Run], traces: dict[object, object]) -> object:
    """The trace's id as the run says it, else the nearest run above that does, else the topmost one's key.

    Runs that are each other's parents are one trace.

    Args:
        key: of a run.
        runs: by their keys.
        traces: what was found so far, by the runs' keys; what is found now is added, for all runs on the way.
    """
    way: dict[object, None] = {}
    while key not in way and key not in traces:
        way[key] = None
        fields = runs[key].fields
        trace_id = fields.get("trace_id")
        if isinstance(trace_id, str):
            traces[key] = trace_id
            break
        parent_id = fields.get("parent_run_id")
        if not isinstance(parent_id, str) or parent_id not in runs:
            break
        key = parent_id
    trace = traces.get(key, key)
    traces.update(dict.fromkeys(way, trace))
    return trace


def _build_tree(runs: list[_Run]) -> Piece:
    """The root with the others below it; where none says it is, the first in dotted order stands in."""
    root = next((run for run in runs if run.fields.get("parent_run_id") is None), None)
    root = root or min(runs, key=_read_order)
    below = [run.fields for run in runs if run is not root]
    own = root.fields.get("child_runs")
    children = [*(own if isinstance(own, list) else ()), *below]
    places = tuple(place for run in runs for place in run.places)
    return Piece({**root.fields, "child_runs": children} if children else root.fields, places)


def _read_order(run: _Run) -> str:
    order = run.fields.get("dotted_order")
    return order if isinstance(order, str) else "\N{REPLACEMENT CHARACTER}"


def _check_tree(root: dict[str, Any], *, limit: int) -> None:
    """Refuses a tree of more than `limit` runs."""
    count = 0
    waiting: list[object] = [root]
    while waiting:
        run = waiting.pop()
        children = run.get("child_runs") if isinstance(run, dict) else None
        if isinstance(children, list):
            waiting.extend(children)
            count += len(children)
            if count > limit:
                message = f"found {count} runs so far, expected at most {limit} below one root"
                raise DecodeError(ParkReason.OVER_LIMIT, message, where="child_runs")
