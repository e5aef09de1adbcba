from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragsonde.decoding.tracestate import find_sampling_probability


@pytest.mark.parametrize(
    ("tracestate", "probability"),
    [
        ("ot=th:0", 1.0),
        ("ot=th:8", 0.5),
        ("ot=th:c", 0.25),
        ("ot=th:c;rv:6e6d1a75832a2f", 0.25),
        ("ot=rv:6e6d1a75832a2f;th:fd70a4", 0.01),
        ("vendor=x,ot=th:8", 0.5),
        ("vendor=x, ot=th:8 ,other=y", 0.5),
        ("ot=th:ffffffffffffff", 2**-56),
    ],
)
def test_the_threshold_gives_the_probability(tracestate, probability):
    assert find_sampling_probability(tracestate) == pytest.approx(probability, rel=1e-6)


@pytest.mark.parametrize(
    "tracestate",
    [
        "",
        "ot=",
        "ot=rv:8",
        "ot=th:",
        "ot=th:xyz",
        "ot=th:123456789abcdef",
        "not=th:8",
        "ot=xth:8",
        "a=ot=th:8",
    ],
)
def test_without_a_threshold_nothing_is_known(tracestate):
    assert find_sampling_probability(tracestate) is None


@given(st.integers(0, 2**56 - 1))
def test_trailing_zeros_may_be_left_out(threshold):
    digits = f"{threshold:014x}"
    expected = float(1 - Fraction(threshold, 2**56))
    assert expected == pytest.approx(find_sampling_probability(f"ot=th:{digits}"), rel=1e-15)
    assert find_sampling_probability(f"ot=th:{digits}") == find_sampling_probability(
        f"ot=th:{digits.rstrip('0') or '0'}"
    )


@given(st.text(max_size=60))
def test_any_text_gives_a_probability_or_none(tracestate):
    for text in (tracestate, f"ot=th:{tracestate}"):
        probability = find_sampling_probability(text)
        assert probability is None or 0 < probability <= 1
