"""Stored rows of blocks as counts: each stream's own, in order, whatever order its strata came in."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ragsonde.regression.blocks import gather_counts
from ragsonde.storage.score_blocks import BlockRows
from ragsonde.watching.counted_rows import count_rows

STORED = st.dictionaries(
    st.tuples(st.integers(1, 3), st.integers(100, 103), st.sampled_from("abc")),
    st.tuples(st.dictionaries(st.integers(0, 100), st.integers(1, 9), max_size=3), st.integers(0, 4)),
    max_size=12,
)


def lay_out(stored):
    """As they are read: by stream, block and stratum, the bins of each ascending."""
    columns = [[] for _ in range(9)]
    for (stream, block, stratum), (bins, failed) in sorted(stored.items()):
        row = (stream, block, stratum, sum(bins.values()), 0.0, 0.0, failed)
        for column, value in zip(
            columns, (*row, sorted(bins), [bins[one] for one in sorted(bins)]), strict=True
        ):
            column.append(value)
    return BlockRows(*columns)


@given(STORED)
def test_each_stream_has_its_own_counts_and_outcomes(stored):
    found = count_rows(lay_out(stored))
    assert set(found) == {stream for stream, _, _ in stored}
    for stream, (counts, outcomes) in found.items():
        own = {key[1:]: value for key, value in stored.items() if key[0] == stream}
        rows = zip(
            counts.block.tolist(),
            counts.stratum.tolist(),
            counts.bin.tolist(),
            counts.count.tolist(),
            strict=True,
        )
        told = {(block, counts.strata[place], one): n for block, place, one, n in rows}
        assert told == {
            (block, stratum, one): n for (block, stratum), (bins, _) in own.items() for one, n in bins.items()
        }
        again = gather_counts(counts.block, counts.stratum, counts.bin, counts.count, strata=counts.strata)
        for name in ("block", "stratum", "bin", "count"):
            assert np.array_equal(getattr(counts, name), getattr(again, name))
        assert outcomes == {
            block: (
                sum(sum(bins.values()) for (of, _), (bins, _) in own.items() if of == block),
                sum(failed for (of, _), (_, failed) in own.items() if of == block),
            )
            for block, _ in own
        }
