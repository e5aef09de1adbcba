"""Sums that are taken from blocks are those of the rows, whatever has just come, and never count twice."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import text

from fakes.clock import NOON
from ragsonde.storage.counted_scores import MOST_READ, sum_counted
from ragsonde.storage.recent_scores import summarise_scores as summarise_table
from ragsonde.storage.table_names import PARTITIONED
from ragsonde.storage.watched_live import look_back
from ragsonde.storage.watched_scores import summarise_scores
from ragsonde.storage.watching import SPAN, PostgresWatching
from services.block_ground import BlockGround, minutes

pytestmark = pytest.mark.integration
_BACKFILL = text(
    "INSERT INTO backfill (since, until, sample, rate_per_second, state, created_at, paced_at)"
    " VALUES (:at, :at, 1, 1, 'done', :at, :at) RETURNING id"
)


@pytest.fixture
def ground(own_engine):
    ground = BlockGround(own_engine)
    ground.begin()
    return ground


def read_both(ground, *, has_bins=True):
    """What blocks tell of the last day, and what rows tell."""
    now = ground.clock.now()
    stretch = look_back(now, SPAN)
    counted = sum_counted(ground.engine, stretch, now=now, has_bins=has_bins)
    rows = summarise_scores(ground.engine, stretch).scorers
    return None if counted is None else tell(counted.summarise(share=1.0)), tell(rows)


def tell(summaries):
    return {
        (place.app, place.environment, one.stream): (
            one.n,
            round(one.mean, 7),
            None if one.deviation is None else round(one.deviation, 6),
            one.bins,
        )
        for place, found in summaries.items()
        for one in found
        if one.n
    }


def admit_some(ground, *, hours=30, each=3):
    """Traces of the last hours, the oldest first, and the clock at the end."""
    for hour in range(hours):
        for number in range(each):
            at = NOON + timedelta(hours=hour, minutes=7 * number)
            ground.admit(f"t-{hour}-{number}", raw=(hour * 7 + number) % 101 / 100, occurred_at=at)
    ground.clock.advance(3600 * hours)


def test_counted_and_open_blocks_and_the_edge_of_a_day_are_summed_once(ground):
    admit_some(ground)
    ground.count(minutes=6)
    ground.clock.advance(121)
    ground.admit("now", raw=0.33, occurred_at=ground.clock.now())
    counted, rows = read_both(ground)
    assert counted == rows
    # looked at 8:01 past the hour: of the first hour one of three, of 23 hours all, and what is new
    assert {n for n, *_ in rows.values()} == {1 + 23 * 3 + 1}


def test_what_came_late_into_a_counted_block_is_there_at_once(ground):
    admit_some(ground, hours=3)
    ground.count(minutes=10)
    before, _ = read_both(ground)
    ground.admit("late", raw=1.0, occurred_at=NOON + minutes(60))
    counted, rows = read_both(ground)
    assert counted == rows
    assert counted != before


def test_a_block_that_is_marked_is_read_from_rows(ground):
    admit_some(ground, hours=2)
    ground.count(minutes=10)
    ground.forget("t-1-0")
    with ground.engine.begin() as connection:  # what is counted of it no more is what it was
        connection.execute(
            text("UPDATE score_block SET total = total + 1 WHERE start = :at"), {"at": NOON + minutes(60)}
        )
    counted, rows = read_both(ground)
    assert counted == rows


def test_counts_are_taken_and_not_rows(ground):
    """Otherwise all of this would hold without blocks."""
    admit_some(ground, hours=2)
    ground.count(minutes=10)
    ground.clock.advance(1200)
    ground.count()
    with ground.engine.begin() as connection:
        connection.execute(text("UPDATE score_block SET n = n + 5 WHERE start = :at AND n > 0"), {"at": NOON})
    counted, rows = read_both(ground)
    assert {n for n, *_ in counted.values()} == {11}
    assert {n for n, *_ in rows.values()} == {6}


def test_a_superseded_revision_is_in_no_sum(ground):
    ground.admit("t-1", raw=0.1, occurred_at=NOON)
    ground.count(minutes=20)
    ground.admit("t-1", raw=0.9, occurred_at=NOON, answer="Another answer.")
    counted, rows = read_both(ground)
    assert counted == rows
    assert {(n, mean) for n, mean, *_ in counted.values()} == {(1, 0.9)}


def test_what_was_scored_anew_is_left_to_the_rows(ground):
    admission = ground.admit("t-1", raw=0.1, occurred_at=NOON)
    ground.admit("t-2", raw=0.2, occurred_at=NOON)
    ground.count(minutes=20)
    ground.rescore(admission, raw=0.7)
    ground.count(minutes=20)
    assert read_both(ground)[0] is None


def test_what_a_backfill_brought_is_left_to_the_rows(ground):
    ground.admit("t-1", raw=0.1, occurred_at=NOON)
    ground.count(minutes=20)
    assert read_both(ground)[0] is not None
    with ground.engine.begin() as connection:
        number = connection.execute(_BACKFILL, {"at": ground.clock.now()}).scalar_one()
        connection.execute(text("UPDATE evaluation SET backfill_id = :number"), {"number": number})
    assert read_both(ground)[0] is None


def test_nothing_is_told_before_anything_was_counted_or_when_too_much_waits(ground, own_engine):
    with own_engine.begin() as connection:
        connection.execute(text("UPDATE score_block_cursor SET closed_until = NULL"))
    ground.admit("t-1", raw=0.1, occurred_at=NOON)
    assert read_both(ground)[0] is None
    ground.restart()
    ground.count(minutes=20)
    assert read_both(ground)[0] is not None
    ground.clock.advance(300 * (MOST_READ + 1))
    assert read_both(ground)[0] is None


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    steps=st.lists(
        st.one_of(
            st.tuples(st.just("admit"), st.integers(-300, 0), st.integers(0, 100)),
            st.tuples(st.just("count"), st.just(0), st.just(0)),
            st.tuples(st.just("wait"), st.integers(1, 20), st.just(0)),
        ),
        max_size=12,
    )
)
def test_whenever_somebody_looks_both_tell_the_same(own_engine, steps):
    with own_engine.begin() as connection:
        for table in (*PARTITIONED, "dirty_mark", "score_block_cursor"):
            connection.execute(text(f"DELETE FROM {table}"))  # noqa: S608 - a constant
    ground = BlockGround(own_engine)
    ground.begin()
    for number, (step, back, raw) in enumerate(steps):
        if step == "admit":
            at = ground.clock.now() + minutes(back)
            ground.admit(f"h-{number}", raw=raw / 100, occurred_at=at)
        elif step == "count":
            ground.count()
        else:
            ground.clock.advance(60 * back)
        counted, rows = read_both(ground)
        assert counted is None or counted == rows


@pytest.fixture
def few(monkeypatch):
    """So little of the rows is enough that a part of them is looked at."""
    monkeypatch.setattr("ragsonde.storage.span_scores.FEW_BLOCKS", 8)
    monkeypatch.setattr("ragsonde.storage.watched_trends.MOST_BLOCKS", 1)


@pytest.mark.usefixtures("few")
def test_the_overview_of_many_tells_all_scores_as_the_table_does(ground):
    for number in range(200):
        at = NOON + minutes(number)
        ground.admit(f"t-{number}", raw=number % 101 / 100, occurred_at=at, environment="production")
    ground.count(minutes=206)
    watching = PostgresWatching(ground.engine, clock=ground.clock, limits={}, comparable=[])
    (place,) = watching.read_overview().places
    found = {(one.stream.scorer, one.stream.version): one for one in place.scorers if one.n}
    since = NOON - timedelta(days=3650)
    table = {(one.scorer, one.version): one for one in summarise_table(ground.engine, since=since) if one.n}
    assert found.keys() == table.keys()
    for key, one in found.items():
        assert (one.n, one.share) == (200, 1.0)
        assert one.mean == pytest.approx(table[key].mean_raw, abs=1e-9)
        assert one.outcome_share < 1
        assert one.below_of < 200
        assert sum(one.bins) == 200
        assert [(day.n, day.mean) for day in one.days] == [(200, pytest.approx(one.mean))]
