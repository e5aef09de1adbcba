"""Rules of extraction move beyond 10 points and chance against a day ago; a day later they are usual."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragsonde.regression.extraction_shares import Move, Rule, gather_shares

DAY, HOUR = 288, 12
NATIVE, OTHER = Rule("contexts", "native:contexts"), Rule("contexts", "openinference:retriever")


def count(blocks, *, share, per_block=20):
    """Of each block's traces so many by the other rule."""
    other = round(share * per_block)
    counts = {NATIVE.name: per_block - other, OTHER.name: other}
    kept = {name: n for name, n in counts.items() if n}
    return {block: {"contexts": kept} for block in blocks}


def find(rows, block):
    return gather_shares(rows).find_move(block)


def test_a_new_rule_is_named_once_an_hour_is_of_it():
    rows = count(range(2 * DAY), share=0) | count(range(2 * DAY, 2 * DAY + HOUR), share=1)
    assert find(rows, 2 * DAY - 1) is None
    assert find(rows, 2 * DAY + HOUR - 1) == Move(OTHER, 0.0, 1.0)


def test_a_share_that_moves_by_less_than_ten_points_has_not_moved():
    rows = count(range(2 * DAY), share=0.2) | count(range(2 * DAY, 2 * DAY + HOUR), share=0.25)
    assert find(rows, 2 * DAY + HOUR - 1) is None
    rows |= count(range(2 * DAY, 2 * DAY + HOUR), share=0.5)
    assert find(rows, 2 * DAY + HOUR - 1) is not None


def test_a_day_later_the_new_rule_is_the_usual_one():
    rows = count(range(2 * DAY), share=0) | count(range(2 * DAY, 4 * DAY), share=1)
    held = [block for block in range(2 * DAY, 4 * DAY) if find(rows, block) is not None]
    assert held == list(range(held[0], held[-1] + 1))
    assert held[0] - 2 * DAY < HOUR
    assert 20 * HOUR < held[-1] - held[0] <= DAY


def test_a_rule_that_is_used_by_night_alone_has_not_moved():
    night = [block for block in range(4 * DAY) if block % DAY < 6 * HOUR]
    rows = count(range(4 * DAY), share=0) | count(night, share=1)
    assert all(find(rows, block) is None for block in range(2 * DAY, 4 * DAY))


def test_of_few_traces_nothing_is_said():
    rows = count(range(2 * DAY), share=0, per_block=1) | count(
        range(2 * DAY, 2 * DAY + HOUR), share=1, per_block=1
    )
    assert find(rows, 2 * DAY + HOUR - 1) is None


def test_what_is_not_counted_yet_holds_nothing():
    assert find({}, 5) is None
    assert find(count(range(HOUR), share=1), HOUR - 1) is None


@given(
    st.lists(st.integers(0, 40), min_size=HOUR, max_size=HOUR),
    st.integers(0, 10**6),
)
def test_a_move_is_of_a_share_and_beyond_ten_points(others, begin):
    rows = count(range(begin, begin + DAY), share=0.3)
    for offset, other in enumerate(others):
        rows[begin + DAY + offset] = {"contexts": {NATIVE.name: 40 - other, OTHER.name: other}}
    move = find(rows, begin + DAY + HOUR - 1)
    after = sum(others) / (40 * HOUR)
    if move is not None:
        assert move.size > 0.10
        is_other = move.rule == OTHER
        assert move.before == pytest.approx(0.3 if is_other else 0.7)
        assert move.after == pytest.approx(after if is_other else 1 - after)
    else:
        assert abs(after - 0.3) < 0.21
