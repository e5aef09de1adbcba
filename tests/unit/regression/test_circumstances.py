"""What is told of contexts, answers and the check set, and when nothing is."""

from __future__ import annotations

import statistics

import numpy as np
import pytest

from ragsonde.regression.circumstances import (
    SeenHeads,
    SeenTrace,
    compare_answers,
    compare_checks,
    compare_contexts,
)

FIRM = np.linspace(-0.05, 0.05, 100)


def see(before, after):
    return [SeenTrace(False, *one) for one in before] + [SeenTrace(True, *one) for one in after]


def test_fewer_contexts_are_told_with_both_spreads():
    before, after = [(number % 3 + 4, 1000) for number in range(60)], [(2, 1000)] * 40
    found = compare_contexts(see(before, after))
    assert found == {
        "n_before": 60,
        "n_after": 40,
        "count": {
            "before": {"mean": 5.0, "p10": 4.0, "p50": 5.0, "p90": 6.0},
            "after": {"mean": 2.0, "p10": 2.0, "p50": 2.0, "p90": 2.0},
        },
    }


def test_shorter_contexts_are_told_and_what_stayed_is_not():
    found = compare_contexts(see([(5, 4000 + n) for n in range(50)], [(5, 900 + n) for n in range(50)]))
    assert set(found) == {"n_before", "n_after", "characters"}
    assert found["characters"]["after"]["mean"] == pytest.approx(924.5)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ([(5, 1000)] * 50, [(5, 1000)] * 50),
        ([(5, 1000)] * 50, [(5, 1050)] * 50),
        ([(5, 1000)] * 50, [(1, 100)] * 19),
        ([(None, None)] * 50, [(None, None)] * 50),
        ([(1, 10), (20, 2000)] * 10, [(1, 10), (26, 2600)] * 10),
        ([], []),
    ],
)
def test_of_small_chance_or_unknown_changes_nothing_is_told(before, after):
    assert compare_contexts(see(before, after)) is None


def judge(*, retrieval, answer, declined=0):
    """Traces of one side, as (retrieval, answer)."""
    return [
        (retrieval + shift, None if place < declined else answer + shift) for place, shift in enumerate(FIRM)
    ]


def answers(before, after):
    seen = [SeenHeads(False, *one) for one in before] + [SeenHeads(True, *one) for one in after]
    return compare_answers(seen, smallest_drop=0.02)


def test_answers_that_fit_less_over_steady_retrieval_are_told():
    found = answers(judge(retrieval=0.6, answer=0.7), judge(retrieval=0.6, answer=0.5))
    assert found == {
        "retrieval_before": pytest.approx(0.6),
        "retrieval_after": pytest.approx(0.6),
        "answer_before": pytest.approx(0.7),
        "answer_after": pytest.approx(0.5),
        "declined_before": 0.0,
        "declined_after": 0.0,
        "n_before": 100,
        "n_after": 100,
    }


def test_more_answers_that_decline_are_told():
    found = answers(judge(retrieval=0.6, answer=0.7), judge(retrieval=0.6, answer=0.7, declined=60))
    assert (found["declined_before"], found["declined_after"]) == (0.0, pytest.approx(0.6))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (judge(retrieval=0.6, answer=0.7), judge(retrieval=0.4, answer=0.5)),
        (judge(retrieval=0.6, answer=0.7), judge(retrieval=0.6, answer=0.7)),
        (judge(retrieval=0.6, answer=0.7), judge(retrieval=0.6, answer=0.8)),
        (judge(retrieval=0.6, answer=0.7), judge(retrieval=0.6, answer=0.5)[:19]),
        ([], []),
    ],
)
def test_where_retrieval_moved_or_answers_did_not_nothing_is_told(before, after):
    assert answers(before, after) is None


def test_the_drift_of_the_check_set_is_that_of_its_pairs():
    pairs = [(0.8, 0.5), (0.6, 0.4), (0.7, 0.4)]
    found = compare_checks(pairs, smallest_drop=0.02)
    differences = [after - before for before, after in pairs]
    assert found["drift"] == pytest.approx(statistics.fmean(differences))
    assert found["stderr"] == pytest.approx(statistics.stdev(differences) / 3**0.5)
    assert (found["n"], found["has_moved"]) == (3, True)
    assert (found["before"], found["after"]) == (pytest.approx(0.7), pytest.approx(1.3 / 3))


@pytest.mark.parametrize(
    ("pairs", "moved", "steady"),
    [
        ([(0.8, 0.79)] * 20, False, True),
        ([(0.8, 0.79)] * 19, False, False),
        ([(0.8, 0.5)], False, False),
        ([(0.8, 0.8)], False, False),
        ([(0.8, 0.7)] * 5, True, False),
        ([(0.8, 0.7)] * 50, True, False),
        ([(0.8, 0.2), (0.2, 0.8)] * 20, False, False),
        ([(0.8, 0.72), (0.7, 0.72)] * 200, True, False),
    ],
)
def test_it_has_moved_only_beyond_what_matters_and_chance_and_is_steady_only_where_it_would_be_seen(
    pairs, moved, steady
):
    found = compare_checks(pairs, smallest_drop=0.02)
    assert (found["has_moved"], found["is_steady"]) == (moved, steady)
    assert compare_checks([], smallest_drop=0.02) is None
