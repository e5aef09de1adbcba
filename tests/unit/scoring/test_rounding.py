from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragsonde.scoring.rounding import drop_noise, half_up2, is_finite_throughout, show2
from unit.scoring.exact_scores import round_half_up


@pytest.mark.parametrize(
    ("number", "rounded"),
    [
        (0.375, 0.38),
        (0.125, 0.13),
        (0.145, 0.15),
        (1.005, 1.01),
        (0.285, 0.29),
        (0.0, 0.0),
        (72.727272, 72.73),
    ],
)
def test_halves_go_up_even_where_the_binary_value_lies_below(number, rounded):
    assert half_up2(number) == rounded


@given(parts=st.integers(0, 400), whole=st.integers(1, 400), scale=st.sampled_from([1, 2, 5, 10, 100]))
def test_every_share_is_rounded_like_its_exact_fraction(parts, whole, scale):
    parts = min(parts, whole)
    assert half_up2(parts / whole * scale) == round_half_up(Fraction(parts, whole) * scale)


def test_pythons_round_would_be_wrong():
    assert round(0.125, 2) != half_up2(0.125)
    assert f"{0.125:.2f}" != show2(0.125) == "0.13"


@pytest.mark.parametrize("number", [math.inf, -math.inf, math.nan])
def test_what_is_not_finite_is_never_rounded(number):
    with pytest.raises((OverflowError, ValueError)):
        half_up2(number)


def test_noise_that_hides_an_edge_is_dropped():
    assert drop_noise(0.39999999999999997) == 0.4
    assert drop_noise(sum([0.7] * 3) / 3) == 0.7
    assert drop_noise(1 / 3) == pytest.approx(1 / 3, abs=1e-14)


@pytest.mark.parametrize("tree", [1.0, "nan", None, True, 10, {"a": [1.5, {"b": (2.5,)}]}, [], {}])
def test_trees_of_finite_numbers(tree):
    assert is_finite_throughout(tree)


@pytest.mark.parametrize("number", [math.inf, -math.inf, math.nan])
def test_trees_that_hide_what_is_not_finite(number):
    assert not is_finite_throughout(number)
    assert not is_finite_throughout({"a": [1.5, {"b": (2.5, [number])}]})


def test_a_very_deep_tree_is_walked():
    tree = [math.nan]
    for _ in range(100_000):
        tree = [tree]
    assert not is_finite_throughout(tree)
