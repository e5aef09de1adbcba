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

SHOWN_SECONDS = 120.0
"""At the least: an alert that waits for some minutes must not begin anew because one run was missed."""


class SnapshotCollector(Collector):
    """Exposes the last snapshot for as long as it is kept fresh.

    An old queue depth looks like a fresh one: once runs are missed, an absent series says more.
    """

    def __init__(self, declaration: Declaration, *, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._declaration = declaration
        self._monotonic = monotonic
        self._lock = Lock()
        self._rows: dict[tuple[str, ...], float] = {}
        self._shown_until = monotonic()

    def replace(self, rows: Mapping[tuple[str, ...], float]) -> None:
        """Puts `rows`, label values to value, in the place of all earlier ones."""
        with self._lock:
            self._rows = dict(rows)
            self._shown_until = self._monotonic() + SHOWN_SECONDS

    def keep(self, seconds: float) -> None:
        """Shows what is there for so long, or `SHOWN_SECONDS`; what has disappeared stays away."""
        with self._lock:
            now = self._monotonic()
            if now <= self._shown_until:
                self._shown_until = now + max(SHOWN_SECONDS, seconds)

    def describe(self) -> Iterable[Metric]:
        """The family without samples; the registry reads its name."""
        return [self._family()]

    def collect(self) -> Iterable[Metric]:
        """The family with its samples, none when they are stale."""
        with self._lock:
            rows, is_fresh = self._rows, self._monotonic() <= self._shown_until
        family = self._family()
        if is_fresh:
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
