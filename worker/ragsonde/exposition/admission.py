"""Which values of open labels get a series of their own; the rest is `other`."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING

from ragsonde.exposition.labels import clean_label
from ragsonde_schemas.label_names import MOST_APPS, MOST_ENVIRONMENTS, MOST_RELEASES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from ragsonde.exposition.declaration import Declaration

logger = logging.getLogger(__name__)

OTHER = "other"


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How much of what producers send may become series of this process.

    Attributes:
        max_lines: exposed lines, comments included; nothing is exposed beyond them.
        max_apps: apps that are named.
        max_environments: environments that are named.
        max_releases: releases that are named, for each app and environment.
        max_rules: rules of the code by which fields are found; none is made by a producer. Those of the
            configuration are named beyond that.
        max_label_values: values of any other open label (judge, scorer, model ...).
    """

    max_lines: int = 10_000
    max_apps: int = MOST_APPS
    max_environments: int = MOST_ENVIRONMENTS
    max_releases: int = MOST_RELEASES
    max_rules: int = 300
    max_label_values: int = 100


class LineBudget:
    """Counts exposed lines and refuses what goes beyond the limit.

    Args:
        max_lines: the limit.
        taken: lines that are there from the start.
        on_refused: called each time a value finds no room.
    """

    def __init__(self, max_lines: int, *, taken: int, on_refused: Callable[[], None]) -> None:
        self._max_lines = max_lines
        self._taken = taken
        self._on_refused = on_refused
        self._refused: set[str] = set()
        self._lock = Lock()

    def give_back(self, declaration: Declaration) -> None:
        """Frees the lines of a label set that is gone."""
        with self._lock:
            self._taken -= declaration.lines_per_label_set

    @property
    def left(self) -> int:
        """How many lines may still be added."""
        return self._max_lines - self._taken

    def take(self, declaration: Declaration) -> bool:
        """Takes the lines of one more label set; False where none are left, with a warning once a series."""
        with self._lock:
            if declaration.lines_per_label_set <= self.left:
                self._taken += declaration.lines_per_label_set
                return True
            is_first = declaration.name not in self._refused
            self._refused.add(declaration.name)
        self._on_refused()
        if is_first:
            logger.warning(
                "series_dropped", extra={"series": declaration.full_name, "max_lines": self._max_lines}
            )
        return False


class Vocabulary:
    """The first so many values of one label.

    Args:
        label: its name.
        max_values: how many of them.
        known: values that are admitted beside these, for they are configured.
    """

    def __init__(self, label: str, *, max_values: int, known: Iterable[str] = ()) -> None:
        self._label = label
        self._max_values = max_values
        self._known = {value: clean_label(value) for value in known}
        self._cleaned: dict[str, str] = dict(self._known)
        self._values: set[str] = set()
        self._lock = Lock()
        self._has_warned = False

    def admit(self, value: str) -> str:
        """The cleaned value, or `other` once the vocabulary is full."""
        known = self._cleaned.get(value)
        if known is not None:
            return known
        cleaned = clean_label(value)
        with self._lock:
            if cleaned not in self._values:
                if len(self._values) >= self._max_values:
                    self._warn()
                    return OTHER
                self._values.add(cleaned)
            # Many raw values may clean to the same one: remember only as many as there may be values.
            if len(self._cleaned) < self._max_values + len(self._known):
                self._cleaned[value] = cleaned
        return cleaned

    def _warn(self) -> None:
        if not self._has_warned:
            self._has_warned = True
            logger.warning(
                "label_values_folded",
                extra={"label": self._label, "limit": self._max_values, "folded_to": OTHER},
            )


class Vocabularies:
    """One vocabulary a label.

    Args:
        limits: how many values each may have.
        rules: the configured ones, all of which are named.
    """

    def __init__(self, limits: Limits, *, rules: Iterable[str] = ()) -> None:
        self._max_values = limits.max_label_values
        self._by_label = {"rule": Vocabulary("rule", max_values=limits.max_rules, known=rules)}

    def admit(self, label: str, value: str) -> str:
        """The cleaned value of that label, or `other`."""
        vocabulary = self._by_label.get(label)
        if vocabulary is None:
            vocabulary = self._by_label.setdefault(label, Vocabulary(label, max_values=self._max_values))
        return vocabulary.admit(value)
