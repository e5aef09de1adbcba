from __future__ import annotations

import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragsonde.scoring.bands import find_band
from ragsonde.scoring.table import FORMULAS, find_formula

# edges and readings as the specification of the scorers words them
READINGS = {
    "context_position": [
        (1, "optimal"),
        (0.7, "good"),
        (0.4, "mixed"),
        (5e-324, "low"),
        (0, "nothing_relevant"),
    ],
    "statement_relevancy": [
        (1, "optimal"),
        (0.7, "good"),
        (0.4, "mixed"),
        (5e-324, "low"),
        (0, "nothing_relevant"),
    ],
    "context_precision": [
        (0.9, "excellent"),
        (0.7, "good"),
        (0.4, "moderate"),
        (5e-324, "low"),
        (0, "nothing_relevant"),
    ],
    "context_relevance": [(0.9, "excellent"), (0.7, "good"), (0.4, "mixed"), (0.2, "poor"), (0, "very_poor")],
    "essential_context": [(0.8, "very_focused"), (0.3, "mixed"), (0, "mostly_not_essential")],
}
EDGES = [(name, edge, key) for name, readings in READINGS.items() for edge, key in readings]


@pytest.mark.parametrize(("name", "edge", "key"), EDGES)
def test_the_lower_edge_belongs_to_the_band(name, edge, key):
    assert find_band(find_formula(name).bands, raw=edge).key == key


@pytest.mark.parametrize(
    ("name", "edge", "key"),
    [
        (name, upper, key)
        for name, readings in READINGS.items()
        for (upper, _), (_, key) in pairwise(readings)
    ],
)
def test_just_below_an_edge_lies_the_next_band(name, edge, key):
    assert find_band(find_formula(name).bands, raw=math.nextafter(edge, 0)).key == key


@given(raw=st.floats(0, 1), formula=st.sampled_from(FORMULAS))
def test_every_score_lies_in_exactly_the_highest_band_that_holds_it(raw, formula):
    band = find_band(formula.bands, raw=raw)
    assert band.holds(raw)
    higher = formula.bands[: formula.bands.index(band)]
    assert not any(other.holds(raw) for other in higher)


def test_essential_share_says_that_low_may_be_good():
    bands = {band.key: band.words for band in find_formula("essential_context").bands}
    assert bands == {
        "very_focused": "very focused or minimal retrieval",
        "mixed": "mixed, often ideal",
        "mostly_not_essential": "mostly not essential: may still be good retrieval",
    }
