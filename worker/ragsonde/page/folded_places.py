"""Places that have no series of their own: what `other` in an alert stands for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragsonde_schemas.app_name import show_app

if TYPE_CHECKING:
    from ragsonde_schemas.label_names import LabelNames
    from ragsonde_schemas.watched import Overview, Place

OTHER = "other"
"""As series name all values together that have no name of their own."""


def find_folded(overview: Overview, names: LabelNames, *, app: str, environment: str | None) -> list[Place]:
    """The places that an alert about `other` is of, the busiest first; none where it names no `other`.

    Args:
        overview: of all places.
        names: what series name.
        app: as the alert names it.
        environment: likewise; None is any.
    """
    if OTHER not in (app, environment):
        return []
    return [
        place
        for place in (one.activity.place for one in overview.places)
        if _is_of(show_app(place.app), app, is_named=place.app in names.apps)
        and (
            environment is None
            or _is_of(place.environment, environment, is_named=place.environment in names.environments)
        )
    ]


def _is_of(value: str, label: str, *, is_named: bool) -> bool:
    return value == label or (label == OTHER and not is_named)
