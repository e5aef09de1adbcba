"""The labels of places, and the buckets of histograms."""

from __future__ import annotations

PAIR_LABELS = ("app", "environment")
PLACE_LABELS = (*PAIR_LABELS, "release")
SCORE_LABELS = ("scorer", "judge", *PLACE_LABELS)

# Scores are lumpy and sit on round numbers: an edge just below a usual threshold tells "< .5" from "<= .5".
SCORE_BUCKETS = (0.0, 0.1, 0.2, 0.2999, 0.3, 0.4, 0.4999, 0.5, 0.6, 0.6999, 0.7, 0.8, 0.8999, 0.9, 1.0)
STAGE_BUCKETS = (
    0.0005,
    0.001,
    0.0025,
    0.005,
    0.01,
    0.025,
    0.05,
    0.1,
    0.25,
    0.5,
    1.0,
    2.5,
    5.0,
    10.0,
    30.0,
    120.0,
)
JUDGE_BUCKETS = (0.1, 0.25, 0.5, 1.0, 2.0, 3.0, 5.0, 8.0, 13.0, 20.0, 30.0, 60.0, 120.0)
END_TO_END_BUCKETS = (
    *(0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0),
    *(120.0, 300.0, 600.0, 1800.0, 3600.0, 14400.0, 86400.0),
)
