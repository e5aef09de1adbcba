"""What can be said of a series before it has a value."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

PREFIX = "ragsonde_"


class Kind(StrEnum):
    """How a series behaves.

    A snapshot is a gauge family whose label sets are replaced all at once, so that none outlives its cause.
    """

    COUNTER = "counter"
    GAUGE = "gauge"
    HISTOGRAM = "histogram"
    SNAPSHOT = "snapshot"
    INFO = "info"


@dataclass(frozen=True, slots=True)
class Rows:
    """Values that some labels take together, known before anything happens.

    Attributes:
        labels: names of the labels.
        rows: one tuple of values a row, in the order of `labels`.
    """

    labels: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Declaration:
    """One series: everything about it but its values. Compared by identity.

    Attributes:
        name: as exposed, without the prefix; counters end in `_total`, infos in `_info`.
        help: what the value means, one sentence.
        labels: names, in the order of exposition.
        unit: base unit that the name ends with, before `_total`; '' where it is a plain count.
        buckets: upper edges of a histogram, without +Inf.
        born: rows of the closed labels that exist at 0 from the start.
        adds_up: of a gauge: the processes' values together are the deployment's; else the greatest is.
    """

    name: str
    kind: Kind
    help: str
    labels: tuple[str, ...] = ()
    unit: str = ""
    buckets: tuple[float, ...] = ()
    born: Rows | None = None
    adds_up: bool = False

    @property
    def full_name(self) -> str:
        """The name as scraped, with the prefix."""
        return PREFIX + self.name

    @property
    def type_name(self) -> str:
        """The type as scraped."""
        return (Kind.GAUGE if self.kind is Kind.SNAPSHOT else self.kind).value

    @property
    def over_processes(self) -> str:
        """What makes one value of those of all processes: `sum`, `max`, or for infos `count`."""
        if self.kind is Kind.INFO:
            return "count"
        return "sum" if self.adds_up or self.kind in {Kind.COUNTER, Kind.HISTOGRAM} else "max"

    @property
    def fixed_lines(self) -> int:
        """How many lines are always there: HELP, TYPE, UNIT, and a value that needs no label set."""
        has_own_value = not self.labels or self.kind is Kind.INFO
        return 2 + bool(self.unit) + (self.lines_per_label_set if has_own_value else 0)

    @property
    def lines_per_label_set(self) -> int:
        """How many lines one label set exposes; a histogram's buckets, +Inf, count and sum."""
        return len(self.buckets) + 3 if self.kind is Kind.HISTOGRAM else 1
