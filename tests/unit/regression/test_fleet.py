"""Many streams at once are each as if alone."""

import math
from dataclasses import astuple

import numpy as np

from builders.score_counts import make_counts
from ragsonde.regression.alert_state import Level, StreamState, step_state
from ragsonde.regression.baseline import fit_baseline
from ragsonde.regression.blocks import count_blocks
from ragsonde.regression.evidence import grow_blocks
from ragsonde.regression.fleet import StreamBlock, step_streams
from ragsonde.regression.recovery import grow_recovery

LOG_PAGE = math.log(365 * 288 * 3)
NOTHING = count_blocks([], [])


def step_alone(state, counts, baseline, *, block):
    _, growth = grow_blocks(counts, baseline)
    if not growth.size:
        return state, None
    _, recovery = grow_recovery(counts, baseline)
    return step_state(state, block=block, growth=growth[0], recovery=recovery[0], log_page=LOG_PAGE)


def test_streams_that_fall_recover_idle_or_cannot_be_watched_do_as_alone():
    week = make_counts(days=7, per_block=6, mean=0.8, strata=("a", "b"), seed=1)
    baselines = [
        fit_baseline(week),
        fit_baseline(make_counts(days=7, per_block=6, seed=2)),
        fit_baseline(week),
    ]
    blind = fit_baseline(make_counts(days=7, per_block=6, mean=0.0))
    together = [StreamState() for _ in range(5)]
    alone = list(together)
    told_together, told_alone = [], []
    for block in range(7 * 288, 7 * 288 + 240):
        falls = block < 7 * 288 + 60
        parts = [
            make_counts(
                days=1 / 288, per_block=9, mean=0.4 if falls else 0.85, strata=("a", "b"), seed=block
            ),
            make_counts(days=1 / 288, per_block=9, mean=0.8, seed=block + 1),
            NOTHING,
            make_counts(days=1 / 288, per_block=9, mean=0.0, seed=block + 2),
            make_counts(days=1 / 288, per_block=9, mean=0.8, strata=("b", "x"), seed=block + 3),
        ]
        of = [baselines[0], baselines[1], baselines[2], blind, baselines[2]]
        stepped = step_streams(
            [StreamBlock(*row) for row in zip(together, parts, of, strict=True)],
            block=block,
            log_page=LOG_PAGE,
        )
        together = [state for state, _ in stepped]
        told_together += [kind for _, kind in stepped if kind]
        results = [step_alone(*row, block=block) for row in zip(alone, parts, of, strict=True)]
        alone = [state for state, _ in results]
        told_alone += [kind for _, kind in results if kind]
    assert [str(kind) for kind in told_together] == ["warn", "page", "resolve"]
    assert told_together == told_alone
    for one, other in zip(together, alone, strict=True):
        assert np.allclose(one.log_bets, other.log_bets, rtol=0, atol=1e-9)
        assert astuple(one)[2:] == astuple(other)[2:]


def test_no_streams_are_no_results():
    assert step_streams([], block=0, log_page=LOG_PAGE) == []


def test_an_open_alert_stays_as_it_is_while_there_are_no_traces():
    baseline = fit_baseline(make_counts(days=7, per_block=6))
    opened = StreamState(log_bets=np.full(12, 20.0), level=Level.PAGED, opened=3)
    assert step_streams([StreamBlock(opened, NOTHING, baseline)], block=9, log_page=LOG_PAGE) == [
        (opened, None)
    ]
