"""What a round leaves behind of the streams that it judged: their baselines, and where to go on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragsonde.regression.baseline import BaselineKind
from ragsonde.storage.baselines import (
    StoredBaseline,
    outgrow_baselines,
    replace_baselines,
    write_baseline,
)
from ragsonde.storage.regression_states import StoredState, find_day, forget_states, write_states
from ragsonde.watching.resuming import KEPT_BASELINES

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from datetime import datetime

    from sqlalchemy import Connection

    from ragsonde.regression.watched_stream import Armed, WatchedStream
    from ragsonde.watching.resuming import Resume


def store_baselines(
    connection: Connection,
    watched: Collection[WatchedStream],
    *,
    fresh: Collection[int],
    now: datetime,
) -> dict[tuple[int, int], Armed]:
    """Every baseline that judged, by stream and the block that it judges from, each with its number.

    Args:
        connection: of the round.
        watched: the streams.
        fresh: those that began anew: baselines of before are replaced.
        now: of the same clock as the stores'.
    """
    replace_baselines(connection, [one.number for one in watched if one.number in fresh], now=now)
    stored: dict[tuple[int, int], Armed] = {}
    outgrown: dict[int, int] = {}
    for one in watched:
        for armed in one.armings:
            number = armed.number
            if number is None:
                given = StoredBaseline(
                    *(None, one.number, armed.since, armed.until, armed.judges_from),
                    armed.baseline,
                    armed.failed_share,
                )
                number = write_baseline(connection, given, now=now).number
                if armed.baseline.kind is BaselineKind.PINNED:
                    was_rolling = armed.until < armed.judges_from
                    outgrown[one.number] = armed.judges_from - (KEPT_BASELINES if was_rolling else 0)
                elif armed.baseline.kind is BaselineKind.ROLLING:
                    outgrown[one.number] = armed.judges_from - KEPT_BASELINES
            stored[one.number, armed.judges_from] = armed._replace(number=number)
    outgrow_baselines(connection, outgrown, now=now)
    return stored


def store_states(
    connection: Connection,
    watched: Collection[WatchedStream],
    *,
    resumes: Mapping[int, Resume],
    stored: Mapping[tuple[int, int], Armed],
) -> None:
    """Replaces what was remembered of the blocks that were judged.

    Args:
        connection: of the round.
        watched: the streams.
        resumes: where each was judged from.
        stored: what `store_baselines` has given.
    """
    forgotten = {}
    states = []
    for one in watched:
        resume = resumes[one.number]
        forgotten[one.number] = find_day(0 if resume.is_fresh else resume.resumed + 1)
        days = {find_day(snapshot.block) for snapshot in one.snapshots.values()}
        if resume.checkpoint is not None and resume.checkpoint.day not in days:
            states.append(resume.checkpoint)
        for snapshot in one.snapshots.values():
            armed = snapshot.armed
            states.append(
                StoredState(
                    stream=one.number,
                    block=snapshot.block,
                    begun=one.begun,
                    part=snapshot.part,
                    baseline=None if armed is None else stored[one.number, armed.judges_from].number,
                    state=snapshot.state,
                    hold=snapshot.hold,
                )
            )
    forget_states(connection, forgotten)
    write_states(connection, states)
