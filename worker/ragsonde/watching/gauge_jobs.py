"""The monitor's job that shows how it stands with each stream that is watched for falls."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from ragsonde.exposition.series import (
    REGRESSION_ARMING,
    REGRESSION_BASELINE_MEAN,
    REGRESSION_DROP,
    REGRESSION_DROP_LOWER,
    REGRESSION_DROP_UPPER,
    REGRESSION_EVIDENCE,
    REGRESSION_MIX_SHIFT,
    REGRESSION_OVERDISPERSION,
    REGRESSION_PAGE_THRESHOLD,
    REGRESSION_SERIES,
    REGRESSION_SINCE,
    REGRESSION_STATE,
    SCORE_MEAN_LOWER,
    SCORE_MEAN_UPPER,
)
from ragsonde.monitor.loop import Job
from ragsonde.regression.alert_state import Level
from ragsonde.regression.mean_interval import MeanInterval, bound_mean
from ragsonde.regression.threshold import ACTIVE_DAYS, PAGE_DAYS, find_page_threshold
from ragsonde.storage.arming_progress import read_arming
from ragsonde.storage.shown_regressions import count_active, read_shown
from ragsonde.storage.stream_sums import sum_streams
from ragsonde_schemas.stream_labels import label_stream

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Engine

    from ragsonde.exposition.registry import Series
    from ragsonde.ports import Clock
    from ragsonde.storage.shown_regressions import OpenFall, ShownStream
    from ragsonde_schemas.score_stream import ScoreStream

REGRESSION_GAUGES = "regression_gauges"
REGRESSION_GAUGE_JOB_NAMES = (REGRESSION_GAUGES,)
SHOW_SECONDS = 10.0
MEAN_SECONDS = 60.0
"""Pauses between reads of a day of counts, which change every five minutes."""
MEAN_SPAN = timedelta(days=1)
_STATES = {Level.QUIET: 0.0, Level.WARNED: 1.0, Level.PAGED: 2.0}
_Labels = tuple[str, ...]


@dataclass(kw_only=True)
class RegressionGaugeChores:
    """Shows the streams that were judged in the last 7 days, and those of which a fall is open.

    And of each stream how surely the mean of its last 24 hours is known.
    """

    engine: Engine
    series: Series
    clock: Clock
    page_days: float = PAGE_DAYS
    _means_read_at: float | None = None

    def build_jobs(self) -> tuple[Job, ...]:
        """The job, as the monitor runs it: each monitor shows what is stored."""
        job = Job(
            name=REGRESSION_GAUGES,
            interval_seconds=SHOW_SECONDS,
            run=self.show,
            is_exclusive=False,
            shows=REGRESSION_SERIES,
        )
        return (job,)

    def show(self) -> None:
        """Shows it.

        Raises:
            DatabaseLostError: the gauges keep what was shown last.
        """
        today = self.clock.now().date()
        watched = read_shown(self.engine, first=today - timedelta(days=ACTIVE_DAYS))
        shown = _choose_worst(watched)
        active = count_active(self.engine, today, days=ACTIVE_DAYS)
        threshold = find_page_threshold(active, page_days=self.page_days)
        series = self.series
        streams = {key: _STATES[one.level] for key, one in shown.items()}
        series.replace(REGRESSION_STATE, streams, is_greatest=True)
        series.replace(REGRESSION_PAGE_THRESHOLD, dict.fromkeys(shown, threshold), is_greatest=True)
        evidence = {key: one.evidence_days for key, one in shown.items()}
        series.replace(REGRESSION_EVIDENCE, evidence, is_greatest=True)
        means = {key: one.baseline_mean for key, one in shown.items()}
        series.replace(REGRESSION_BASELINE_MEAN, means, is_greatest=True)
        spreads = {key: one.overdispersion for key, one in shown.items()}
        series.replace(REGRESSION_OVERDISPERSION, spreads, is_greatest=True)
        arming = {_label(one.stream): one.share for one in read_arming(self.engine)}
        series.replace(REGRESSION_ARMING, arming, is_greatest=True)
        self._show_means(watched)
        self._show_falls({key: one.fall for key, one in shown.items() if one.fall is not None})

    def _show_means(self, watched: Sequence[ShownStream]) -> None:
        read_at, instant = self._means_read_at, self.clock.monotonic()
        if read_at is not None and instant - read_at < MEAN_SECONDS:
            return
        spreads = {one.stream: one.overdispersion for one in watched}
        now = self.clock.now()
        found: dict[_Labels, MeanInterval] = {}
        # of those with the same labels the one with most scores
        for one in sorted(sum_streams(self.engine, since=now - MEAN_SPAN, until=now), key=lambda one: one.n):
            spread = spreads.get(one.stream, 1.0)
            mean = bound_mean(one.n, total=one.total, squares=one.squares, overdispersion=spread)
            if mean is not None:
                found[_label(one.stream)] = mean
        lower = {key: one.lower for key, one in found.items()}
        self.series.replace(SCORE_MEAN_LOWER, lower, is_greatest=True)
        self.series.replace(
            SCORE_MEAN_UPPER, {key: one.upper for key, one in found.items()}, is_greatest=True
        )
        self._means_read_at = instant

    def _show_falls(self, falls: dict[_Labels, OpenFall]) -> None:
        self.series.replace(REGRESSION_DROP, _list_known(falls, "drop"), is_greatest=True)
        self.series.replace(REGRESSION_DROP_LOWER, _list_known(falls, "drop_lower"), is_greatest=True)
        self.series.replace(REGRESSION_DROP_UPPER, _list_known(falls, "drop_upper"), is_greatest=True)
        self.series.replace(REGRESSION_MIX_SHIFT, _list_known(falls, "mix_shift"), is_greatest=True)
        since = {key: one.since.timestamp() for key, one in falls.items()}
        self.series.replace(REGRESSION_SINCE, since, is_greatest=True)


def _list_known(falls: dict[_Labels, OpenFall], name: str) -> dict[_Labels, float]:
    """One number of each fall, of those that tell it."""
    found = {key: getattr(one, name) for key, one in falls.items()}
    return {key: value for key, value in found.items() if value is not None}


def _choose_worst(streams: tuple[ShownStream, ...]) -> dict[_Labels, ShownStream]:
    """One stream for each label set: versions of code, for one, are told apart by no label."""
    ordered = sorted(streams, key=lambda one: (_STATES[one.level], one.evidence_days))
    return {_label(one.stream): one for one in ordered}


def _label(stream: ScoreStream) -> _Labels:
    return tuple(label_stream(stream).values())
