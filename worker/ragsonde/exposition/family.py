"""One declared series and the label sets it has so far."""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING, Generic, TypeVar

from prometheus_client.metrics import MetricWrapperBase

if TYPE_CHECKING:
    from ragsonde.exposition.admission import LineBudget
    from ragsonde.exposition.declaration import Declaration

MetricType = TypeVar("MetricType", bound=MetricWrapperBase)


class Family(Generic[MetricType]):
    """Finds the child of a label set, and makes it where the line budget has room."""

    def __init__(self, declaration: Declaration, metric: MetricType, *, budget: LineBudget) -> None:
        self.metric = metric
        self._declaration = declaration
        self._budget = budget
        self._children: dict[tuple[str, ...], MetricType] = {}
        self._lock = Lock()

    def find(self, values: tuple[str, ...]) -> MetricType | None:
        """The child of these label values, or None where there is no room for it."""
        if not values:
            return self.metric
        child = self._children.get(values)
        if child is None:
            with self._lock:
                child = self._children.get(values)
                if child is None and self._budget.take(self._declaration):
                    child = self._children[values] = self.metric.labels(*values)
        return child

    def drop(self, last_values: tuple[str, ...]) -> None:
        """Lets go of every child whose last label values these are."""
        with self._lock:
            gone = [values for values in self._children if values[-len(last_values) :] == last_values]
            for values in gone:
                del self._children[values]
                self.metric.remove(*values)
                self._budget.give_back(self._declaration)
