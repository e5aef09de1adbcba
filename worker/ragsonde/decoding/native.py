"""The native message, version 1, from its JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from ragsonde.decoding.foreign_documents import check_count
from ragsonde.decoding.problems import EXPECTED_TIME, list_problems
from ragsonde.decoding.wording import describe_value
from ragsonde.extraction.paths import format_path
from ragsonde.extraction.texts import describe_mending
from ragsonde.extraction.unknown_keys import warn_of_unknown_keys
from ragsonde_schemas.decoded import Decoded, DecodedMessage
from ragsonde_schemas.errors import DecodeError, ParkReason
from ragsonde_schemas.message import TRACE_ID_MAX_CHARACTERS, TraceMessage, WireModel

if TYPE_CHECKING:
    from ragsonde.decoding.json_text import JsonDocument
    from ragsonde.decoding.limits import DecodingLimits

FORMAT = "native"
_OWN_KEYS = frozenset({"schema_version", "trace_id", "query", "retrieval_query", "contexts"})
_LISTS = (
    ("contexts",),
    ("messages",),
    ("tags",),
    ("reference", "contexts"),
    ("reference", "context_ids"),
    ("evaluation", "scorers"),
)
_VERSION = "1"
_PROBLEMS_AT_MOST = 5


def is_native(value: object) -> bool:
    """True for an object with a key that only a native message has in this place."""
    return isinstance(value, dict) and not _OWN_KEYS.isdisjoint(value)


def decode_native(document: JsonDocument, limits: DecodingLimits) -> Decoded:
    """One native message.

    A time without zone is UTC, with a warning; a number is no time, for nobody says whether it counts seconds
    or milliseconds. A `rank` inside a context is ignored with a warning: the order is the rank.

    Raises:
        DecodeError: UNSUPPORTED_SCHEMA_VERSION, BAD_TRACE_ID, OVER_LIMIT, or INVALID_MESSAGE that names path,
            found and expected of up to five problems.
    """
    fields = document.value
    if not isinstance(fields, dict):
        raise DecodeError(
            ParkReason.INVALID_MESSAGE,
            f"found {describe_value(fields)}, expected one JSON object with the fields of a trace message",
        )
    fields = dict(fields)
    _check_version(fields)
    _check_trace_id(fields, mended=document.mended)
    _check_counts(fields, limits=limits)
    ranks = _drop_ranks(fields)
    message = _validate(fields)
    warnings = [*describe_mending(document.mended), *ranks]
    if message.occurred_at is not None and message.occurred_at.tzinfo is None:
        warnings.append("occurred_at: no time zone, read as UTC")
    warnings.extend(warn_of_unknown_keys(message))
    extra: dict[str, Any] = {}
    _gather_extra(message, (), extra)
    decoded = DecodedMessage(message=message, extra=extra, warnings=tuple(warnings))
    return Decoded(format=FORMAT, records=(decoded,))


def _check_version(fields: dict[str, Any]) -> None:
    version = fields.get("schema_version")
    if version is None:
        fields.pop("schema_version", None)
    elif version != _VERSION:
        found = ascii(version[:40]) if isinstance(version, str) else describe_value(version)
        message = f'found {found}, expected "{_VERSION}": this ragsonde reads no other version'
        raise DecodeError(ParkReason.UNSUPPORTED_SCHEMA_VERSION, message, where="schema_version")


def _check_trace_id(fields: dict[str, Any], *, mended: tuple[str, ...]) -> None:
    trace_id = fields.get("trace_id")
    if not isinstance(trace_id, str):
        found = describe_value(trace_id) if "trace_id" in fields else "nothing"
    elif not 0 < len(trace_id) <= TRACE_ID_MAX_CHARACTERS:
        found = describe_value(trace_id)
    elif not trace_id.isprintable() or "trace_id" in mended:
        found = "a character that cannot be printed"
    elif not trace_id.strip():
        found = "blanks only"
    else:
        return
    message = f"found {found}, expected 1 to {TRACE_ID_MAX_CHARACTERS} printable characters"
    raise DecodeError(ParkReason.BAD_TRACE_ID, message, where="trace_id")


def _check_counts(fields: dict[str, Any], *, limits: DecodingLimits) -> None:
    for place in _LISTS:
        value: object = fields
        for key in place:
            value = value.get(key) if isinstance(value, dict) else None
        limit = limits.contexts if place == ("contexts",) else limits.list_items
        check_count(value, *place, limit=limit)


def _drop_ranks(fields: dict[str, Any]) -> list[str]:
    """Takes `rank` out of the contexts; the warning, if there was one."""
    contexts = fields.get("contexts")
    if not isinstance(contexts, list):
        return []
    places = [rank for rank, item in enumerate(contexts) if isinstance(item, dict) and "rank" in item]
    if not places:
        return []
    fields["contexts"] = [
        {key: value for key, value in item.items() if key != "rank"} if isinstance(item, dict) else item
        for item in contexts
    ]
    others = f" (and {len(places) - 1} more)" if len(places) > 1 else ""
    return [f"contexts[{places[0]}].rank{others}: ignored, the order of the list is the rank"]


def _validate(fields: dict[str, Any]) -> TraceMessage:
    problems: list[tuple[str, str]] = []
    occurred_at = fields.get("occurred_at")
    if occurred_at is not None and (not isinstance(occurred_at, str) or _is_number(occurred_at)):
        problems.append(("occurred_at", f"found {describe_value(occurred_at)}, expected {EXPECTED_TIME}"))
        fields["occurred_at"] = None
    try:
        message = TraceMessage.model_validate(fields)
    except ValidationError as error:
        problems.extend(list_problems(error, fields))
    else:
        if not problems:
            return message
    (where, first), *rest = problems[:_PROBLEMS_AT_MOST]
    text = "; ".join([first, *(f"{path}: {problem}" for path, problem in rest)])
    more = f"; and {len(problems) - _PROBLEMS_AT_MOST} more" if len(problems) > _PROBLEMS_AT_MOST else ""
    raise DecodeError(ParkReason.INVALID_MESSAGE, text + more, where=where)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _gather_extra(value: object, place: tuple[str | int, ...], extra: dict[str, Any]) -> None:
    """Puts the unknown keys of a message and of the objects in it under their paths."""
    if isinstance(value, WireModel):
        for key, item in (value.model_extra or {}).items():
            extra[format_path(*place, key)] = item
        for key in type(value).model_fields:
            _gather_extra(getattr(value, key), (*place, key), extra)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            _gather_extra(item, (*place, index), extra)
