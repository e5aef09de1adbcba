"""Whether the fall of an alert is over, by the counts that are closed."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, NamedTuple

from ragsonde.regression.floors import lift_baseline
from ragsonde.regression.verification import Verification, verify_recovery
from ragsonde.storage.baselines import number_block
from ragsonde.storage.chosen_baselines import list_baselines, read_floors
from ragsonde.storage.engine import translating_losses
from ragsonde.watching.counted_stretch import read_stretch
from ragsonde.watching.steering import require_alert, require_closed_until
from ragsonde_schemas.score_stream import BLOCK, block_at

if TYPE_CHECKING:
    from datetime import datetime

    from sqlalchemy import Engine

    from ragsonde.storage.chosen_baselines import ShownBaseline


class VerifiedAlert(NamedTuple):
    """What was looked at.

    Attributes:
        since, until: the moments whose blocks lie wholly between.
        baseline: that the alert was judged by.
        baseline_mean: of it, with the floor that stands beside it.
    """

    since: datetime
    until: datetime
    baseline: ShownBaseline
    baseline_mean: float
    found: Verification


def verify_alert(engine: Engine, number: int, *, since: datetime) -> VerifiedAlert:
    """How the stream of an alert scores since a time, against the alert's baseline.

    Raises:
        InputError: there is no such alert, or nothing was counted yet.
        DatabaseLostError: Postgres is away.
    """
    with translating_losses(), engine.connect() as connection:
        alert = require_alert(connection, number)
        until = require_closed_until(connection)
        first = min(number_block(since + BLOCK - timedelta(microseconds=1)), until)
        (shown,) = list_baselines(connection, number=alert.baseline, with_past=True)
        floor = read_floors(connection, [alert.stream]).get(alert.stream)
        baseline = shown.stored.baseline
        if floor is not None:
            baseline = lift_baseline(baseline, floor.mean)
        counts = read_stretch(connection, alert.stream, since=first, until=until).counts
    found = verify_recovery(baseline, counts)
    return VerifiedAlert(block_at(first), block_at(until), shown, baseline.mean, found)
