"""Baselines and floors by a person's hand: chosen, set, dropped."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, NamedTuple

from ragsonde.regression.baseline import (
    BASELINE_DAYS,
    LEAST_PINNED,
    BaselineKind,
    fit_baseline,
    make_floor,
)
from ragsonde.regression.blocks import gather_counts
from ragsonde.regression.watched_stream import NEVER
from ragsonde.storage.armings import end_arming
from ragsonde.storage.baselines import StoredBaseline, describe_baseline, number_block, read_baselines
from ragsonde.storage.block_changes import note_change
from ragsonde.storage.chosen_baselines import (
    choose_baseline,
    end_baselines,
    end_weak,
    find_streams,
    list_baselines,
    list_held,
    list_namesakes,
)
from ragsonde.storage.regression_states import read_states, write_states
from ragsonde.watching.counted_stretch import read_stretch
from ragsonde.watching.steering import require_closed_until, steering
from ragsonde_schemas.errors import InputError
from ragsonde_schemas.score_stream import BLOCK, block_at

if TYPE_CHECKING:
    from collections.abc import Collection
    from datetime import datetime

    from sqlalchemy import Connection, Engine

    from ragsonde.regression.baseline import Baseline
    from ragsonde.regression.options import RegressionOptions
    from ragsonde.storage.chosen_baselines import NamedStream, ShownBaseline
    from ragsonde_schemas.score_stream import ScoreStream

FLOOR_DAYS = 30
"""A floor is set for streams that have traces in so many days."""


class Names(NamedTuple):
    """Which streams are meant; None is any."""

    app: str
    environment: str | None = None
    scorer: str | None = None
    judge: str | None = None


class Choice(NamedTuple):
    """What became of one stream.

    Attributes:
        number: of its baseline or floor; None where none was made.
        traces: of the stretch that have a score.
        baseline: None where there are too few.
        is_new: False where it is as it was.
        replaces: the number of the baseline or floor that a person chose before, whose place it takes.
        held: of a floor, all streams that it holds.
    """

    stream: ScoreStream
    number: int | None
    traces: int
    baseline: Baseline | None
    is_new: bool
    replaces: int | None = None
    held: tuple[ScoreStream, ...] = ()


def pin_baselines(
    engine: Engine,
    names: Names,
    *,
    since: datetime,
    until: datetime,
    reason: str,
    options: RegressionOptions,
    now: datetime,
    is_dry: bool = False,
) -> tuple[Choice, ...]:
    """Holds streams, from the next block on, to what they scored in a stretch; streams of few traces not.

    An alert that is open stays open and is judged by the new one.

    Args:
        engine: of this process.
        names: of the streams.
        since: whole blocks from then on.
        until: and before that; what is not closed yet is left out.
        reason: for whoever reads it later.
        options: of the settings.
        now: of this process's clock.
        is_dry: nothing is changed.

    Raises:
        InputError: no such stream has traces in the stretch.
        DatabaseLostError: it is done or not; call again.
        GivenUpError: nothing was done.
    """
    with steering(engine) as connection:
        closed = require_closed_until(connection)
        first, end = number_block(since + BLOCK - timedelta(microseconds=1)), min(number_block(until), closed)
        streams = _require_streams(connection, names, since=block_at(first), until=block_at(max(end, first)))
        return tuple(
            _pin(
                connection,
                one,
                stretch=(first, end),
                closed=closed,
                reason=reason,
                options=options,
                now=now,
                is_dry=is_dry,
            )
            for one in streams
        )


def set_floors(
    engine: Engine, names: Names, *, mean: float, reason: str, now: datetime
) -> tuple[Choice, ...]:
    """Sets a mean that scores should not be below, for each environment and judge that is meant.

    Raises:
        InputError: no such stream has traces in the last 30 days.
        DatabaseLostError: it is done or not; call again.
        GivenUpError: nothing was done.
    """
    floor = make_floor(mean, gather_counts([], [], [], [], strata=("",)))
    with steering(engine) as connection:
        streams = _require_streams(connection, names, since=now - timedelta(days=FLOOR_DAYS), until=now)
        newest = {_name_basis(one.stream): one for one in streams}
        return tuple(_set_floor(connection, one, floor, reason=reason, now=now) for one in newest.values())


def drop_baseline(engine: Engine, number: int, *, reason: str, now: datetime) -> ShownBaseline:
    """Drops what a person chose; the stream goes back to what came by itself.

    Raises:
        InputError: there is no such baseline, it came by itself, or does not stand any more.
        DatabaseLostError: it is done or not; call again.
        GivenUpError: nothing was done.
    """
    with steering(engine) as connection:
        found = list_baselines(connection, number=number, with_past=True)
        if not found:
            raise InputError(f"baseline {number}: there is none; `ragsonde baseline list` shows them")
        (shown,) = found
        if shown.stored.reason is None:
            raise InputError(
                f"baseline {number}: came by itself, expected one that a person chose; "
                "`ragsonde baseline pin` puts another in its place"
            )
        if shown.replaced_at is not None:
            raise InputError(
                f"baseline {number}: does not stand since {shown.replaced_at:%Y-%m-%d %H:%M} UTC"
                f"{f' ({shown.replaced_reason})' if shown.replaced_reason else ''}, expected one that does; "
                "`ragsonde baseline list` shows them"
            )
        closed = require_closed_until(connection)
        end_baselines(connection, [number], reason=reason, now=block_at(closed))
        if shown.is_floor:
            streams = list_namesakes(connection, shown.stored.stream)
            _begin_by_floor(connection, streams, floor=number, now=now)
        else:
            _go_back(connection, shown.stored.stream, closed=closed)
        return shown


def _require_streams(
    connection: Connection, names: Names, *, since: datetime, until: datetime
) -> tuple[NamedStream, ...]:
    found = find_streams(connection, **names._asdict(), since=since, until=until)
    if not found:
        given = ", ".join(f"{name} {value}" for name, value in names._asdict().items() if value is not None)
        raise InputError(
            f"{given}: no scores from {since:%Y-%m-%d %H:%M} to {until:%Y-%m-%d %H:%M} UTC, expected a "
            "stream that has some; `ragsonde baseline list` shows streams"
        )
    return found


def _pin(
    connection: Connection,
    one: NamedStream,
    *,
    stretch: tuple[int, int],
    closed: int,
    reason: str,
    options: RegressionOptions,
    now: datetime,
    is_dry: bool,
) -> Choice:
    found = read_stretch(connection, one.number, since=stretch[0], until=stretch[1])
    if found.counts is None or found.traces < LEAST_PINNED:
        return Choice(one.stream, None, found.traces, None, is_new=False)
    fitted = fit_baseline(found.counts, smallest_drop=options.smallest_drop)
    standing = next(
        (known for known in read_baselines(connection, [one.number]).get(one.number, ()) if known.reason),
        None,
    )
    if (
        standing is not None
        and (standing.since, standing.until) == stretch
        and describe_baseline(standing.baseline) == describe_baseline(fitted)
    ):
        return Choice(one.stream, standing.number, found.traces, fitted, is_new=False)
    replaces = None if standing is None else standing.number
    if is_dry:
        return Choice(one.stream, None, found.traces, fitted, is_new=True, replaces=replaces)
    states = read_states(connection, [one.number]).get(one.number, ())
    judges_from = states[-1].block + 1 if states else closed
    given = StoredBaseline(*(None, one.number, *stretch, judges_from), fitted, found.failed_share, reason)
    stored = choose_baseline(connection, given, now=now)
    end_arming(connection, one.number, outcome=f"a person chose its baseline: {reason}", now=now)
    if states:
        write_states(
            connection, [states[-1]._replace(baseline=stored.number, state=states[-1].state.rebase())]
        )
        note_change(connection, block_at(judges_from), streams=[one.number])
    return Choice(one.stream, stored.number, found.traces, fitted, is_new=True, replaces=replaces)


def _set_floor(
    connection: Connection, one: NamedStream, floor: Baseline, *, reason: str, now: datetime
) -> Choice:
    streams = list_namesakes(connection, one.number)
    replaces = None
    for shown in list_baselines(connection, app=one.stream.app):
        if not shown.is_floor or shown.stored.stream not in streams:
            continue
        replaces = shown.stored.number
        if (shown.stored.baseline.mean, shown.stored.reason) == (floor.mean, reason):
            return Choice(
                *(one.stream, replaces, 0, floor), is_new=False, held=_list_held(connection, replaces)
            )
    block = require_closed_until(connection)
    stored = choose_baseline(
        connection, StoredBaseline(*(None, one.number, block, block, block), floor, 0.0, reason), now=now
    )
    _begin_by_floor(connection, streams, floor=stored.number or 0, now=now)
    held = _list_held(connection, stored.number)
    return Choice(one.stream, stored.number, 0, floor, is_new=True, replaces=replaces, held=held)


def _list_held(connection: Connection, floor: int | None) -> tuple[ScoreStream, ...]:
    return () if floor is None else list_held(connection, [floor])[floor]


def _name_basis(stream: ScoreStream) -> tuple[str, str, str, str]:
    """What a floor is set for: of later versions of the scorer and models of the judge too."""
    return stream.environment, stream.scorer, stream.version.partition(":")[2], stream.judge


def _begin_by_floor(connection: Connection, streams: Collection[int], *, floor: int, now: datetime) -> None:
    """From the next block on a floor holds that is new, or holds no more.

    Judging begins evidence anew there. A stream that has no baseline of its own is judged once more with what
    came: its newest state is given the floor's number, under which judging finds no baseline that stands.
    """
    end_weak(connection, streams, now=now)
    baselines = read_baselines(connection, streams)
    for stream, states in read_states(connection, streams).items():
        newest = states[-1]
        standing = {one.number for one in baselines.get(stream, ())}
        if newest.baseline not in standing:
            write_states(connection, [newest._replace(baseline=floor, state=newest.state.rebase())])
        note_change(connection, block_at(newest.block + 1), streams=[stream])


def _go_back(connection: Connection, stream: int, *, closed: int) -> None:
    """To the newest baseline that came by itself; without one it is made when the next block is judged.

    At rest from the block `closed` on; judging never goes on from before it.
    """
    states = read_states(connection, [stream]).get(stream, ())
    if not states:
        return
    own = [one for one in read_baselines(connection, [stream]).get(stream, ()) if one.reason is None]
    weak = {BaselineKind.PROVISIONAL, BaselineKind.FLOOR}
    is_whole = bool(own) and own[-1].baseline.kind not in weak
    newest = states[-1]._replace(
        block=closed - 1,
        baseline=own[-1].number if own else None,
        part=BASELINE_DAYS if is_whole else NEVER,
        state=states[-1].state.rebase(),
    )
    write_states(connection, [newest])
    note_change(connection, block_at(newest.block + 1), streams=[stream])
