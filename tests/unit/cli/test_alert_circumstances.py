"""What was other near a fall is told in words, and what is of another version is passed over."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragsonde.cli.alert_circumstances import tell_circumstances

SPREAD = {"mean": 4.0, "p10": 2.0, "p50": 4.0, "p90": 6.0}
WHOLE = {
    "extraction": {
        "moved": [{"field": "contexts", "rule": "native:contexts", "before": 0.9, "after": 0.5}],
        "n_before": 10,
        "n_after": 10,
    },
    "contexts": {"count": {"before": SPREAD, "after": {**SPREAD, "mean": 2.5}}, "n_before": 9, "n_after": 9},
    "check_set": {
        "drift": -0.01,
        "stderr": 0.005,
        "before": 0.8,
        "after": 0.79,
        "n": 40,
        "has_moved": False,
        "is_steady": True,
    },
    "answers": {
        "retrieval_before": 0.7,
        "retrieval_after": 0.71,
        "answer_before": 0.6,
        "answer_after": 0.4,
        "declined_before": 0.1,
        "declined_after": 0.3,
        "n_before": 50,
        "n_after": 50,
    },
}
JSON = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3),
    max_leaves=8,
)


def test_all_of_it_in_words():
    told = "\n".join(tell_circumstances(WHOLE))
    assert "contexts by native:contexts: 90% of the traces before, 50% now" in told
    assert "contexts a trace: 4.0 before, 2.5 now (half of them at most 4, now 4)" in told
    assert "the judge did not move: the same 40 traces of the check set score -0.010 now" in told
    assert "answers changed, retrieval probably not" in told
    assert "answers that decline: 10% before, 30% now" in told


@pytest.mark.parametrize("key", list(WHOLE))
@given(value=JSON, name=st.sampled_from(["moved", "count", "n", "has_moved", "retrieval_before", "other"]))
def test_whatever_stands_there_nothing_breaks(key, value, name):
    assert isinstance(list(tell_circumstances({**WHOLE, key: value})), list)
    assert isinstance(list(tell_circumstances({**WHOLE, key: {**WHOLE[key], name: value}})), list)


@pytest.mark.parametrize("unknown", [{"is_steady": False}, {}])
def test_where_nothing_proves_that_the_judge_stayed_that_is_not_said(unknown):
    drift = {"drift": -0.3, "stderr": None, "before": 0.8, "after": 0.5, "n": 1, "has_moved": False}
    (line,) = tell_circumstances({"check_set": {**drift, **unknown}})
    assert line.startswith(
        "whether the judge moved is not known: the same 1 trace of the check set scores -0.3"
    )


def test_what_is_not_there_is_not_told():
    assert list(tell_circumstances({"drop": 0.1})) == []
