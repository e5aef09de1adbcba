"""What the watch for regressions found, by stream; where several streams share labels, the worst of them."""

from __future__ import annotations

from ragsonde.exposition.declaration import Declaration, Kind
from ragsonde.exposition.series.shapes import PAIR_LABELS

STREAM_LABELS = ("scorer", "judge", *PAIR_LABELS)


def _declare(name: str, text: str, *, unit: str = "") -> Declaration:
    return Declaration(name=name, kind=Kind.SNAPSHOT, help=text, labels=STREAM_LABELS, unit=unit)


REGRESSION_STATE = _declare(
    "regression_state",
    "Whether a fall of scores is open: 0 no, 1 warned of, 2 paged; absent while a stream has no baseline.",
)
REGRESSION_PAGE_THRESHOLD = _declare(
    "regression_page_threshold_days", "Evidence, in days, that a page needs.", unit="days"
)
REGRESSION_EVIDENCE = _declare(
    "regression_evidence_days",
    "Evidence of a fall: chance alone would show this about once in so many days; at most 1e9.",
    unit="days",
)
REGRESSION_DROP = _declare(
    "regression_drop", "How far scores fell within strata when the open fall was told last; absent else."
)
REGRESSION_DROP_LOWER = _declare("regression_drop_lower", "Lower end of the interval of that drop.")
REGRESSION_DROP_UPPER = _declare("regression_drop_upper", "Upper end of the interval of that drop.")
REGRESSION_SINCE = _declare(
    "regression_since_timestamp_seconds", "When the open fall began; absent where none is.", unit="seconds"
)
REGRESSION_MIX_SHIFT = _declare(
    "regression_mix_shift", "What the mean fell further as traces are of other strata than in the baseline."
)
REGRESSION_BASELINE_MEAN = _declare(
    "regression_baseline_mean", "The mean of the traces that a stream is compared with."
)
REGRESSION_OVERDISPERSION = _declare(
    "regression_overdispersion",
    "How much more hours of the baseline vary than independent traces would, as a ratio of variances.",
)
REGRESSION_ARMING = _declare(
    "regression_arming_ratio",
    "How far a stream is on the way to a baseline, 0 to 1: until then no fall of it is seen; absent then.",
    unit="ratio",
)
SCORE_MEAN_LOWER = _declare(
    "score_mean_lower",
    "The mean of a stream's scores of the last 24 hours less 2.4 standard errors; absent below 20 scores.",
)
SCORE_MEAN_UPPER = _declare(
    "score_mean_upper", "That mean and 2.4 standard errors; so wide is what it lies in."
)
REGRESSION_SERIES = (
    REGRESSION_STATE,
    REGRESSION_PAGE_THRESHOLD,
    REGRESSION_EVIDENCE,
    REGRESSION_DROP,
    REGRESSION_DROP_LOWER,
    REGRESSION_DROP_UPPER,
    REGRESSION_SINCE,
    REGRESSION_MIX_SHIFT,
    REGRESSION_BASELINE_MEAN,
    REGRESSION_OVERDISPERSION,
    REGRESSION_ARMING,
    SCORE_MEAN_LOWER,
    SCORE_MEAN_UPPER,
)
