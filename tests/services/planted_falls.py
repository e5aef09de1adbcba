"""Two weeks of made-up counts in a deployment's Postgres, up to now, as if its monitor had counted them."""

from __future__ import annotations

from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from builders.score_counts import join_counts, make_counts
from ragsonde.regression.block_lengths import BLOCKS_PER_DAY
from ragsonde.regression.options import RegressionOptions
from ragsonde.storage.baselines import number_block
from ragsonde.storage.engine import build_engine
from services.regression_ground import RegressionGround

if TYPE_CHECKING:
    from collections.abc import Iterator

DAYS = 10
PER_BLOCK = 4
WELL, FALLEN = 0.8, 0.6
FELL_AT = DAYS * BLOCKS_PER_DAY - 2 * BLOCKS_PER_DAY
"""The block in which a fall begins: eight good days, then one and a half of a mean that is .2 lower."""


class Planting:
    """Streams of a deployment; all begin at the same midnight."""

    def __init__(self, ground: RegressionGround, *, now: datetime) -> None:
        self.ground = ground
        self.until = number_block(now - timedelta(minutes=15)) - ground.first

    def add(self, *, has_fallen: bool, **stream: str) -> None:
        """Counts of a stream, all of them closed and none of them judged yet."""
        days = self.until / BLOCKS_PER_DAY
        counts = make_counts(days=days, per_block=PER_BLOCK, mean=WELL, seed=1)
        if has_fallen:
            rest = self.until - FELL_AT
            worse = make_counts(
                days=rest / BLOCKS_PER_DAY,
                per_block=PER_BLOCK,
                mean=FALLEN,
                first_day=FELL_AT / BLOCKS_PER_DAY,
                seed=2,
            )
            counts = join_counts(counts.between(0, FELL_AT), worse)
        self.ground.count(self.ground.add_stream(**stream), counts)
        self.ground.close(self.until)

    @property
    def fell_at(self) -> datetime:
        """When the falls began."""
        return datetime.fromtimestamp((self.ground.first + FELL_AT) * 300, UTC)


@contextmanager
def planting(database_url: str, *, options: RegressionOptions | None = None) -> Iterator[Planting]:
    """Streams that began ten days ago, judged by these options."""
    engine = build_engine(database_url, application_name="ragsonde planting")
    now = datetime.now(UTC)
    try:
        ground = RegressionGround(
            engine, begin=now - timedelta(days=DAYS), options=options or RegressionOptions()
        )
        yield Planting(ground, now=now)
    finally:
        engine.dispose()
