"""A stretch of a stream's counted blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ragsonde.regression.holds import find_failed_share
from ragsonde.storage.score_blocks import Stretch, read_stretches
from ragsonde.watching.counted_rows import count_rows
from ragsonde_schemas.score_stream import block_at

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from sqlalchemy import Connection

    from ragsonde.regression.blocks import BlockCounts
    from ragsonde.regression.watched_stream import Outcomes


class CountedStretch(NamedTuple):
    """Blocks of a stream, and what became of their judgements."""

    counts: BlockCounts | None
    outcomes: Mapping[int, Outcomes]

    @property
    def traces(self) -> int:
        """All that have a score."""
        return 0 if self.counts is None else self.counts.trace_count

    @property
    def failed_share(self) -> float:
        """Of their outcomes, those that are errors; 0 of none."""
        if not self.outcomes:
            return 0.0
        return find_failed_share(self.outcomes, min(self.outcomes), max(self.outcomes) + 1) or 0.0

    def leave_out(self, blocks: Collection[int]) -> CountedStretch:
        """The same without these blocks."""
        kept = {block: one for block, one in self.outcomes.items() if block not in blocks}
        stretches = [(block, block + 1) for block in blocks]
        return CountedStretch(None if self.counts is None else self.counts.without(stretches), kept)


def read_stretch(connection: Connection, stream: int, *, since: int, until: int) -> CountedStretch:
    """The blocks `since` to `until - 1` of a stream."""
    begin = block_at(since)
    rows = read_stretches(connection, {stream: Stretch(begin, begin)}, until=block_at(until))
    return CountedStretch(*count_rows(rows).get(stream, (None, {})))
