"""Exemplars that are shown for a while only: what somebody erased must not be found by its id for ever."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from prometheus_client.registry import Collector

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from prometheus_client.core import Metric

SHOWN_SECONDS = 900.0
"""Many times the interval of any scraper."""


class FreshExemplars(Collector):
    """The series of another collector, without exemplars that are older than `SHOWN_SECONDS`.

    Args:
        collector: whose series they are.
        now: tells the time, in seconds since 1970.
    """

    def __init__(self, collector: Collector, *, now: Callable[[], float] = time.time) -> None:
        self._collector = collector
        self._now = now

    def collect(self) -> Iterable[Metric]:
        """The families, with their samples."""
        oldest = self._now() - SHOWN_SECONDS
        for family in self._collector.collect():
            family.samples = [
                sample._replace(exemplar=None)
                if sample.exemplar is not None and float(sample.exemplar.timestamp or 0) < oldest
                else sample
                for sample in family.samples
            ]
            yield family
