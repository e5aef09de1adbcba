"""Judges the streams of which counts have changed: all in one transaction, so that a kill leaves no half."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from ragsonde.regression.block_lengths import BLOCKS_PER_DAY
from ragsonde.regression.extraction_shares import MEMORY_BLOCKS
from ragsonde.regression.holds import COVERAGE_BLOCKS
from ragsonde.regression.judging import judge_blocks
from ragsonde.regression.replay import SEARCHED_DAYS
from ragsonde.regression.threshold import ACTIVE_DAYS, find_log_blocks, find_page_threshold
from ragsonde.regression.watched_stream import NEVER, Armed, WatchedStream
from ragsonde.storage.alerts import read_alerts
from ragsonde.storage.armings import read_gates
from ragsonde.storage.baselines import (
    StoredBaseline,
    number_block,
    read_baselines,
)
from ragsonde.storage.block_changes import take_changes
from ragsonde.storage.block_outcomes import read_outcomes
from ragsonde.storage.chosen_baselines import read_floor_spans, read_last_drops
from ragsonde.storage.engine import translating_losses
from ragsonde.storage.extraction_blocks import read_shares
from ragsonde.storage.locks import give_way_to_migrations, hold_job_lock
from ragsonde.storage.regression_states import (
    JUDGING_LOCK,
    count_active_streams,
    find_day,
    find_first_blocks,
    read_resumable,
)
from ragsonde.storage.score_blocks import Stretch, name_streams, read_stretches
from ragsonde.watching.collector_pause import pausing_collector
from ragsonde.watching.counted_rows import NOTHING, count_rows
from ragsonde.watching.judged_streams import store_baselines, store_states
from ragsonde.watching.resuming import (
    JUDGED_AGAIN,
    may_begin_anew,
    plan_resume,
    span_window,
)
from ragsonde.watching.settling import settle_accepted
from ragsonde.watching.telling import Telling
from ragsonde_schemas.score_stream import BLOCK, block_at

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from datetime import datetime

    from sqlalchemy import Connection, Engine

    from ragsonde.regression.extraction_shares import ExtractionShares
    from ragsonde.regression.options import RegressionOptions
    from ragsonde.storage.alerts import AlertFound
    from ragsonde.storage.block_changes import StreamChange
    from ragsonde.watching.resuming import Resume
    from ragsonde.watching.telling import Told
    from ragsonde_schemas.score_stream import ScoreStream

COVERAGE_SPAN = COVERAGE_BLOCKS * BLOCK


class Round(NamedTuple):
    """What one round did.

    Attributes:
        held: streams that are judged no more, as the hold began, with its reason.
    """

    told: tuple[Told, ...] = ()
    held: tuple[tuple[ScoreStream, str], ...] = ()


@dataclass(kw_only=True)
class RegressionRound:
    """One round over some streams.

    Attributes:
        engine: of this process.
        options: of the settings.
        targets: scorers whose scores are good near a target: they only warn.
        until: blocks that begin before are closed.
        now: of this process's clock.
    """

    engine: Engine
    options: RegressionOptions
    targets: frozenset[str]
    until: datetime
    now: datetime
    _log_pages: dict[int, float] = field(default_factory=dict)

    def judge(self, streams: Collection[int]) -> Round:
        """Judges what changed of these streams; what another monitor has judged is not judged again.

        Raises:
            DatabaseLostError: it is done wholly or not at all; judge again.
            GivenUpError: nothing was done: a migration is under way, or it took too long.
        """
        last = number_block(self.until) - 1
        with pausing_collector(), translating_losses(), self.engine.begin() as connection:
            give_way_to_migrations(connection)
            hold_job_lock(connection, JUDGING_LOCK)
            changes = take_changes(
                connection, streams, until=self.until, recent=block_at(last + 1 - JUDGED_AGAIN)
            )
            numbers = [change.stream for change in changes]
            names = name_streams(connection, numbers)
            resumes, alerts = self._plan(connection, changes, names=names, last=last)
            watched = self._read(connection, resumes, names=names, alerts=alerts, last=last)
            open_alerts = {
                one.stream: (one.number, one.drop)
                for found in alerts.values()
                for one in found
                if one.fall.closed is None
            }
            told = judge_blocks(watched, find_log_page=lambda day: self._find_log_page(connection, day))
            fresh = frozenset(stream for stream, (resume, _) in resumes.items() if resume.is_fresh)
            stored = store_baselines(connection, watched, fresh=fresh, now=self.now)
            begun_at = {stream: resume for stream, (resume, _) in resumes.items()}
            store_states(connection, watched, resumes=begun_at, stored=stored)
            telling = Telling(
                connection=connection,
                options=self.options,
                names=names,
                stored=stored,
                watched={one.number: one for one in watched},
                open=open_alerts,
            )
            written = [found for one in told if (found := telling.tell(one, now=self.now)) is not None]
            settle_accepted(connection, watched, until=last + 1, options=self.options, now=self.now)
            return Round(tuple(written), _list_held(watched, resumes, names))

    def _plan(
        self,
        connection: Connection,
        changes: Collection[StreamChange],
        *,
        names: Mapping[int, ScoreStream],
        last: int,
    ) -> tuple[dict[int, tuple[Resume, dict[int, Armed]]], dict[int, tuple[AlertFound, ...]]]:
        numbers = [change.stream for change in changes]
        states = read_resumable(connection, changes)
        baselines = read_baselines(connection, numbers)
        first = {stream: found[-1].begun for stream, found in states.items()}
        first |= find_first_blocks(
            connection, [one.stream for one in changes if may_begin_anew(one, states.get(one.stream, ()))]
        )
        since = block_at(last - (SEARCHED_DAYS + 1) * BLOCKS_PER_DAY)
        alerts = read_alerts(connection, numbers, since=since)
        gates = read_gates(connection, numbers)
        drops = read_last_drops(connection, numbers)
        resumes: dict[int, tuple[Resume, dict[int, Armed]]] = {}
        for change in changes:
            gate = gates.get(change.stream)
            if gate is not None and gate.is_under_way:
                continue  # it is told as changed once its baseline is there
            if gate is not None and gate.begins is not None and change.stream in first:
                first[change.stream] = max(first[change.stream], gate.begins)
            armed = [_read_armed(one) for one in baselines.get(change.stream, ())]
            resume = plan_resume(
                change,
                states=states.get(change.stream, ()),
                baselines=armed,
                falls=[one.fall for one in alerts.get(change.stream, ())],
                first=first.get(change.stream),
                last=last,
                judges_from=NEVER if gate is None else gate.judges_from,
                dropped=drops.get(change.stream, NEVER),
            )
            if resume is not None and self._is_rolling(names[change.stream]):
                resume = span_window(resume, last=last)
            if resume is not None:
                known = (
                    {} if resume.is_fresh else {one.judges_from: one for one in armed if not one.is_chosen}
                )
                resumes[change.stream] = (resume, known)
        return resumes, alerts

    def _read(
        self,
        connection: Connection,
        resumes: Mapping[int, tuple[Resume, dict[int, Armed]]],
        *,
        names: Mapping[int, ScoreStream],
        alerts: Mapping[int, tuple[AlertFound, ...]],
        last: int,
    ) -> list[WatchedStream]:
        horizon = block_at(last + 1 - JUDGED_AGAIN - BLOCKS_PER_DAY)
        stretches = {
            stream: Stretch(
                block_at(resume.read_from),
                block_at(resume.read_from)
                if self._is_rolling(names[stream])
                else max(horizon, block_at(resume.read_from)),
            )
            for stream, (resume, _) in resumes.items()
        }
        counted = count_rows(read_stretches(connection, stretches, until=self.until))
        floors = read_floor_spans(connection, list(resumes))
        shares = _read_shares(connection, resumes, names=names, last=last)
        lead = read_outcomes(
            connection, {stream: one.since for stream, one in stretches.items()}, span=COVERAGE_SPAN
        )
        watched = []
        for stream, (resume, known) in resumes.items():
            counts, outcomes = counted.get(stream, (NOTHING, {}))
            watched.append(
                WatchedStream(
                    number=stream,
                    begun=resume.begun,
                    counts=counts,
                    outcomes={**lead.get(stream, {}), **outcomes},
                    resumed=resume.resumed,
                    judged=resume.judged,
                    part=resume.part,
                    armed=resume.armed,
                    known=known,
                    state=resume.state,
                    falls=[one.fall for one in alerts.get(stream, ())],
                    can_page=names[stream].scorer not in self.targets and not self._is_rolling(names[stream]),
                    is_rolling=self._is_rolling(names[stream]),
                    known_from=resume.read_from,
                    smallest_drop=self.options.smallest_drop,
                    floor=self.options.floors.get(names[stream].scorer),
                    chosen_floors=floors.get(stream, ()),
                    hold=None if resume.checkpoint is None else resume.checkpoint.hold,
                    shares=shares.get(_find_place(names[stream])),
                )
            )
        return watched

    def _is_rolling(self, stream: ScoreStream) -> bool:
        return self.options.is_rolling(scorer=stream.scorer, app=stream.app)

    def _find_log_page(self, connection: Connection, day: int) -> float:
        if day not in self._log_pages:
            active = count_active_streams(connection, find_day(day * BLOCKS_PER_DAY), days=ACTIVE_DAYS)
            threshold = find_page_threshold(active, page_days=self.options.page_days)
            self._log_pages[day] = find_log_blocks(threshold)
        return self._log_pages[day]


def _read_shares(
    connection: Connection,
    resumes: Mapping[int, tuple[Resume, dict[int, Armed]]],
    *,
    names: Mapping[int, ScoreStream],
    last: int,
) -> dict[tuple[str, str], ExtractionShares]:
    since: dict[tuple[str, str], int] = {}
    for stream, (resume, _) in resumes.items():
        place = _find_place(names[stream])
        first = resume.resumed + 1 - MEMORY_BLOCKS
        since[place] = min(first, since.get(place, first))
    return read_shares(connection, since, until=last + 1)


def _find_place(stream: ScoreStream) -> tuple[str, str]:
    return stream.app, stream.environment


def _read_armed(one: StoredBaseline) -> Armed:
    return Armed(
        one.since,
        one.until,
        one.judges_from,
        one.baseline,
        one.failed_share,
        one.number,
        is_chosen=one.reason is not None,
    )


def _list_held(
    watched: Collection[WatchedStream],
    resumes: Mapping[int, tuple[Resume, dict[int, Armed]]],
    names: Mapping[int, ScoreStream],
) -> tuple[tuple[ScoreStream, str], ...]:
    held = []
    for one in watched:
        checkpoint = resumes[one.number][0].checkpoint
        before = None if checkpoint is None else checkpoint.hold
        if one.hold is not None and before is None:
            held.append((names[one.number], one.hold))
    return tuple(held)
