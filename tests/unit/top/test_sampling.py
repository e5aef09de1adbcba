import hashlib

from hypothesis import given
from hypothesis import strategies as st

from ragsonde.sampling import draw, is_sampled


def test_the_draw_is_the_one_that_the_design_states():
    digest = hashlib.sha256(b"shop\x1ftrace-1").digest()
    assert draw(app="shop", trace_id="trace-1") == int.from_bytes(digest[:8], "big") / 2**64


@given(st.text(), st.text(), st.floats(0, 1), st.floats(0, 1))
def test_a_smaller_sample_is_a_subset_of_a_larger_one(app, trace_id, one, other):
    small, large = sorted((one, other))
    assert not is_sampled(app=app, trace_id=trace_id, rate=small) or is_sampled(
        app=app, trace_id=trace_id, rate=large
    )


def test_a_rate_of_1_keeps_all_and_0_none():
    ids = [f"t{number}" for number in range(1000)]
    assert all(is_sampled(app="", trace_id=trace_id, rate=1.0) for trace_id in ids)
    assert not any(is_sampled(app="", trace_id=trace_id, rate=0.0) for trace_id in ids)


def test_a_fifth_is_about_a_fifth():
    kept = sum(is_sampled(app="shop", trace_id=f"t{number}", rate=0.2) for number in range(10_000))
    assert 1_850 < kept < 2_150
