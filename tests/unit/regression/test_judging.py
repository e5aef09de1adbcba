"""The monitor judges to where a replay of the whole history leads, however it is cut; told stays told."""

from __future__ import annotations

import numpy as np
import pytest

from builders.score_counts import join_counts, make_counts
from ragsonde.regression.alert_state import EventKind, Level
from ragsonde.regression.block_lengths import BLOCKS_PER_DAY
from ragsonde.regression.holds import COVERAGE
from ragsonde.regression.judging import judge_blocks
from ragsonde.regression.latching import ToldFall
from ragsonde.regression.replay import replay
from ragsonde.regression.threshold import find_log_blocks, find_page_threshold
from ragsonde.regression.watched_stream import Outcomes, WatchedStream

LOG_PAGE = find_log_blocks(find_page_threshold(1))
STRATA = ("a", "b")
FALL = join_counts(
    make_counts(days=9, per_block=4, strata=STRATA, seed=1),
    make_counts(days=2, per_block=4, mean=0.6, first_day=9, strata=STRATA, seed=2),
    make_counts(days=2, per_block=4, first_day=11, strata=STRATA, seed=3),
)
END = 13 * BLOCKS_PER_DAY


def count_outcomes(counts, *, failed=None):
    failed = failed or {}
    scored = {}
    for block, count in zip(counts.block.tolist(), counts.count.tolist(), strict=True):
        scored[block] = scored.get(block, 0) + count
    return {block: Outcomes(n, failed.get(block, 0)) for block, n in scored.items()}


def watch(counts, *, end=END, failed=None, **fields):
    given = counts.between(0, end)
    return WatchedStream(
        **{
            "number": 1,
            "begun": 0,
            "counts": given,
            "outcomes": count_outcomes(given, failed=failed),
            "resumed": -1,
            **fields,
        }
    )


def judge(stream):
    return judge_blocks([stream], find_log_page=lambda _: LOG_PAGE)


def resume(stream, counts, *, end, after=None, **fields):
    """The same stream in another pass, from the last block or the last one of an earlier day."""
    last = stream.snapshots[max(stream.snapshots) if after is None else after]
    return watch(
        counts,
        end=end,
        resumed=last.block,
        judged=max(one.block for one in stream.snapshots.values()),
        part=last.part,
        armed=last.armed,
        state=last.state,
        falls=stream.falls,
        **fields,
    )


def describe(told):
    return [(one.kind, one.block) for one in told]


def assert_same(state, other):
    assert (state.level, state.opened) == (other.level, other.opened)
    assert np.allclose(state.log_bets, other.log_bets, rtol=0, atol=1e-9)
    assert np.allclose(state.log_recovery, other.log_recovery, rtol=0, atol=1e-9)


def test_a_whole_history_leads_where_its_replay_leads():
    stream = watch(FALL)
    told = judge(stream)
    expected = replay(FALL)
    assert describe(told) == [(one.kind, one.block) for one in expected.events]
    assert [one.kind for one in told] == [EventKind.WARN, EventKind.PAGE, EventKind.RESOLVE]
    assert_same(stream.state, expected.state)


@pytest.mark.parametrize("step", [23, 500])
def test_however_the_history_is_cut_it_leads_to_the_same(step):
    stream, told = watch(FALL, end=8 * BLOCKS_PER_DAY), []
    told += judge(stream)
    for end in range(8 * BLOCKS_PER_DAY + step, 12 * BLOCKS_PER_DAY, step):
        stream = resume(stream, FALL, end=end)
        told += judge(stream)
    expected = replay(FALL.between(0, end))
    assert describe(told) == [(one.kind, one.block) for one in expected.events]
    assert_same(stream.state, expected.state)


def test_what_comes_late_is_judged_as_if_it_had_been_there():
    gone = (8 * BLOCKS_PER_DAY + 5, 8 * BLOCKS_PER_DAY + 60)
    early = join_counts(FALL.between(0, gone[0]), FALL.between(gone[1], END))
    end = 9 * BLOCKS_PER_DAY
    stream = watch(early, end=end)
    judge(stream)
    again = resume(stream, FALL, end=end, after=7)
    judge(again)
    assert_same(again.state, replay(FALL.between(0, end)).state)


