"""Whose trace a value is of, and which apps, environments and releases are shown by name."""

from __future__ import annotations

import logging
import time
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple

from ragsonde.exposition.admission import OTHER
from ragsonde.exposition.labels import clean_label
from ragsonde_schemas.app_name import show_app
from ragsonde_schemas.label_names import NO_NAMES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from ragsonde.exposition.admission import Limits
    from ragsonde_schemas.label_names import LabelNames

logger = logging.getLogger(__name__)

RETIRED_AFTER_SECONDS = 600.0
"""Without a name for so long, a place's series go: by then every scraper has read them."""
_LOOK_SECONDS = 60.0


class Place(NamedTuple):
    """Whose trace a value is of, as it stands in labels."""

    app: str
    environment: str
    release: str


ELSEWHERE = Place(OTHER, OTHER, OTHER)


class SharedVocabulary:
    """The values of a label that the deployment names; where it has room, the first ones seen here, too.

    So a new app is shown at once and not only when the monitor has named it, and a process that cannot read
    the names goes by what it sees.

    Args:
        label: its name.
        max_values: how many of them.
    """

    def __init__(self, label: str, *, max_values: int) -> None:
        self._label = label
        self._max_values = max_values
        self._named: frozenset[str] = frozenset()
        self._own: dict[str, None] = {}
        self._lock = Lock()
        self._has_warned = False

    def adopt(self, named: Iterable[str]) -> None:
        """Takes over what is named now, those named first first."""
        with self._lock:
            self._named = frozenset(
                list(dict.fromkeys(clean_label(value) for value in named))[: self._max_values]
            )
            own = [value for value in self._own if value not in self._named]
            self._own = dict.fromkeys(own[: self._max_values - len(self._named)])

    def admit(self, value: str) -> str:
        """The cleaned value, or `other` where it has no name and there is no room."""
        cleaned = clean_label(value)
        if self.holds(cleaned):
            return cleaned
        with self._lock:
            if self.holds(cleaned):
                return cleaned
            if len(self._named) + len(self._own) < self._max_values:
                self._own[cleaned] = None
                return cleaned
            is_first, self._has_warned = not self._has_warned, True
        if is_first:
            logger.warning(
                "label_values_folded",
                extra={"label": self._label, "limit": self._max_values, "folded_to": OTHER},
            )
        return OTHER

    def holds(self, cleaned: str) -> bool:
        """True where the value has a name now."""
        return cleaned in self._named or cleaned in self._own


class Places:
    """Decides which combinations of app, environment and release are named.

    A new combination also needs room: the lines of `max_places` of them are reserved, so that what is
    admitted can be exposed to the end. Among them is the one that is `other` everywhere and, for each named
    app and environment, that of its other releases: a new release must not take an app out of its own series.

    Args:
        limits: how many values may be named.
        max_places: how many combinations.
        find_names: what the deployment names; called for each value, so it must be cached.
        on_retired: told a combination whose series are to go, as it is named no more.
        monotonic: tells seconds that only grow.
    """

    def __init__(
        self,
        limits: Limits,
        *,
        max_places: int,
        find_names: Callable[[], LabelNames] = lambda: NO_NAMES,
        on_retired: Callable[[Place], None] = lambda _place: None,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._max_places = max_places
        self._max_releases = limits.max_releases
        self._find_names = find_names
        self._on_retired = on_retired
        self._monotonic = monotonic
        self._names = NO_NAMES
        self._look_again_at = float("-inf")
        self._apps = SharedVocabulary("app", max_values=limits.max_apps)
        self._environments = SharedVocabulary("environment", max_values=limits.max_environments)
        self._releases: dict[tuple[str, str], SharedVocabulary] = {}
        self._admitted: set[Place] = {ELSEWHERE}
        self._nameless_since: dict[Place, float] = {}
        self._lock = Lock()
        self._has_warned = False

    def admit_app(self, app: str) -> str:
        """The label of an app, or `other`."""
        self._keep_up()
        return self._apps.admit(show_app(app))

    def admit(self, *, app: str, environment: str, release: str) -> Place:
        """The place under which a trace is counted.

        What is not named has no named release either: each process would choose its own.
        """
        app_label, environment_label, _ = other_releases = self._find_pair(app, environment)
        is_named = OTHER not in {app_label, environment_label}
        release_label = (
            self._find_releases(app_label, environment_label).admit(release) if is_named else OTHER
        )
        place = other_releases._replace(release=release_label)
        if self._has_room(place, other_releases):
            return place
        return other_releases if other_releases in self._admitted else ELSEWHERE

    def admit_pair(self, *, app: str, environment: str) -> tuple[str, str]:
        """The app and the environment under which a trace is counted, all its releases together."""
        other_releases = self._find_pair(app, environment)
        is_shown = self._has_room(other_releases, other_releases)
        return (other_releases if is_shown else ELSEWHERE)[:2]

    def _find_pair(self, app: str, environment: str) -> Place:
        self._keep_up()
        return Place(self._apps.admit(show_app(app)), self._environments.admit(environment), OTHER)

    def _find_releases(self, app: str, environment: str) -> SharedVocabulary:
        vocabulary = self._releases.get((app, environment))
        if vocabulary is None:
            fresh = SharedVocabulary("release", max_values=self._max_releases)
            vocabulary = self._releases.setdefault((app, environment), fresh)
        return vocabulary

    def _has_room(self, place: Place, other_releases: Place) -> bool:
        if place in self._admitted:
            return True
        with self._lock:
            needed = {place, other_releases} - self._admitted
            if len(self._admitted) + len(needed) <= self._max_places:
                self._admitted |= needed
                return True
            if not self._has_warned:
                self._has_warned = True
                logger.warning("places_folded", extra={"limit": self._max_places, "folded_to": OTHER})
        return False

    def _keep_up(self) -> None:
        """Adopts what is named now, and lets go of places that have had no name for long."""
        names, now = self._find_names(), self._monotonic()
        if names is self._names and now < self._look_again_at:
            return
        with self._lock:
            self._look_again_at = now + _LOOK_SECONDS
            if names is not self._names:
                self._names = names
                self._adopt(names)
            retired = self._find_retired(now)
            self._admitted -= retired
        for place in retired:
            self._on_retired(place)

    def _adopt(self, names: LabelNames) -> None:
        self._apps.adopt(show_app(app) for app in names.apps)
        self._environments.adopt(names.environments)
        releases = {
            (clean_label(show_app(app)), clean_label(environment)): values
            for (app, environment), values in names.releases.items()
        }
        for place in {*releases, *self._releases}:
            self._find_releases(*place).adopt(releases.get(place, ()))

    def _find_retired(self, now: float) -> set[Place]:
        nameless = {place for place in self._admitted - {ELSEWHERE} if not self._is_named(place)}
        self._nameless_since = {place: self._nameless_since.get(place, now) for place in nameless}
        return {
            place for place, since in self._nameless_since.items() if now - since >= RETIRED_AFTER_SECONDS
        }

    def _is_named(self, place: Place) -> bool:
        for vocabulary, value in ((self._apps, place.app), (self._environments, place.environment)):
            if value != OTHER and not vocabulary.holds(value):
                return False
        releases = self._releases.get(place[:2])
        return place.release == OTHER or releases is None or releases.holds(place.release)
