"""Streams of scores, cut into blocks of five minutes of event time: what regressions are looked for in."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta
from typing import Annotated

from pydantic import AwareDatetime, Field

from ragsonde_schemas.value import Value

BLOCK = timedelta(minutes=5)
BINS = 101
OTHER = "other"
MOST_TAGS = 8
"""Of those that the settings name: with bands, heads and truncation strata stay few."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_ROUNDING = 1e-9  # 0.07 * 100 is a little more than 7 in binary, and belongs to bin 7


class ScoreStream(Value):
    """Scores that may be compared over time; a release is no part, as one may be bad from its first trace.

    Attributes:
        scorer, version: of the scores.
        judge: its name.
        fingerprint: of what answered: the judge's own, or a fallback's.
        judge_epoch: counts the models that have answered under the fingerprint, from 1.
        app: '' where unknown.
    """

    scorer: str
    version: str
    judge: str
    fingerprint: str
    judge_epoch: int
    app: str
    environment: str


class ScoreBlock(Value):
    """What a stream's traces of five minutes and one stratum scored.

    Attributes:
        start: UTC, a whole number of `BLOCK` since the epoch.
        stratum: what kind of traces; `storage.strata` says which there are.
        n: scored traces.
        total, squares: sums of their raw scores, and of these squared.
        histogram: how many of them are in each bin; see `find_bin`.
        failed: traces whose outcome is an error; they are not in `n`, and skipped ones are nowhere.
    """

    stream: ScoreStream
    start: AwareDatetime
    stratum: str
    n: Annotated[int, Field(ge=0)]
    total: float
    squares: float
    histogram: Annotated[tuple[int, ...], Field(min_length=BINS, max_length=BINS)]
    failed: Annotated[int, Field(ge=0)]


def begin_block(moment: datetime) -> datetime:
    """When the block of a moment begins, in UTC; a block ends where the next one begins."""
    return moment.astimezone(UTC) - (moment - _EPOCH) % BLOCK


def block_at(number: int) -> datetime:
    """When the block begins that is so many blocks after the epoch."""
    return _EPOCH + number * BLOCK


def find_bin(raw: float) -> int:
    """The bin of a score in 0..1: a hundredth, rounded up so that rounding never looks like a fall.

    The rounding is that of the detector's histograms; a difference of one in 10^9 is none.
    """
    return math.ceil(raw * (BINS - 1) - _ROUNDING)
