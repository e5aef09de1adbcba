"""What a block does to the state of a stream."""

import math

import numpy as np
import pytest

from ragsonde.regression.alert_state import EventKind, Level, StreamState, step_state

LOG_PAGE = math.log(365 * 288)


def feed(state, growth, *, recovery=-1.0, blocks=1, may_page=True):
    """The state after equal blocks, and the events with the number of the block."""
    told = []
    for block in range(blocks):
        state, kind = step_state(
            state,
            block=block,
            growth=np.full(12, float(growth)),
            recovery=np.full(12, float(recovery)),
            log_page=LOG_PAGE,
            may_page=may_page,
        )
        if kind:
            told.append((kind, block))
    return state, told


def test_a_fall_warns_and_then_pages_once():
    state, told = feed(StreamState(), 2.0, blocks=40)
    # of equal growth g, R after n blocks is the sum of exp(g i): above exp(2 * 4 + 1) at 5, exp(11.6) at 6
    assert told == [(EventKind.WARN, 4), (EventKind.PAGE, 5)]
    assert (state.level, state.opened) == (Level.PAGED, 4)


def test_what_may_not_page_warns_only():
    state, told = feed(StreamState(), 2.0, blocks=40, may_page=False)
    assert told == [(EventKind.WARN, 4)]
    assert state.level is Level.WARNED


def test_an_alert_stays_until_30_days_of_evidence_of_recovery():
    fallen, _ = feed(StreamState(), 2.0, blocks=6)
    still, told = feed(fallen, -1.0, recovery=0.0, blocks=500)
    assert (still.level, told) == (Level.PAGED, [])
    well, told = feed(fallen, -1.0, recovery=1.0, blocks=9)
    # the sum of exp(i) for i to 9 is 12,800 blocks; to 8 it is 4,700; 30 days are 8,640
    assert told == [(EventKind.RESOLVE, 8)]
    assert well.level is Level.QUIET
    assert well.opened is None
    assert well.log_evidence == -math.inf


def test_without_an_alert_recovery_gathers_no_evidence():
    state, _ = feed(StreamState(), 0.0, recovery=5.0, blocks=50)
    assert state.log_recovered == -math.inf
    assert math.exp(state.log_evidence) == pytest.approx(50)


def test_another_baseline_leaves_an_alert_open_and_begins_evidence_anew():
    fallen, _ = feed(StreamState(), 2.0, blocks=6)
    rebased = fallen.rebase()
    assert (rebased.level, rebased.opened) == (Level.PAGED, 4)
    assert rebased.log_evidence == rebased.log_recovered == -math.inf
