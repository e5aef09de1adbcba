"""From how many traces on there is a baseline, and of which kind."""

import numpy as np
import pytest

from ragsonde.regression.arming import arm
from ragsonde.regression.baseline import BaselineKind
from ragsonde.regression.blocks import count_blocks


def spread(traces):
    """So many traces, evenly over two days."""
    return count_blocks(np.linspace(0, 2 * 86_400, traces), np.tile([0.25, 1.0], traces)[:traces])


@pytest.mark.parametrize(
    ("traces", "is_complete", "kind"),
    [
        (499, True, None),
        (500, True, BaselineKind.PINNED),
        (999, False, None),
        (1_000, False, BaselineKind.PROVISIONAL),
    ],
)
def test_a_week_needs_500_traces_and_less_than_a_week_1000(traces, is_complete, kind):
    armed = arm(spread(traces), is_complete=is_complete)
    assert (armed.kind if armed else None) == kind
