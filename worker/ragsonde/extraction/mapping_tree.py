"""The tree that the user's paths are written against: what `ragsonde extract --tree` prints."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

from ragsonde.extraction.embedded_json import read_embedded
from ragsonde.extraction.nesting import NESTING_LEVELS
from ragsonde_schemas.decoded import DecodedMessage, ForeignDocument, WholeTrace

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ragsonde_schemas.decoded import Record
    from ragsonde_schemas.span import Span

_LEVELS_AT_MOST = 4 * NESTING_LEVELS

_INPUTS = (
    "input.value",
    "langfuse.trace.input",
    "langfuse.observation.input",
    "traceloop.entity.input",
    "gen_ai.input.messages",
    "ai.prompt",
    "mlflow.spanInputs",
    "ai.observability.record_root.input",
)
_OUTPUTS = (
    "output.value",
    "langfuse.trace.output",
    "langfuse.observation.output",
    "traceloop.entity.output",
    "gen_ai.output.messages",
    "ai.response.text",
    "ai.response.object",
    "mlflow.spanOutputs",
    "ai.observability.record_root.output",
)
_OWN_METADATA = ("metadata", "langfuse.observation.metadata")
_TRACE_METADATA = ("langfuse.trace.metadata", "ai.telemetry.metadata", "traceloop.association.properties")
"""Whole under the key itself, or by part under it: `langfuse.trace.metadata.user`."""

_DOCUMENT_PLACES = {
    "input": (("input",), ("inputs",), ("trace", "input"), ("messages",)),
    "output": (("output",), ("outputs",), ("trace", "output"), ("response",), ("answer",)),
    "metadata": (
        ("metadata",),
        ("extra", "metadata"),
        ("trace", "metadata"),
        ("info", "trace_metadata"),
    ),
}
"""Where tools put in their documents what the tree has at its top."""


class Tree(NamedTuple):
    """A record as plain values.

    Attributes:
        root: `input`, `output`, `metadata`, `attributes`, `spans`, and the own keys of a message or document.
        texts: of objects and lists in it that were strings holding JSON: the string, by `id()`.
    """

    root: dict[str, Any]
    texts: dict[int, str]

    def read_text(self, value: object) -> str | None:
        """The string that a value is or was; None where it never was one."""
        return value if isinstance(value, str) else self.texts.get(id(value))


def build_tree(record: Record) -> dict[str, Any]:
    """A record as a tree of plain values, JSON in strings parsed.

    Keys: `input` and `output` of the record's root, its `metadata`, the root's `attributes` (of a native
    message: its unknown keys), and `spans`, by start time, each `{span_id, parent_span_id, name, start_ns,
    end_ns, attributes, events, resource, scope}`. A native message and another tool's document have their own
    keys beside these.
    """
    return read_tree(record).root


def read_tree(record: Record) -> Tree:
    """The tree of a record, with the strings that its parsed parts were; values of its own, never shared."""
    opener = _Opener()
    if isinstance(record, WholeTrace):
        root = _describe_spans(record, opener)
    elif isinstance(record, DecodedMessage):
        root = _describe_message(record, opener)
    else:
        root = _describe_document(record, opener)
    return Tree(root, opener.texts)


class _Opener:
    """Copies values, and parses JSON in strings until there is none, down to a depth that is safe."""

    def __init__(self) -> None:
        self.texts: dict[int, str] = {}

    def open(self, value: object, level: int = 1) -> Any:  # noqa: ANN401 - JSON holds anything
        if isinstance(value, str):
            return self._open_text(value, level)
        if isinstance(value, float):
            return value if math.isfinite(value) else None
        if not isinstance(value, dict | list | tuple):
            return value
        if level > _LEVELS_AT_MOST:
            return None
        if isinstance(value, dict):
            return {str(key): self.open(item, level + 1) for key, item in value.items()}
        return [self.open(item, level + 1) for item in value]

    def _open_text(self, text: str, level: int) -> Any:  # noqa: ANN401 - JSON holds anything
        embedded = read_embedded(text) if level <= NESTING_LEVELS else None
        if embedded is None:
            return text
        opened = self.open(embedded, level)
        self.texts[id(opened)] = text
        return opened


def _describe_message(record: DecodedMessage, opener: _Opener) -> dict[str, Any]:
    own = opener.open(record.message.model_dump(mode="json", exclude_unset=True))
    asked = {key: own[key] for key in ("query", "messages") if own.get(key) is not None}
    return {
        "input": asked or None,
        "output": own.get("answer"),
        "metadata": {},
        "attributes": opener.open(record.extra),
        "spans": [],
        **{key: value for key, value in own.items() if value is not None},
    }


def _describe_document(record: ForeignDocument, opener: _Opener) -> dict[str, Any]:
    own = opener.open(record.document)
    tops: dict[str, Any] = {}
    for name, places in _DOCUMENT_PLACES.items():
        tops[name] = next((value for place in places if (value := _follow(own, place)) is not None), None)
    if not isinstance(tops["metadata"], dict):
        tops["metadata"] = {}
    return {
        "attributes": {},
        "spans": [],
        **{key: value for key, value in own.items() if value is not None},
        **tops,
    }


def _follow(value: Any, place: tuple[str, ...]) -> Any:  # noqa: ANN401 - JSON holds anything
    for key in place:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _describe_spans(record: WholeTrace, opener: _Opener) -> dict[str, Any]:
    shared: dict[int, Any] = {}
    spans = [_describe_span(span, opener, shared) for span in record.spans]
    by_id = dict(zip((span.span_id for span in record.spans), spans, strict=True))
    root = by_id.get(record.root.span_id) or _describe_span(record.root, opener, shared)
    in_order = [root["attributes"], *(span["attributes"] for span in spans if span is not root)]
    return {
        "input": _find_first(in_order, _INPUTS),
        "output": _find_first(in_order, _OUTPUTS),
        "metadata": _gather_metadata(in_order),
        "attributes": root["attributes"],
        "spans": spans,
    }


def _describe_span(span: Span, opener: _Opener, shared: dict[int, Any]) -> dict[str, Any]:
    # one resource stands in all spans of a process: it is opened once
    resource = shared.get(id(span.resource))
    if resource is None:
        resource = shared[id(span.resource)] = opener.open(span.resource)
    return {
        "span_id": span.span_id,
        "parent_span_id": span.parent_span_id,
        "name": span.name,
        "start_ns": span.start_ns,
        "end_ns": span.end_ns,
        "attributes": opener.open(span.attributes),
        "events": [
            {"name": event.name, "time_ns": event.time_ns, "attributes": opener.open(event.attributes)}
            for event in span.events
        ],
        "resource": resource,
        "scope": {"name": span.scope_name, "version": span.scope_version},
    }


def _find_first(in_order: list[dict[str, Any]], keys: tuple[str, ...]) -> Any:  # noqa: ANN401 - JSON
    return next(
        (found for attributes in in_order for key in keys if (found := attributes.get(key)) is not None), None
    )


def _gather_metadata(in_order: list[dict[str, Any]]) -> dict[str, Any]:
    """The root's own metadata, else of the first span that has some; and what any span says of the trace."""
    metadata: dict[str, Any] = {}
    for attributes in in_order:
        for key in _OWN_METADATA:
            if not metadata and isinstance(attributes.get(key), dict):
                metadata = dict(attributes[key])
    for attributes in in_order:
        for name, value in _list_trace_metadata(attributes):
            metadata.setdefault(name, value)
    return metadata


def _list_trace_metadata(attributes: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    for key in _TRACE_METADATA:
        whole = attributes.get(key)
        if isinstance(whole, dict):
            yield from whole.items()
    for key, value in attributes.items():
        for start in _TRACE_METADATA:
            if key.startswith(f"{start}."):
                yield key[len(start) + 1 :], value
