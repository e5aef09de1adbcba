"""What a user's mapping or extractor sees of a record: the fields found so far, and the tree behind them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ragsonde_schemas.trace import Context, Turn


@dataclass(frozen=True, slots=True, kw_only=True)
class DecodedTrace:
    """One record with what the format's rules and the mappings found; unknown is None, `app` and its kin ''.

    Attributes:
        format: name of the format it came in.
        contexts: None = unknown, () = retrieval returned nothing; `content` is '' where only an id is known.
        input, output: of the record's root; JSON inside strings is parsed.
        metadata: of the record; JSON inside strings is parsed.
        attributes: of the root span, or the unknown keys of a native message, or {}.
        spans: by start time, each `{span_id, parent_span_id, name, start_ns, end_ns, attributes, events,
            resource, scope}`; empty where the record is no trace of spans.
    """

    trace_id: str
    format: str
    app: str = ""
    environment: str = ""
    release: str = ""
    variant: str = ""
    tags: tuple[str, ...] = ()
    session_id: str | None = None
    user_id: str | None = None
    query: str | None = None
    retrieval_query: str | None = None
    turns: tuple[Turn, ...] = ()
    contexts: tuple[Context, ...] | None = None
    answer: str | None = None
    reference: str | None = None
    input: Any = None
    output: Any = None
    metadata: dict[str, Any] = field(default_factory=dict)
    attributes: dict[str, Any] = field(default_factory=dict)
    spans: tuple[dict[str, Any], ...] = ()
