"""A gauge family that is replaced as a whole and disappears when nobody renews it."""

from __future__ import annotations

import time
from threading import Lock
from typing import TYPE_CHECKING

from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from prometheus_client.core import Metric

    from ragsonde.exposition.declaration import Declaration

STALE_AFTER_SECONDS = 300.0
"""An old queue depth looks like a fresh one: after so long an absent series says more."""


class SnapshotCollector(Collector):
    """Exposes the last snapshot while it is fresh."""

    def __init__(self, declaration: Declaration, *, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._declaration = declaration
        self._monotonic = monotonic
        self._lock = Lock()
        self._rows: dict[tuple[str, ...], float] = {}
        self._taken_at = monotonic()

    def replace(self, rows: Mapping[tuple[str, ...], float]) -> None:
        """Puts `rows`, label values to value, in the place of all earlier ones."""
        with self._lock:
            self._rows = dict(rows)
            self._taken_at = self._monotonic()

    def describe(self) -> Iterable[Metric]:
        """The family without samples; the registry reads its name."""
        return [self._family()]

    def collect(self) -> Iterable[Metric]:
        """The family with its samples, none when they are stale."""
        with self._lock:
            rows, age_seconds = self._rows, self._monotonic() - self._taken_at
        family = self._family()
        if age_seconds <= STALE_AFTER_SECONDS:
            for values, value in rows.items():
                family.add_metric(values, value)
        return [family]

    def _family(self) -> GaugeMetricFamily:
        return GaugeMetricFamily(
            self._declaration.full_name,
            self._declaration.help,
            labels=self._declaration.labels,
            unit=self._declaration.unit,
        )
