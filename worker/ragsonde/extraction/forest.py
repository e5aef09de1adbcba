"""Who is whose parent, whatever is missing or circular: links between ids made into trees."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping


class Forest:
    """Trees of ids, in time linear in their number whatever their shape.

    A circle is cut at the one of its members that comes first: that one has no parent any more.

    Attributes:
        roots: ids that name no parent.
        orphans: ids whose parent is not among them, each with that parent.
        loops: ids at which a circle was cut.
        tops: the topmost id of the tree that each id stands in.
    """

    def __init__(self, links: Mapping[str, str | None]) -> None:
        """Takes the parent of each id, in order of time."""
        self.roots = tuple(node for node, parent in links.items() if parent is None)
        self.orphans = {
            node: parent for node, parent in links.items() if parent is not None and parent not in links
        }
        self._parents = {node: None if parent not in links else parent for node, parent in links.items()}
        self.loops = tuple(self._cut_circles())
        self._downwards = tuple(self._walk_down())
        self.tops = self._find_tops()

    def ancestors(self, node: str) -> Iterator[str]:
        """The ids above `node`, nearest first."""
        parent = self._parents.get(node)
        while parent is not None:
            yield parent
            parent = self._parents[parent]

    def outermost(self, nodes: Collection[str]) -> set[str]:
        """Those of `nodes` that have none of `nodes` above them."""
        return set(nodes) - self.below(nodes)

    def below(self, nodes: Collection[str]) -> set[str]:
        """All ids that have one of `nodes` above them."""
        covered: set[str] = set()
        for node in self._downwards:
            parent = self._parents[node]
            if parent is not None and (parent in nodes or parent in covered):
                covered.add(node)
        return covered

    def above(self, nodes: Collection[str]) -> set[str]:
        """All ids that have one of `nodes` below them."""
        covering: set[str] = set()
        for node in reversed(self._downwards):
            parent = self._parents[node]
            if parent is not None and (node in nodes or node in covering):
                covering.add(parent)
        return covering

    def greatest_above(self, values: Mapping[str, int]) -> dict[str, int]:
        """For each id that has any of those with a value above it, the greatest of their values."""
        greatest: dict[str, int] = {}
        for node in self._downwards:
            parent = self._parents[node]
            known = [found[parent] for found in (values, greatest) if parent is not None and parent in found]
            if known:
                greatest[node] = max(known)
        return greatest

    def _find_tops(self) -> dict[str, str]:
        tops: dict[str, str] = {}
        for node in self._downwards:
            parent = self._parents[node]
            tops[node] = node if parent is None else tops[parent]
        return tops

    def _cut_circles(self) -> Iterator[str]:
        places = {node: place for place, node in enumerate(self._parents)}
        settled: set[str] = set()
        for start in list(self._parents):
            path: dict[str, None] = {}
            node: str | None = start
            while node is not None and node not in settled and node not in path:
                path[node] = None
                node = self._parents[node]
            settled.update(path)
            if node is not None and node in path:
                members = list(path)
                first = min(members[members.index(node) :], key=places.__getitem__)
                self._parents[first] = None
                yield first

    def _walk_down(self) -> Iterator[str]:
        children: dict[str, list[str]] = {}
        level: list[str] = []
        for node, parent in self._parents.items():
            (level if parent is None else children.setdefault(parent, [])).append(node)
        while level:
            yield from level
            level = [child for node in level for child in children.get(node, ())]
