"""What `ragsonde detect FILE` tells of a drawn stream is what the benchmark counts."""

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks/detector"))

from score_streams import Change, draw_stream
from through_command import ask_command
from trials import TOPICS, WEEK, detect, replay_counts

DAY = 86_400


@pytest.mark.parametrize(("seed", "drop"), [(7, 0.20), (8, 0.10), (9, 0.0)])
def test_the_command_tells_of_a_drawn_stream_what_the_bench_counts(seed, drop):
    change = (WEEK + 1.3) * DAY
    stream = draw_stream(
        np.random.default_rng(seed), WEEK + 3, 5, change=Change(change, drop) if drop else None
    )
    told = ask_command(stream, TOPICS)
    assert told == replay_counts(stream, TOPICS)
    assert sum(alert.kind == "page" for alert in told) == bool(drop)
    assert detect(stream, change).is_early is False
