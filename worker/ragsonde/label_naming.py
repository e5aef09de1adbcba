"""Which apps, environments and releases are named in series; what is seen beside them is `other`."""

from __future__ import annotations

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
"""An app or environment that sent nothing for so long gives way where another one has no name."""
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


class _Seen(NamedTuple):
    """When a value was first and last seen."""

    first_at: datetime
    last_at: datetime


def choose_names(named: Sequence[NamedValue], activity: Sequence[LabelActivity], *, now: datetime) -> Names:
    """What is named next: a minute later than `named`, by what was stored in the last hour.

    Apps and environments keep their names once they have them, first come, first served. Of the releases of
    an app in an environment the two with the most traces are named, and the one that was busiest before them,
    so that a release that is rolled back to keeps its name (a third busy one where there is none). While
    nothing comes, nothing changes.
    """
    apps, folded_apps = _choose_first(
        NamedLabel.APP, named, _note_seen((one.app, one) for one in activity), most=MOST_APPS, now=now
    )
    environments, folded_environments = _choose_first(
        NamedLabel.ENVIRONMENT,
        named,
        _note_seen((one.environment, one) for one in activity),
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
        before = noted.get(value, _Seen(one.first_at, one.last_at))
        noted[value] = _Seen(min(before.first_at, one.first_at), max(before.last_at, one.last_at))
    return noted


def _choose_first(
    label: NamedLabel, named: Sequence[NamedValue], seen: Mapping[str, _Seen], *, most: int, now: datetime
) -> tuple[list[NamedValue], int]:
    """Those that are named stay; new ones take what room there is, and then the places of idle ones."""
    kept = {
        one.value: one._replace(
            last_seen_at=max(one.last_seen_at, seen[one.value].last_at)
            if one.value in seen
            else one.last_seen_at
        )
        for one in named
        if one.label is label
    }
    new = sorted(
        (value for value in seen if value not in kept), key=lambda value: (seen[value].first_at, value)
    )
    idle = sorted(
        (one for one in kept.values() if now - one.last_seen_at > IDLE), key=lambda one: one.last_seen_at
    )
    for one in idle[: max(0, len(kept) + len(new) - most)]:
        del kept[one.value]
    admitted = new[: max(0, most - len(kept))]
    values = [
        *kept.values(),
        *(NamedValue(label, "", "", value, now, seen[value].last_at) for value in admitted),
    ]
    return values, len(new) - len(admitted)


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