def test_what_was_told_is_not_told_again_when_its_days_are_judged_anew():
    stream = watch(FALL, end=11 * BLOCKS_PER_DAY)
    told = judge(stream)
    assert [one.kind for one in told] == [EventKind.WARN, EventKind.PAGE]
    again = resume(stream, FALL, end=11 * BLOCKS_PER_DAY, after=8)
    assert judge(again) == ()
    assert_same(again.state, stream.state)


def test_an_alert_stays_open_though_its_traces_turn_out_to_be_well():
    stream = watch(FALL, end=10 * BLOCKS_PER_DAY)
    first = judge(stream)[0]
    well = make_counts(days=13, per_block=4, strata=STRATA, seed=1)
    again = resume(stream, well, end=first.block + 3, after=8)
    assert judge(again) == ()
    assert again.state.level is not Level.QUIET
    assert again.state.opened == first.block
    later = resume(again, well, end=13 * BLOCKS_PER_DAY)
    assert [one.kind for one in judge(later)] == [EventKind.RESOLVE]


def test_an_open_alert_ends_when_late_scores_show_recovery():
    worse = make_counts(days=2, per_block=4, mean=0.6, first_day=11, strata=STRATA, seed=4)
    stream = watch(join_counts(FALL.between(0, 11 * BLOCKS_PER_DAY), worse))
    assert [one.kind for one in judge(stream)] == [EventKind.WARN, EventKind.PAGE]
    again = resume(stream, FALL, end=END, after=10)
    (told,) = judge(again)
    assert told.kind is EventKind.RESOLVE
    assert again.state.level is Level.QUIET
    assert [fall.closed for fall in again.falls] == [told.block]


def test_a_fall_that_was_closed_stays_closed():
    closed = 9 * BLOCKS_PER_DAY + 200
    stream = watch(
        FALL, end=closed + 1, judged=closed, falls=[ToldFall(9 * BLOCKS_PER_DAY + 100, closed=closed)]
    )
    assert judge(stream) == ()
    assert stream.state.level is Level.QUIET
    assert np.isneginf(stream.state.log_bets).all()


def test_while_judgements_fail_more_often_blocks_bring_no_evidence():
    end = 10 * BLOCKS_PER_DAY
    failed = dict.fromkeys(range(9 * BLOCKS_PER_DAY - COVERAGE_LEAD, end), 1)
    stream = watch(FALL, end=end, failed=failed)
    assert judge(stream) == ()
    assert stream.hold == COVERAGE
    usual = watch(FALL, end=end, failed=dict.fromkeys(range(end), 1))
    assert [one.kind for one in judge(usual)] == [EventKind.WARN, EventKind.PAGE]
    assert usual.hold is None


COVERAGE_LEAD = 12


def test_scores_that_are_good_near_a_target_only_warn():
    stream = watch(FALL, end=11 * BLOCKS_PER_DAY, can_page=False)
    assert [one.kind for one in judge(stream)] == [EventKind.WARN]


def test_a_provisional_baseline_only_warns():
    counts = join_counts(
        make_counts(days=2, per_block=4, seed=1),
        make_counts(days=3, per_block=4, mean=0.6, first_day=2, seed=2),
    )
    stream = watch(counts, end=3 * BLOCKS_PER_DAY)
    assert [one.kind for one in judge(stream)] == [EventKind.WARN]
    assert replay(counts.between(0, 3 * BLOCKS_PER_DAY)).state.level is Level.WARNED


def test_streams_are_judged_side_by_side_as_alone():
    other = make_counts(days=13, per_block=2, seed=9)
    together = [watch(FALL), watch(other, number=2)]
    told = judge_blocks(together, find_log_page=lambda _: LOG_PAGE)
    alone = [watch(FALL), watch(other, number=2)]
    expected = [one for stream in alone for one in judge(stream)]
    assert sorted(describe(told)) == sorted(describe(expected))
    for one, two in zip(together, alone, strict=True):
        assert_same(one.state, two.state)
