"""Attributes of any JSON value, and of JSON in strings, whole and cut."""

from __future__ import annotations

import json

from hypothesis import strategies as st

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=True)
    | st.text(max_size=20)
    | st.sampled_from(
        ["", " ", "null", '"quoted"', '{"query": "cut', '["', "\x00\ud800", "1", "tool", "unknown"]
    )
)
NAMES = (
    "role type content parts text message messages output outputs inputs input args kwargs query documents "
    "ids node index score id metadata value tool_calls choices data doc_uri expectation name assessment_name "
    "usage model"
)
KEYS = st.sampled_from(NAMES.split()) | st.text(max_size=5)
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(KEYS, inner, max_size=4)
        | inner.map(json.dumps)
        | inner.map(lambda value: json.dumps(value)[:-1])
    ),
    max_leaves=12,
)


def build_attributes(*names: str):
    """Maps of some of `names` to any values."""
    return st.dictionaries(st.sampled_from(names), VALUES, max_size=8)
