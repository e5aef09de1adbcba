"""Spans as a tree: who is whose parent, whatever order they came in."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ragsonde_schemas.span import Span

_LEVELS_AT_MOST = 256


class SpanTree:
    """The spans of one trace, by id and by parent.

    Attributes:
        spans: in order of start, then end; of spans with equal ids the last one given.
        roots: spans without a parent.
        orphans: spans whose parent is not among them.
    """

    def __init__(self, spans: Sequence[Span]) -> None:
        self._by_id = {span.span_id: span for span in spans}
        self.spans = tuple(sorted(self._by_id.values(), key=lambda span: (span.start_ns, span.end_ns)))
        self.roots = tuple(span for span in self.spans if span.parent_span_id is None)
        self.orphans = tuple(
            span
            for span in self.spans
            if span.parent_span_id is not None and span.parent_span_id not in self._by_id
        )

    def ancestors(self, span: Span) -> Iterator[Span]:
        """The spans above `span`, nearest first, at most 256, up to a root, a missing parent or a circle."""
        seen = {span.span_id}
        parent_id = span.parent_span_id
        while parent_id is not None and parent_id not in seen and len(seen) <= _LEVELS_AT_MOST:
            parent = self._by_id.get(parent_id)
            if parent is None:
                return
            seen.add(parent_id)
            yield parent
            parent_id = parent.parent_span_id
