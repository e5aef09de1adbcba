"""Which streams have no baseline yet, how far each is, and what it waits for."""

from __future__ import annotations

from datetime import timedelta

import numpy as np
import pytest
from sqlalchemy import text

from builders.score_counts import make_counts
from ragsonde.regression.block_lengths import BLOCK_SECONDS
from ragsonde.regression.blocks import count_blocks
from ragsonde.storage.arming_progress import Waits, read_arming
from ragsonde_schemas.score_stream import block_at
from services.regression_ground import RegressionGround

pytestmark = pytest.mark.integration
DAY = 288

ADD_ARMING = text(
    """
INSERT INTO stream_arming (stream_id, old_stream_id, way, begun_at, backfill_id, done, foreseen, ended_at)
VALUES (:stream, 0, :way, :at, :backfill, :done, :foreseen, :ended)
"""
)
ADD_BACKFILL = text(
    """
INSERT INTO backfill (judge, fingerprint, since, until, sample, rate_per_second, state, created_at, paced_at,
    foreseen, planned, scored, failed, is_looked_through)
VALUES ('lexical', 'f', '2026-10-01', '2026-10-08', 1, 5, 'running', now(), now(), 200, :planned, 40, 10,
    :is_over) RETURNING id
"""
)


@pytest.fixture
def ground(engine):
    return RegressionGround(engine)


def make_few(*, days, every):
    """A trace in each block of so many."""
    moments = np.arange(0, days * DAY, every) * BLOCK_SECONDS + 1.0
    return count_blocks(moments, np.arange(moments.size) % 3 / 2)


def add_arming(ground, stream, **columns):
    given = {"way": "backfill", "backfill": None, "done": 0, "foreseen": 0, "ended": None}
    with ground.engine.begin() as connection:
        connection.execute(
            ADD_ARMING, {**given, "stream": stream, "at": block_at(ground.first + DAY), **columns}
        )


def test_where_nothing_was_counted_nothing_waits(engine):
    assert read_arming(engine) == ()


def test_a_new_stream_waits_for_traces_and_is_gone_once_it_is_watched(ground):
    stream = ground.add_stream()
    counts = make_counts(days=3, per_block=4, seed=1)
    ground.count(stream, counts.between(0, DAY))
    ground.judge(until=DAY)
    (one,) = read_arming(ground.engine)
    assert (one.stream.scorer, one.stream.app, one.waits_for) == ("context_precision", "shop", Waits.TRACES)
    assert one.traces == counts.between(0, DAY).trace_count
    assert (one.needed, one.since) == (1_000, block_at(ground.first))
    assert one.share == pytest.approx(0.5)  # a day of two
    ground.count(stream, counts.between(DAY, 2 * DAY + 1))
    ground.judge(until=2 * DAY + 1)
    assert ground.read_state(stream).baseline is not None
    assert read_arming(ground.engine) == ()


def test_few_traces_lead_to_the_pinned_one(ground):
    stream = ground.add_stream()
    counts = make_few(days=5, every=4)
    ground.count(stream, counts)
    ground.judge(until=5 * DAY)
    (one,) = read_arming(ground.engine)
    assert (one.needed, one.waits_for) == (500, Waits.TRACES)
    assert one.traces == counts.trace_count
    assert one.share == pytest.approx(min(one.traces / 500, 5 / 7), abs=0.01)


def test_a_week_of_too_few_waits_for_a_person(ground):
    stream = ground.add_stream()
    counts = make_few(days=10, every=10)
    ground.count(stream, counts)
    ground.judge(until=10 * DAY)
    (one,) = read_arming(ground.engine)
    assert one.traces == counts.between(0, 7 * DAY).trace_count < 500
    assert one.waits_for is Waits.A_CHOICE
    assert one.share == pytest.approx(one.traces / 500)


def test_a_stream_without_traces_for_a_week_is_not_waited_for(ground):
    stream = ground.add_stream()
    ground.count(stream, make_counts(days=1, per_block=1, seed=4))
    ground.judge(until=12 * DAY)
    assert read_arming(ground.engine) == ()


@pytest.mark.parametrize(("planned", "is_over", "whole"), [(80, False, 200), (80, True, 80)])
def test_a_stream_that_took_anothers_place_tells_its_backfill(ground, planned, is_over, whole):
    stream = ground.add_stream()
    ground.count(stream, make_counts(days=2, per_block=4, seed=5))
    ground.close(2 * DAY)
    with ground.engine.begin() as connection:
        backfill = connection.execute(ADD_BACKFILL, {"planned": planned, "is_over": is_over}).scalar_one()
    add_arming(ground, stream, backfill=backfill)
    (one,) = read_arming(ground.engine)
    assert (one.traces, one.needed, one.waits_for) == (50, whole, Waits.BACKFILL)
    assert one.share == pytest.approx(50 / whole)
    assert one.since == block_at(ground.first + DAY)


def test_or_its_rescoring_and_afterwards_its_traces(ground):
    stream = ground.add_stream()
    ground.count(stream, make_counts(days=1, per_block=1, seed=6))
    ground.close(DAY)
    add_arming(ground, stream, way="rescore", done=30, foreseen=120)
    (one,) = read_arming(ground.engine)
    assert one[1:4] == (0.25, 30, 120)
    assert one.waits_for is Waits.RESCORE
    with ground.engine.begin() as connection:
        ended = {"now": ground.clock.now() - timedelta(hours=1)}
        connection.execute(text("UPDATE stream_arming SET ended_at = :now"), ended)
    (one,) = read_arming(ground.engine)
    assert one.waits_for is Waits.TRACES


def test_live_days_are_told_from_where_they_count(ground):
    """Not from stored traces of long before, which are no part of its baseline."""
    stream = ground.add_stream()
    ground.count(stream, make_few(days=3, every=10))
    add_arming(ground, stream, way="live", ended=ground.clock.now())
    ground.judge(until=3 * DAY)
    (one,) = read_arming(ground.engine)
    assert one.since == block_at(ground.first + DAY)
    assert one.traces == make_few(days=3, every=10).between(DAY, 3 * DAY).trace_count
