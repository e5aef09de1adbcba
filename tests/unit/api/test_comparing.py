import pytest

from ragsonde.api.comparing import MOST_CHANGED, compare_pairs
from ragsonde.storage.score_pairs import Pair


def pair(number, old, new, *, scorer="relevance"):
    return Pair(f"t-{number}", "shop", scorer, old, new)


def test_means_paired_change_share_moved_and_what_moved_most():
    changes = [0.0, 0.01, 0.02, 0.03, -0.3, 0.1, -0.05, 0.2, 0.04]
    compared = compare_pairs(pair(n, 0.5, 0.5 + change) for n, change in enumerate(changes))
    one = compared["relevance"]
    assert one.shift.before.summarise().mean == pytest.approx(0.5)
    assert one.shift.change.summarise().mean == pytest.approx(sum(changes) / 9)
    # by hand: s = sqrt(sum((c - mean)^2) / 8), t(8, .975) = 2.306004
    mean = sum(changes) / 9
    deviation = (sum((c - mean) ** 2 for c in changes) / 8) ** 0.5
    assert one.shift.change.summarise().reach == pytest.approx(2.306004 * deviation / 3, rel=1e-5)
    assert one.share_moved == pytest.approx(6 / 9)
    assert [changed.trace_id for changed in one.most_changed] == ["t-4", "t-7", "t-5", "t-6", "t-8"]
    assert len(one.most_changed) == MOST_CHANGED


def test_scorers_stay_apart_and_without_pairs_nothing_is_said():
    compared = compare_pairs([pair(1, 0.1, 0.9), pair(1, 0.5, 0.5, scorer="precision")])
    assert [(name, one.share_moved) for name, one in compared.items()] == [("precision", 0), ("relevance", 1)]
    assert compare_pairs([]) == {}


def test_of_many_equal_changes_the_same_are_named_however_they_come():
    pairs = [pair(n, 0.0, 0.5) for n in range(20)]
    forwards, backwards = compare_pairs(pairs), compare_pairs(reversed(pairs))
    assert forwards["relevance"].most_changed == backwards["relevance"].most_changed
