"""Which of the versions of a scorer counts: the active one, else the newest."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from ragsonde_schemas.score import Outcome


def covers(active: str, version: str) -> bool:
    """True where the active version is this one, or this one without its basis (`1` for `1:answer`)."""
    return active in (version, version.partition(":")[0])


def find_shown(versions: Sequence[tuple[datetime, Outcome]], *, active: str | None) -> Outcome | None:
    """Of one scorer's outcomes that which counts: of the active version, else the newest; None: of none.

    Args:
        versions: the outcomes of one scorer for one evaluation, each with when it was stored.
        active: the version that alone is shown, None for the newest.
    """
    own = [one for one in versions if active is None or covers(active, one[1].version)]
    newest = max(own, key=lambda one: (one[0], one[1].version), default=None)
    return newest[1] if newest else None
