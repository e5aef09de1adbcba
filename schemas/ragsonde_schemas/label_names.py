"""Which apps, environments and releases have series of their own, in every process of a deployment."""

from __future__ import annotations

from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

MOST_APPS = 20
MOST_ENVIRONMENTS = 5
BUSIEST_RELEASES = 2
MOST_RELEASES = BUSIEST_RELEASES + 1
"""Of an app in an environment: the busiest ones, and the stable one before."""


class NamedLabel(StrEnum):
    """A label whose values producers send, and the deployment agrees on."""

    APP = "app"
    ENVIRONMENT = "environment"
    RELEASE = "release"


class NamedValue(NamedTuple):
    """A value that is shown by its own name.

    Attributes:
        label: whose value it is.
        app: whose release it is; '' for an app itself, an environment and where the app is unknown.
        environment: where the release runs; '' for an app and an environment itself, and where it is unknown.
        value: as producers send it.
        named_at: since when it has its name.
        last_seen_at: when the last trace of it was stored.
        busiest_at: when the release was last the one with the most traces in an hour; None: never, or no
            release.
    """

    label: NamedLabel
    app: str
    environment: str
    value: str
    named_at: datetime
    last_seen_at: datetime
    busiest_at: datetime | None = None

    @property
    def key(self) -> tuple[str, str, str, str]:
        """What tells it from every other value."""
        return self.label, self.app, self.environment, self.value


class LabelActivity(NamedTuple):
    """What was stored of a release of an app in an environment.

    Attributes:
        first_at, last_at: when the first and the last of these traces were stored.
    """

    app: str
    environment: str
    release: str
    traces: int
    first_at: datetime
    last_at: datetime


class LabelNames(NamedTuple):
    """All values that are shown by their own names, those named first first; `app` is '' where unknown.

    Attributes:
        releases: by app and environment.
    """

    apps: tuple[str, ...] = ()
    environments: tuple[str, ...] = ()
    releases: Mapping[tuple[str, str], tuple[str, ...]] = MappingProxyType({})


NO_NAMES = LabelNames()
