"""The series of one process: the declared ones and no others, born at 0, within the limits."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    Info,
    ProcessCollector,
    disable_created_metrics,
)
from prometheus_client.exposition import choose_encoder

from ragsonde.exposition.admission import OTHER, Limits, LineBudget, Vocabularies
from ragsonde.exposition.birth import KnownLabels, list_births
from ragsonde.exposition.declaration import PREFIX, Declaration, Kind
from ragsonde.exposition.exemplars import FreshExemplars
from ragsonde.exposition.family import Family
from ragsonde.exposition.negotiation import OPENMETRICS, prefers_openmetrics
from ragsonde.exposition.places import Place, Places
from ragsonde.exposition.series import (
    IN_FLIGHT,
    PAIR_LABELS,
    PAIR_LINES,
    PLACE_LABELS,
    PLACED_LINES,
    SERIES_DROPPED,
)
from ragsonde.exposition.snapshot import SnapshotCollector
from ragsonde_schemas.label_names import NO_NAMES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from ragsonde_schemas.label_names import LabelNames

_PROCESS_LINES = 25
"""What the client's own process_* series and the end mark take, at most."""
_GROWTH_LINES = 500
"""Kept free for label sets without a place that appear later: a new rule, a new model."""


class Page(NamedTuple):
    """What a scraper gets."""

    content_type: str
    body: bytes


