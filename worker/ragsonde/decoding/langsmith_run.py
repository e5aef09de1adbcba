"""LangSmith's runs: a tree with its children inside, a list of flat runs, or a batch that a client posts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ragsonde.decoding.foreign_documents import (
    NATIVE_FIELDS,
    NATIVE_KEYS,
    Piece,
    check_count,
    gather_documents,
)
from ragsonde.decoding.json_fields import describe_wrong, read_each
from ragsonde.decoding.parts import Part, group_parts, read_text
from ragsonde.extraction.paths import format_path
from ragsonde_schemas.errors import DecodeError, ParkReason

if TYPE_CHECKING:
    from ragsonde.decoding.json_text import JsonDocument, Place
    from ragsonde.decoding.limits import DecodingLimits
    from ragsonde_schemas.decoded import Decoded

FORMAT = "langsmith_run"
_BATCH_KEYS = ("post", "patch")
_LINK_KEYS = frozenset({"trace_id", "dotted_order", "parent_run_id"})
_CONTENT_KEYS = frozenset({"inputs", "outputs", "child_runs", "start_time"})
_UPDATE_KEYS = _CONTENT_KEYS | {"run_type", "dotted_order", "end_time"}
_EMPTY: tuple[object, ...] = (None, {}, [])
_ONE_MESSAGE = "send the whole run tree, or the list of all its runs, in one message"


class _Run(NamedTuple):
    """A flat run, its posts and patches merged, and their places."""

    fields: dict[str, Any]
    places: list[Place]


def is_langsmith_run(value: object) -> bool:
    """True for a run, a patch of one, or an object with runs under `post` or `patch`."""
    return find_run(value) is not None or _is_batch(value)


def find_run(value: object) -> Part | None:
    """What a run, or a patch of one, says of its trace; None for any other value."""
    if not isinstance(value, dict) or not (_is_run(value) or _is_update(value)):
        return None
    return _read_links(value)


def decode_langsmith_run(document: JsonDocument, limits: DecodingLimits) -> Decoded:
    """One record a trace; of a list, its runs are read.

    A tree stays as it came. Flat runs become their root's object with all runs below it, flat, in
    `child_runs`; of a run that was posted and patched, the patch's values hold where it has any. What is no
    whole run, and runs without the root of their trace, are faults.

    Raises:
        DecodeError: OVER_LIMIT where there are more runs than a message may hold spans; the first fault,
            where there is no whole trace.
    """
    runs, faults = _list_runs(document.value, limits)
    pieces: list[Piece] = []
    for group in group_parts([_read_links(run) for _, run in runs]):
        merged = _merge([runs[index] for index in group])
        whole = [run for run in merged if _names_type(run)]
        faults += [_describe_patch(run) for run in merged if not _names_type(run)]
        if not whole:
            continue
        root = _find_root(whole)
        if root is None or _is_patch(root.fields):
            faults.append(_describe_rootless(whole) if root is None else _describe_patch(root))
            continue
        pieces.append(_build_tree(root, whole))
    for piece in pieces:
        _check_tree(piece.document, limit=limits.spans)
    return gather_documents(FORMAT, pieces, document=document, faults=faults)


def _is_run(value: dict[str, Any]) -> bool:
    return (
        isinstance(value.get("run_type"), str)
        and not _CONTENT_KEYS.isdisjoint(value)
        and ("id" in value or "name" in value)
        and NATIVE_KEYS.isdisjoint(value)
    )


def _is_update(value: dict[str, Any]) -> bool:
    """True for what looks like a run but does not say its type: a patch, or a run that lost it."""
    return (
        "id" in value
        and NATIVE_FIELDS.isdisjoint(value)
        and not _LINK_KEYS.isdisjoint(value)
        and not _UPDATE_KEYS.isdisjoint(value)
    )


def _is_batch(value: object) -> bool:
    """True where a list under `post` or `patch` holds a run."""
    if not isinstance(value, dict) or not NATIVE_KEYS.isdisjoint(value):
        return False
    lists = [value.get(key) for key in _BATCH_KEYS]
    return all(runs in _EMPTY or isinstance(runs, list) for runs in lists) and any(
        isinstance(run, dict) and "id" in run and not (_LINK_KEYS | _UPDATE_KEYS).isdisjoint(run)
        for runs in lists
        for run in runs or ()
    )


def _read_links(run: dict[str, Any]) -> Part:
    return Part(read_text(run, "id"), read_text(run, "trace_id"), read_text(run, "parent_run_id"))


def _list_runs(
    value: Any,  # noqa: ANN401 any JSON
    limits: DecodingLimits,
) -> tuple[list[tuple[Place, dict[str, Any]]], list[DecodeError]]:
    """The runs of a message with their places, and what in a batch is none."""
    if isinstance(value, list):
        check_count(value, limit=limits.spans)
        return [((index,), item) for index, item in enumerate(value) if find_run(item) is not None], []
    if find_run(value) is not None:
        return [((), value)], []
    for key in _BATCH_KEYS:
        check_count(value.get(key), key, limit=limits.spans)
    members = [((key, index), run) for key in _BATCH_KEYS for index, run in enumerate(value.get(key) or ())]
    return read_each(members, _read_member)


def _read_member(value: object, place: Place) -> tuple[Place, dict[str, Any]]:
    if not isinstance(value, dict) or "id" not in value:
        raise describe_wrong(value, place, "a run: an object with id, run_type and inputs or outputs")
    return place, value


def _merge(items: list[tuple[Place, dict[str, Any]]]) -> list[_Run]:
    """Each run once, in the order they came first. A run whose id is no text stands for itself."""
    merged: dict[object, _Run] = {}
    for place, run in items:
        key: object = read_text(run, "id") or place
        known = merged.get(key)
        if known is None:
            merged[key] = _Run(dict(run), [place])
        else:
            known.fields.update({field: value for field, value in run.items() if value not in _EMPTY})
            known.places.append(place)
    return list(merged.values())


def _names_type(run: _Run) -> bool:
    return isinstance(run.fields.get("run_type"), str)


def _find_root(runs: list[_Run]) -> _Run | None:
    """The run of a trace that is below none; None where that one is not among them.

    One that came alone with its children inside is its own root. Of runs that are each other's parents the
    first in dotted order stands in.
    """
    root = next((run for run in runs if run.fields.get("parent_run_id") is None), None)
    if root is not None:
        return root
    if len(runs) == 1 and _has_children(runs[0].fields):
        return runs[0]
    ids = {read_text(run.fields, "id") for run in runs}
    is_circle = all(read_text(run.fields, "parent_run_id") in ids for run in runs)
    return min(runs, key=_read_order) if is_circle else None


def _read_order(run: _Run) -> str:
    return read_text(run.fields, "dotted_order") or "\N{REPLACEMENT CHARACTER}"


def _has_children(run: dict[str, Any]) -> bool:
    children = run.get("child_runs")
    return isinstance(children, list) and bool(children)


def _is_patch(root: dict[str, Any]) -> bool:
    """True where a run says neither what went in nor when it started, as only its patch does."""
    return (
        root.get("inputs") is None
        and root.get("start_time") is None
        and not _has_children(root)
        and not _LINK_KEYS.isdisjoint(root)
    )


def _describe_patch(run: _Run) -> DecodeError:
    what = "a patch of a run" if _is_patch(run.fields) else "a run without run_type"
    message = f"found {what}, expected the run itself; send its post and patch in one message"
    return DecodeError(ParkReason.INVALID_MESSAGE, message, where=format_path(*run.places[0]))


def _describe_rootless(runs: list[_Run]) -> DecodeError:
    found = "one run" if len(runs) == 1 else f"{len(runs)} runs"
    message = f"found {found} of a trace without its root, the run that has no parent_run_id"
    where = format_path(*runs[0].places[0], "parent_run_id")
    return DecodeError(ParkReason.INVALID_MESSAGE, f"{message}; {_ONE_MESSAGE}", where=where)


def _build_tree(root: _Run, runs: list[_Run]) -> Piece:
    """The root with the others below it."""
    below = [run.fields for run in runs if run is not root]
    own = root.fields.get("child_runs")
    children = [*(own if isinstance(own, list) else ()), *below]
    places = tuple(place for run in runs for place in run.places)
    return Piece({**root.fields, "child_runs": children} if below else root.fields, places)


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
