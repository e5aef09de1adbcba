"""The baseline of a stream that took another one's place, once stored traces were scored for it."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from ragsonde.regression.baseline import BASELINE_DAYS, LEAST_PINNED, fit_baseline
from ragsonde.storage.armings import Way, end_arming, list_alarmed
from ragsonde.storage.baselines import (
    StoredBaseline,
    number_block,
    read_baselines,
    replace_baselines,
    write_baseline,
)
from ragsonde.storage.block_changes import note_change
from ragsonde.storage.engine import translating_losses
from ragsonde.storage.locks import give_way_to_migrations, hold_job_lock
from ragsonde.storage.regression_states import JUDGING_LOCK
from ragsonde.watching.counted_stretch import read_stretch

if TYPE_CHECKING:
    from datetime import datetime

    from sqlalchemy import Connection, Engine

    from ragsonde.regression.blocks import BlockCounts
    from ragsonde.regression.options import RegressionOptions
    from ragsonde.storage.armings import StreamArming

WINDOW = timedelta(days=BASELINE_DAYS)
_ALMOST = timedelta(days=1)
"""An app that was there a day less than a week has had its week."""


def arm_stream(
    engine: Engine, one: StreamArming, *, told: str, options: RegressionOptions, now: datetime
) -> str | None:
    """Gives a stream the baseline that its week before makes, and lets it be judged; how that ended.

    What was scored of falls of the old stream is left out. With 500 traces of a whole week it is as good as
    one of its own first days. Below that it has to wait for these; where the app is younger than the week,
    they began with what is stored. None where somebody else has ended it.

    Args:
        engine: of this process.
        one: under way.
        told: how the scoring ended.
        options: of the settings.
        now: of this process's clock.

    Raises:
        DatabaseLostError: it is done wholly or not at all; do it again.
        GaveWayError: nothing was done: a migration is under way.
    """
    since = one.begun_at - WINDOW
    with translating_losses(), engine.begin() as connection:
        give_way_to_migrations(connection)
        hold_job_lock(connection, JUDGING_LOCK)
        found = read_stretch(
            connection, one.number, since=number_block(since), until=number_block(one.begun_at)
        )
        counts = found.counts
        if counts is not None:
            stretches = list_alarmed(connection, one.old_number, since=since, until=one.begun_at)
            counts = counts.without(stretches)
        traces = 0 if counts is None else counts.trace_count
        is_young = counts is not None and traces > 0 and _is_young(counts, since=since)
        way, outcome = one.way, f"{told}; {traces} traces"
        if counts is None or (traces < LEAST_PINNED and not is_young):
            way, outcome = Way.LIVE, f"{outcome}, too few for a baseline: it waits for its own first days"
        if not end_arming(connection, one.number, way=way, outcome=outcome, now=now):
            return None
        is_rolling = options.is_rolling(scorer=one.stream.scorer, app=one.stream.app)
        if counts is not None and traces >= LEAST_PINNED and not is_young and not is_rolling:
            _pin(connection, one, counts, found.failed_share, options=options, reason=outcome, now=now)
        note_change(connection, _find_changed(one, now=now), streams=(one.number,))
    return outcome


def _is_young(counts: BlockCounts, *, since: datetime) -> bool:
    return int(counts.block[0]) > number_block(since + _ALMOST)


def _pin(
    connection: Connection,
    one: StreamArming,
    counts: BlockCounts,
    failed_share: float,
    *,
    options: RegressionOptions,
    reason: str,
    now: datetime,
) -> None:
    if any(stored.reason for stored in read_baselines(connection, (one.number,)).get(one.number, ())):
        return  # a person chose one meanwhile
    begun = number_block(one.begun_at)
    given = StoredBaseline(
        None,
        one.number,
        number_block(one.begun_at - WINDOW),
        begun,
        begun,
        fit_baseline(counts, smallest_drop=options.smallest_drop),
        failed_share,
        reason,
    )
    replace_baselines(connection, (one.number,), now=now)
    write_baseline(connection, given, now=now)


def _find_changed(one: StreamArming, *, now: datetime) -> datetime:
    """A block that is judged anew: changes of more than a week ago are not."""
    return max(one.begun_at, now - WINDOW + timedelta(hours=2))