class Series:
    """Holds the values of the declared series. Safe for threads.

    A value whose label set finds no room under the limits is only counted, in `series_dropped_total`.

    Args:
        declarations: what this process exposes: WORKER_SERIES or MONITOR_SERIES.
        known: label values known in advance; their counters are born at 0.
        limits: bounds for what producers can make us expose.
        find_names: which apps, environments and releases the deployment names; asked for each value.
        now: tells how old an exemplar is, in seconds since 1970.
    """

    def __init__(
        self,
        declarations: Sequence[Declaration],
        *,
        known: KnownLabels | None = None,
        limits: Limits | None = None,
        find_names: Callable[[], LabelNames] = lambda: NO_NAMES,
        now: Callable[[], float] = time.time,
    ) -> None:
        disable_created_metrics()  # type: ignore[no-untyped-call]  # not annotated by the client
        known, limits = known or KnownLabels(), limits or Limits()
        self._registry = CollectorRegistry()
        self._shown = FreshExemplars(self._registry, now=now)
        ProcessCollector(registry=self._registry)
        self._counters: dict[Declaration, Family[Counter]] = {}
        self._gauges: dict[Declaration, Family[Gauge]] = {}
        self._histograms: dict[Declaration, Family[Histogram]] = {}
        self._infos: dict[Declaration, Info] = {}
        self._snapshots: dict[Declaration, SnapshotCollector] = {}
        fixed_lines = _PROCESS_LINES + sum(declaration.fixed_lines for declaration in declarations)
        self._budget = LineBudget(limits.max_lines, taken=fixed_lines, on_refused=self._count_dropped)
        for declaration in declarations:
            self._build(declaration)
        self._vocabularies = Vocabularies(limits, rules=known.rules)
        for declaration in declarations:
            for labels in list_births(declaration, known):
                self._bear(declaration, labels)
        place_lines = (
            max(1, len(known.scorers) * len(known.judges)) * PLACED_LINES
            + 4 * len(known.judges)
            + 4
            # an app in an environment has two places at least
            + PAIR_LINES // 2
        )
        growth_lines = _GROWTH_LINES + len(known.rules)
        self._places = Places(
            limits,
            max_places=(self._budget.left - growth_lines) // place_lines,
            find_names=find_names,
            on_retired=self._retire,
        )

    def add(self, declaration: Declaration, amount: float = 1.0, /, **labels: str) -> None:
        """Counts up a counter."""
        child = self._counters[declaration].find(self._admit(declaration, labels))
        if child is not None:
            child.inc(amount)

    def observe(
        self, declaration: Declaration, value: float, /, exemplar: dict[str, str] | None = None, **labels: str
    ) -> None:
        """Adds a value to a histogram, with an exemplar that leads to where it came from."""
        child = self._histograms[declaration].find(self._admit(declaration, labels))
        if child is not None:
            child.observe(value, exemplar)

    def set(self, declaration: Declaration, value: float, /, **labels: str) -> None:
        """Sets a gauge."""
        child = self._gauges[declaration].find(self._admit(declaration, labels))
        if child is not None:
            child.set(value)

    def state(self, declaration: Declaration, **labels: str) -> None:
        """Sets the labels of an info series, whose value is always 1."""
        self._infos[declaration].info(
            dict(zip(declaration.labels, self._admit(declaration, labels), strict=True))
        )

    def replace(
        self,
        declaration: Declaration,
        rows: Mapping[tuple[str, ...], float],
        *,
        weights: Mapping[tuple[str, ...], float] | None = None,
        is_greatest: bool = False,
    ) -> None:
        """Puts `rows` (label values in the declared order, to value) in the place of the earlier ones.

        Rows that the limits fold into one are added up; with `weights`, one a row, their mean is taken; with
        `is_greatest` the greatest of them.
        """
        admitted: dict[tuple[str, ...], float] = {}
        weighed: dict[tuple[str, ...], float] = {}
        for values, value in rows.items():
            key = self._admit(declaration, dict(zip(declaration.labels, values, strict=True)))
            if is_greatest:
                admitted[key] = max(value, admitted.get(key, value))
                continue
            weight = 1.0 if weights is None else weights[values]
            admitted[key] = admitted.get(key, 0.0) + weight * value
            weighed[key] = weighed.get(key, 0.0) + weight
        if weights is not None:
            admitted = {key: total / weighed[key] for key, total in admitted.items()}
        self._snapshots[declaration].replace(admitted)

    def keep(self, declarations: Iterable[Declaration], *, seconds: float) -> None:
        """Shows these snapshots for so long, and longer only if they are replaced or kept again by then."""
        for declaration in declarations:
            self._snapshots[declaration].keep(seconds)

    @contextmanager
    def count_in_flight(self) -> Iterator[None]:
        """Counts one message more as being worked on, until the block ends."""
        gauge = self._gauges[IN_FLIGHT].metric
        gauge.inc()
        try:
            yield
        finally:
            gauge.dec()

    def render(self, accept: str = "") -> Page:
        """All series as text: OpenMetrics, with exemplars, where `accept` prefers it, else plain."""
        # Only the format is taken from the header: the client fails on versions it cannot compare.
        encode, content_type = choose_encoder(OPENMETRICS if prefers_openmetrics(accept) else "")
        return Page(content_type, encode(self._shown))

    def read(self, name: str) -> dict[tuple[str, ...], float]:
        """The present values of a series by its label values; {} where it has none.

        Args:
            name: without the prefix, with `_total` of a counter.
        """
        wanted = PREFIX + name
        return {
            tuple(sample.labels.values()): sample.value
            for family in self._registry.restricted_registry([wanted]).collect()
            for sample in family.samples
            if sample.name == wanted
        }

    def _build(self, declaration: Declaration) -> None:
        name, text, labels = declaration.full_name, declaration.help, declaration.labels
        unit, registry = declaration.unit, self._registry
        match declaration.kind:
            case Kind.COUNTER:
                counter = Counter(name, text, labels, unit=unit, registry=registry)
                self._counters[declaration] = Family(declaration, counter, budget=self._budget)
            case Kind.GAUGE:
                gauge = Gauge(name, text, labels, unit=unit, registry=registry)
                self._gauges[declaration] = Family(declaration, gauge, budget=self._budget)
            case Kind.HISTOGRAM:
                histogram = Histogram(
                    name, text, labels, unit=unit, registry=registry, buckets=declaration.buckets
                )
                self._histograms[declaration] = Family(declaration, histogram, budget=self._budget)
            case Kind.INFO:
                self._infos[declaration] = Info(name.removesuffix("_info"), text, registry=registry)
            case Kind.SNAPSHOT:
                self._snapshots[declaration] = SnapshotCollector(declaration)
                registry.register(self._snapshots[declaration])

    def _bear(self, declaration: Declaration, labels: Mapping[str, str]) -> None:
        for table in (self._counters, self._gauges, self._histograms):
            family: Family[Counter] | Family[Gauge] | Family[Histogram] | None = table.get(declaration)
            if family is not None:
                family.find(self._admit(declaration, labels))

    def _admit(self, declaration: Declaration, labels: Mapping[str, str]) -> tuple[str, ...]:
        names = declaration.labels
        if len(labels) != len(names):
            raise ValueError(
                f"series {declaration.name}: got labels {sorted(labels)}, expected {sorted(names)}"
            )
        if names[-2:] == PAIR_LABELS:
            pair = self._places.admit_pair(app=labels["app"], environment=labels["environment"])
            return (*[self._vocabularies.admit(name, labels[name]) for name in names[:-2]], *pair)
        if names[-3:] != PLACE_LABELS:
            return tuple([self._admit_value(name, labels[name]) for name in names])
        place = self._places.admit(
            app=labels["app"], environment=labels["environment"], release=labels["release"]
        )
        return (*[self._vocabularies.admit(name, labels[name]) for name in names[:-3]], *place)

    def _admit_value(self, name: str, value: str) -> str:
        return self._places.admit_app(value) if name == "app" else self._vocabularies.admit(name, value)

    def _retire(self, place: Place) -> None:
        for table in (self._counters, self._histograms):
            families: Iterable[tuple[Declaration, Family[Counter] | Family[Histogram]]] = table.items()
            for declaration, family in families:
                if declaration.labels[-3:] == PLACE_LABELS:
                    family.drop(place)
                if declaration.labels[-2:] == PAIR_LABELS and place.release == OTHER:
                    family.drop(place[:2])

    def _count_dropped(self) -> None:
        self._counters[SERIES_DROPPED].metric.inc()
