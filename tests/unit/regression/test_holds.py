"""Blocks that bring no evidence, as too many judgements fail in them."""

import pytest

from builders.score_counts import join_counts, make_counts
from ragsonde.regression.holds import COVERAGE, find_hold
from ragsonde.regression.replay import replay

DAY = 288


@pytest.mark.parametrize(
    ("scored", "failed", "hold"), [(0, 19, None), (0, 20, COVERAGE), (18, 2, None), (17, 3, COVERAGE)]
)
def test_a_tenth_more_failures_hold_from_twenty_outcomes_on(scored, failed, hold):
    assert find_hold({7: (scored, failed)}, 0.0, block=7) == hold


def test_a_fall_among_failing_judgements_is_not_told_until_they_are_well_again():
    counts = join_counts(
        make_counts(days=9, per_block=6, seed=1),
        make_counts(days=4, per_block=6, mean=0.6, seed=2, first_day=9),
    )
    failing = {block: (6, 6 if 9 * DAY <= block < 11 * DAY else 0) for block in range(13 * DAY)}
    told = [event.block // DAY for event in replay(counts, outcomes=failing).events]
    assert told == [11, 11]
    assert [event.block // DAY for event in replay(counts).events] == [9, 9]
