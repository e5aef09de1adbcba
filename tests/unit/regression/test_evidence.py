"""Shiryaev and Roberts' sum, against the sum over all beginnings that it stands for."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders.score_counts import make_counts
from ragsonde.regression.baseline import fit_baseline
from ragsonde.regression.evidence import (
    advance_evidence,
    count_evidence_days,
    grow_blocks,
    start_evidence,
    sum_evidence,
)

BETS = 12
blocks_of_growth = st.lists(st.lists(st.floats(-3, 3), min_size=BETS, max_size=BETS), min_size=1, max_size=12)
NO_CAP = 1e9


def run(growth, *, log_bets=None, log_threshold=NO_CAP):
    log_bets = start_evidence(1) if log_bets is None else log_bets
    for one in growth:
        log_bets = advance_evidence(
            log_bets, np.array([one]), has_traces=np.array([True]), log_threshold=log_threshold
        )
    return log_bets


@given(blocks_of_growth)
def test_evidence_is_the_sum_over_all_beginnings(growth):
    total = 0.0
    for begin in range(len(growth)):
        for bet in range(BETS):
            total += math.prod(math.exp(block[bet]) for block in growth[begin:])
    assert sum_evidence(run(growth))[0] == pytest.approx(math.log(total / BETS), abs=1e-9)


@given(blocks_of_growth, st.integers(0, 12))
def test_going_on_from_a_stored_state_changes_nothing(growth, cut):
    whole = run(growth)
    assert sum_evidence(run(growth[cut:], log_bets=run(growth[:cut])))[0] == pytest.approx(
        sum_evidence(whole)[0], abs=1e-9
    )


@given(blocks_of_growth, st.integers(1, 400))
def test_blocks_without_traces_change_nothing(growth, idle):
    before = run(growth)
    after = before
    for _ in range(idle):
        after = advance_evidence(
            after, np.full((1, BETS), 5.0), has_traces=np.array([False]), log_threshold=NO_CAP
        )
    assert after.tolist() == before.tolist()


def test_at_rest_there_is_no_evidence():
    assert sum_evidence(start_evidence(3)).tolist() == [-math.inf] * 3
    assert count_evidence_days(-math.inf) == 0.0


def test_from_rest_a_threshold_needs_four_blocks():
    threshold = math.log(365 * 288)
    endless = [[1e6] * BETS] * 4
    reached = [
        float(sum_evidence(run(endless[:blocks], log_threshold=threshold))[0]) >= threshold
        for blocks in (1, 2, 3, 4)
    ]
    assert reached == [False, False, False, True]


def test_days_are_blocks_of_five_minutes_and_end_at_a_thousand_million():
    assert count_evidence_days(math.log(288 * 40)) == pytest.approx(40)
    assert count_evidence_days(1e4) == 1e9


def test_growth_of_a_block_is_summed_over_strata_and_divided_by_phi():
    baseline = fit_baseline(make_counts(days=7, per_block=8, strata=("a", "b"), mean=0.8, seed=1))
    watched = make_counts(days=1, per_block=4, strata=("b", "a"), mean=0.7, seed=2)
    blocks, growth = grow_blocks(watched, baseline)
    level_of = dict(zip(baseline.cells.names, baseline.levels.tolist(), strict=True))
    expected = {}
    for block, stratum, bin_, count in zip(
        watched.block, watched.stratum, watched.bin, watched.count, strict=True
    ):
        level = level_of[watched.strata[stratum]]
        for bet in range(BETS):
            stake = min(0.05 * 60 ** (bet / 11), 0.95 / (1 - level))
            grown = count * math.log(1 + stake * (level - bin_ / 100)) / baseline.overdispersion
            expected.setdefault(int(block), [0.0] * BETS)[bet] += grown
    assert blocks.tolist() == sorted(expected)
    assert growth == pytest.approx(np.array([expected[block] for block in blocks.tolist()]), abs=1e-9)


def test_independent_traces_at_the_level_pass_a_threshold_no_more_often_than_it_says():
    """R is the number of blocks on average or less, so that R >= c comes in n / c of streams or fewer."""
    random = np.random.default_rng(3)
    streams, blocks, level = 4000, 60, 0.7
    scores = np.where(random.random((streams, blocks)) < level, 1.0, 0.0)
    stakes = np.minimum(np.geomspace(0.05, 3, BETS), 0.95 / (1 - level))
    log_bets = start_evidence(streams)
    has_traces = np.ones(streams, bool)
    for block in range(blocks):
        growth = np.log1p(stakes * (level - scores[:, block, None]))
        log_bets = advance_evidence(log_bets, growth, has_traces=has_traces, log_threshold=NO_CAP)
    assert np.exp(sum_evidence(log_bets)).mean() == pytest.approx(blocks, rel=0.5)
    assert (sum_evidence(log_bets) >= math.log(20 * blocks)).mean() <= 1 / 20
