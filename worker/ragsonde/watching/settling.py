"""An accepted level that few traces were known of: its baseline is made again when there are enough."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ragsonde.regression.accepted_level import move_baseline
from ragsonde.regression.alert_state import StreamState
from ragsonde.regression.baseline import LEAST_PINNED, BaselineKind
from ragsonde.regression.block_lengths import BLOCKS_PER_DAY
from ragsonde.regression.extraction_shares import MEMORY_BLOCKS
from ragsonde.regression.holds import COVERAGE_BLOCKS, name_hold
from ragsonde.storage.baselines import StoredBaseline
from ragsonde.storage.block_outcomes import read_outcomes
from ragsonde.storage.chosen_baselines import choose_baseline, list_baselines
from ragsonde.storage.extraction_blocks import read_shares
from ragsonde.storage.regression_states import StoredState, write_states
from ragsonde.watching.counted_stretch import read_stretch
from ragsonde_schemas.score_stream import BLOCK, block_at

if TYPE_CHECKING:
    from collections.abc import Collection
    from datetime import datetime

    from sqlalchemy import Connection

    from ragsonde.regression.options import RegressionOptions
    from ragsonde.regression.watched_stream import Armed, WatchedStream
    from ragsonde.watching.counted_stretch import CountedStretch
    from ragsonde_schemas.score_stream import ScoreStream

LOG_LOW = math.log(BLOCKS_PER_DAY / 2)
"""Evidence of half a day, log of blocks: about the most that a level without a fall shows."""


def settle_accepted(
    connection: Connection,
    watched: Collection[WatchedStream],
    *,
    until: int,
    options: RegressionOptions,
    now: datetime,
) -> None:
    """Makes baselines of accepted levels that may page, of streams that have 500 traces of theirs by now.

    Not while an alert is open, nor while evidence of a fall gathers: it must not become what is usual. Nor of
    traces before the end of one that was, nor of blocks that were held.

    Args:
        connection: in the transaction that judged, after its states are written.
        watched: the streams that were judged.
        until: blocks before it are judged.
        options: of the settings.
        now: of this process's clock.
    """
    for one in watched:
        armed = one.armed
        if armed is None or not armed.is_chosen or armed.baseline.kind is not BaselineKind.PROVISIONAL:
            continue
        if any(fall.closed is None for fall in one.falls) or one.state.log_evidence >= LOG_LOW:
            continue
        since = _find_well_since(one, armed)
        found = read_stretch(connection, one.number, since=since, until=until)
        if found.counts is None or found.traces < LEAST_PINNED:
            continue
        (before,) = list_baselines(connection, number=armed.number, with_past=True)
        found = found.leave_out(
            _list_held(connection, one, before.stream, found=found, since=since, until=until)
        )
        if found.counts is None or found.traces < LEAST_PINNED:
            continue
        stored = choose_baseline(
            connection,
            StoredBaseline(
                *(None, one.number, since, until, until),
                move_baseline(armed.baseline, found.counts, smallest_drop=options.smallest_drop),
                found.failed_share,
                before.stored.reason,
            ),
            now=now,
        )
        rest = StoredState(one.number, until - 1, one.begun, one.part, stored.number, StreamState(), one.hold)
        write_states(connection, [rest])


def _list_held(
    connection: Connection,
    one: WatchedStream,
    stream: ScoreStream,
    *,
    found: CountedStretch,
    since: int,
    until: int,
) -> set[int]:
    """The blocks of a stretch that bring no evidence by the baseline that judges the stream."""
    if one.armed is None:
        return set()
    place = (stream.app, stream.environment)
    shares = read_shares(connection, {place: since - MEMORY_BLOCKS}, until=until).get(place)
    lead = read_outcomes(connection, {one.number: block_at(since)}, span=COVERAGE_BLOCKS * BLOCK)
    outcomes = dict(lead.get(one.number, {}))
    outcomes.update(found.outcomes)
    usual = one.armed.failed_share
    return {block for block in found.outcomes if name_hold(outcomes, shares, usual_share=usual, block=block)}


def _find_well_since(one: WatchedStream, armed: Armed) -> int:
    ends = (
        fall.closed + 1 for fall in one.falls if fall.closed is not None and fall.opened >= armed.judges_from
    )
    return max((armed.since, *ends))
