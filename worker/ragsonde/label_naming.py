"""Which apps, environments and releases are named in series; what is seen beside them is `other`."""

from __future__ import annotations

import math
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple

from ragsonde_schemas.label_names import (
    BUSIEST_RELEASES,
    MOST_APPS,
    MOST_ENVIRONMENTS,
    NamedLabel,
    NamedValue,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ragsonde_schemas.label_names import LabelActivity

IDLE = timedelta(days=7)
"""An app or environment that sent nothing for so long gives way to whatever has no name."""
MUCH_MORE = 2.0
"""So many times the traces of a day take an app's or environment's name: not a few more than it has."""
STAYING = 1.25
"""A release that is named counts as so much busier: two that are alike must not change places each minute."""


class Names(NamedTuple):
    """What is to be named from now on.

    Attributes:
        values: all of them, those named first first.
        folded: for each label, how many values were seen and have no name.
    """

    values: tuple[NamedValue, ...]
    folded: dict[NamedLabel, int]


class WantedNames(NamedTuple):
    """Which values are named whatever comes.

    Attributes:
        apps: as they are stored; no more than may be named.
        environments: likewise.
    """

    apps: tuple[str, ...] = ()
    environments: tuple[str, ...] = ()


NOTHING_WANTED = WantedNames()


class _Seen(NamedTuple):
    """What came of a value: when first, when last, and how many traces in a day."""

    first_at: datetime
    last_at: datetime
    traces: int


def choose_names(
    named: Sequence[NamedValue],
    activity: Sequence[LabelActivity],
    *,
    now: datetime,
    day: Sequence[LabelActivity] = (),
    wanted: WantedNames = NOTHING_WANTED,
) -> Names:
    """What is named next: a minute later than `named`, by what was stored.

    Apps and environments that are wanted are named; the others have names by their traces of the last day,
    and one that has a name keeps it unless another one has more than twice as many. Of the releases of an
    app in an environment the two with the most traces of the last hour are named, and the one that was
    busiest before them, so that a release that is rolled back to keeps its name (a third busy one where there
    is none). While nothing comes, nothing changes.

    Args:
        named: what is named now, those named first first.
        activity: of the last hour.
        now: when the choice is made.
        day: of the last day, which may be some minutes old.
        wanted: by the settings.
    """
    apps, folded_apps = _choose_busiest(
        NamedLabel.APP,
        named,
        _merge(*(_note_seen((one.app, one) for one in part) for part in (day, activity))),
        wanted=wanted.apps,
        most=MOST_APPS,
        now=now,
    )
    environments, folded_environments = _choose_busiest(
        NamedLabel.ENVIRONMENT,
        named,
        _merge(*(_note_seen((one.environment, one) for one in part) for part in (day, activity))),
        wanted=wanted.environments,
        most=MOST_ENVIRONMENTS,
        now=now,
    )
    releases: list[NamedValue] = []
    folded_releases = 0
    for app in apps:
        for environment in environments:
            place = (app.value, environment.value)
            chosen, folded = _choose_releases(
                place,
                [one for one in named if one.label is NamedLabel.RELEASE and one[1:3] == place],
                [one for one in activity if (one.app, one.environment) == place],
                now=now,
            )
            releases += chosen
            folded_releases += folded
    return Names(
        values=(*apps, *environments, *releases),
        folded={
            NamedLabel.APP: folded_apps,
            NamedLabel.ENVIRONMENT: folded_environments,
            NamedLabel.RELEASE: folded_releases,
        },
    )


def _note_seen(seen: Iterable[tuple[str, LabelActivity]]) -> dict[str, _Seen]:
    noted: dict[str, _Seen] = {}
    for value, one in seen:
        before = noted.get(value, _Seen(one.first_at, one.last_at, 0))
        noted[value] = _Seen(
            min(before.first_at, one.first_at), max(before.last_at, one.last_at), before.traces + one.traces
        )
    return noted


def _merge(day: Mapping[str, _Seen], hour: Mapping[str, _Seen]) -> dict[str, _Seen]:
    """Both looks as one: the hour is in the day, but for what came since the day was looked at."""
    merged = dict(day)
    for value, new in hour.items():
        old = merged.get(value, new)
        merged[value] = _Seen(
            min(old.first_at, new.first_at), max(old.last_at, new.last_at), max(old.traces, new.traces)
        )
    return merged


def _choose_busiest(
    label: NamedLabel,
    named: Sequence[NamedValue],
    seen: Mapping[str, _Seen],
    *,
    wanted: Sequence[str],
    most: int,
    now: datetime,
) -> tuple[list[NamedValue], int]:
    """The wanted ones, then those with the most traces, of which the named ones count double."""
    known = {
        one.value: one._replace(
            last_seen_at=max(one.last_seen_at, seen[one.value].last_at)
            if one.value in seen
            else one.last_seen_at
        )
        for one in named
        if one.label is label
    }

    def weigh(value: str) -> float:
        traces = seen[value].traces if value in seen else 0
        if value in wanted:
            return math.inf
        if value not in known or now - known[value].last_seen_at > IDLE:
            return traces
        return MUCH_MORE * max(traces, 1)  # one that is silent for a day does not give way to a single trace

    new = sorted({*seen, *wanted} - known.keys(), key=lambda value: (_first_seen(seen, value, now), value))
    in_order = sorted([*known, *new], key=weigh, reverse=True)  # of equals those named first, then seen first
    chosen = set(in_order[:most])
    values = [one for value, one in known.items() if value in chosen]
    for value in new:
        if value in chosen:
            last_at = seen[value].last_at if value in seen else now
            values.append(NamedValue(label, "", "", value, now, last_at))
    return values, sum(value not in chosen for value in seen)


def _first_seen(seen: Mapping[str, _Seen], value: str, now: datetime) -> datetime:
    return seen[value].first_at if value in seen else now


def _choose_releases(
    place: tuple[str, str],
    named: Sequence[NamedValue],
    activity: Sequence[LabelActivity],
    *,
    now: datetime,
) -> tuple[list[NamedValue], int]:
    if not activity:
        return list(named), 0
    known = {one.value: one for one in named}
    counts = {one.release: one.traces * (STAYING if one.release in known else 1.0) for one in activity}
    in_order = sorted(counts, key=lambda release: (-counts[release], release))
    busiest = in_order[:BUSIEST_RELEASES]
    before = [one for one in named if one.value not in busiest and one.busiest_at is not None]
    stable = max(before, key=lambda one: (one.busiest_at or now, one.value), default=None)
    last_at = {one.release: one.last_at for one in activity}
    values = []
    if stable is None:
        busiest = in_order[: BUSIEST_RELEASES + 1]
    for release in busiest:
        one = known.get(release) or NamedValue(NamedLabel.RELEASE, *place, release, now, last_at[release])
        is_first = release == busiest[0]
        values.append(
            one._replace(
                last_seen_at=max(one.last_seen_at, last_at[release]),
                busiest_at=now if is_first else one.busiest_at,
            )
        )
    if stable is not None:
        seen_at = max(stable.last_seen_at, last_at.get(stable.value, stable.last_seen_at))
        values.append(stable._replace(last_seen_at=seen_at))
    names = {one.value for one in values}
    return values, sum(release not in names for release in counts)
