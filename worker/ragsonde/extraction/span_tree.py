"""Spans as trees: who is whose parent, whatever order they came in and whatever is missing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragsonde.extraction.forest import Forest

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ragsonde_schemas.span import Span


class SpanTree:
    """The spans of one trace, by id and by parent.

    Attributes:
        spans: in order of start, then end, then id; of spans with equal ids the fuller one.
        roots: spans without a parent.
        orphans: spans whose parent is not among them.
        loops: spans at which a circle of parents was cut: the first of its members.
    """

    def __init__(self, spans: Sequence[Span]) -> None:
        self._by_id: dict[str, Span] = {}
        for span in spans:
            known = self._by_id.setdefault(span.span_id, span)
            if known is not span and known != span and _get_fullness(span) > _get_fullness(known):
                self._by_id[span.span_id] = span
        self.spans = tuple(sorted(self._by_id.values(), key=get_place))
        self._forest = Forest({span.span_id: span.parent_span_id for span in self.spans})
        self.roots = tuple(self._by_id[name] for name in self._forest.roots)
        self.orphans = tuple(self._by_id[name] for name in self._forest.orphans)
        self.loops = tuple(self._by_id[name] for name in self._forest.loops)

    def ancestors(self, span: Span) -> Iterator[Span]:
        """The spans above `span`, nearest first, up to a root, a missing parent or the cut of a circle."""
        return (self._by_id[name] for name in self._forest.ancestors(span.span_id))

    def list_trees(self) -> list[tuple[Span, list[Span]]]:
        """Each tree's topmost span with all spans of the tree, both in order of time."""
        trees: dict[str, list[Span]] = {}
        for span in self.spans:
            trees.setdefault(self._forest.tops[span.span_id], []).append(span)
        return [(top, trees[top.span_id]) for top in self.spans if top.span_id in trees]


def get_place(span: Span) -> tuple[int, int, str]:
    """What spans are ordered by: start, end, id."""
    return span.start_ns, span.end_ns, span.span_id


def _get_fullness(span: Span) -> tuple[int, int, str]:
    return span.end_ns, len(span.attributes), repr(span)
