"""Scores and what has none."""

from __future__ import annotations

from ragsonde.exposition.closed_labels import (
    OUTCOMES,
)
from ragsonde.exposition.declaration import Declaration, Kind
from ragsonde.exposition.series.shapes import PLACE_LABELS, SCORE_BUCKETS, SCORE_LABELS

SCORE = Declaration(
    name="score",
    kind=Kind.HISTOGRAM,
    help="Scores in 0..1, before scale and rounding for people; one observation a committed score. "
    "judge: what answered (name@fingerprint of the judge or its fallback, .epoch from the second model on).",
    labels=SCORE_LABELS,
    buckets=SCORE_BUCKETS,
)
SCORE_SQUARES = Declaration(
    name="score_squares_total",
    kind=Kind.COUNTER,
    help="Sum of squared scores; with sum and count it gives the variance.",
    labels=SCORE_LABELS,
)
SCORES_BELOW_THRESHOLD = Declaration(
    name="scores_below_threshold_total",
    kind=Kind.COUNTER,
    help="Scores below their scorer's threshold; only scorers that have one.",
    labels=SCORE_LABELS,
)
UNSCORED = Declaration(
    name="unscored_total",
    kind=Kind.COUNTER,
    help="Outcomes without a number: skipped (nothing to score) or error, and the cause; judge as in score.",
    labels=("scorer", "judge", "status", "cause"),
    born=OUTCOMES,
)
INSUFFICIENT = Declaration(
    name="insufficient_total",
    kind=Kind.COUNTER,
    help="Questions whose contexts do not suffice to answer, as the judge says.",
    labels=("judge", *PLACE_LABELS),
)
ASSESSED = Declaration(
    name="assessed_total",
    kind=Kind.COUNTER,
    help="Questions of which a judge could tell whether their contexts suffice: what insufficient_total is "
    "a share of.",
    labels=("judge", *PLACE_LABELS),
)
CONTEXT_TOKENS = Declaration(
    name="context_tokens_total",
    kind=Kind.COUNTER,
    help="Tokens of assessed contexts, estimated from their length (four bytes of UTF-8 each), by whether "
    "the judge called the context relevant.",
    labels=("judge", "relevant", *PLACE_LABELS),
    unit="tokens",
)
