"""Streams whose falls are told, and what people decide about them, at the time of the ground's clock."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from builders.score_counts import join_counts, make_counts
from ragsonde.regression.options import RegressionOptions
from ragsonde.storage.baselines import number_block
from ragsonde.storage.chosen_baselines import list_baselines
from ragsonde.watching.baseline_choosing import Names, drop_baseline, pin_baselines, set_floors
from ragsonde.watching.steering import accept_alert, call_false
from ragsonde_schemas.score_stream import block_at
from services.regression_ground import RegressionGround

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from fakes.clock import FakeClock
    from ragsonde.regression.blocks import BlockCounts
    from ragsonde.storage.chosen_baselines import ShownBaseline
    from ragsonde.watching.baseline_choosing import Choice
    from ragsonde.watching.steering import Accepted

STRATA = ("a", "b")
DAY = 288
WELL = make_counts(days=9, per_block=4, strata=STRATA, seed=1)


def level(*, first: int, end: int, mean: float, seed: int = 2, per_block: int = 4) -> BlockCounts:
    """Blocks `first` to `end - 1` at one level."""
    days = -(-end // DAY) - first // DAY
    counts = make_counts(
        days=days, per_block=per_block, mean=mean, first_day=first // DAY, strata=STRATA, seed=seed
    )
    return counts.between(first, end)


class SteeringGround(RegressionGround):
    """As `RegressionGround`, with a stream that fell after nine good days."""

    def __init__(self, engine: Engine, *, clock: FakeClock | None = None) -> None:
        super().__init__(engine)
        if clock is not None:
            self.clock = clock
            self.first = number_block(clock.now()) // DAY * DAY
            self.chores = replace(self.chores, clock=clock)

    def begin(self) -> int:
        """A stream of nine good days, all judged."""
        stream = self.add_stream()
        self.count(stream, WELL)
        self.judge(until=9 * DAY)
        return stream

    def go_on(self, stream: int, counts: BlockCounts, *, step: int = 24) -> None:
        """Counts and judges these blocks, some at a time."""
        first, end = int(counts.block[0]), int(counts.block[-1]) + 1
        for start in range(first, end, step):
            until = min(start + step, end)
            self.count(stream, counts.between(start, until))
            self.judge(until=until)

    def fall(self, stream: int, *, until: int = 9 * DAY + 96, mean: float = 0.6) -> int:
        """The number of the alert that a fall raises."""
        self.go_on(stream, level(first=9 * DAY, end=until, mean=mean))
        return int(self.list_alerts()[-1]["id"])

    def accept(self, alert: int, reason: str = "meant") -> Accepted:
        return accept_alert(
            self.engine, alert, reason=reason, options=RegressionOptions(), now=self.clock.now()
        )

    def call_false(self, alert: int) -> bool:
        return call_false(self.engine, alert, reason=None, now=self.clock.now())

    def pin(self, *, first: int, end: int, is_dry: bool = False, **names: Any) -> tuple[Choice, ...]:  # noqa: ANN401 - as given on
        return pin_baselines(
            self.engine,
            Names("shop", **names),
            since=block_at(self.first + first),
            until=block_at(self.first + end),
            reason="a good week",
            options=RegressionOptions(),
            now=self.clock.now(),
            is_dry=is_dry,
        )

    def set_floor(self, mean: float, *, scorer: str = "context_precision") -> tuple[Choice, ...]:
        names = Names("shop", scorer=scorer)
        return set_floors(self.engine, names, mean=mean, reason="promised", now=self.clock.now())

    def drop(self, baseline: int) -> ShownBaseline:
        return drop_baseline(self.engine, baseline, reason="gone", now=self.clock.now())

    def list_baselines(self, *, with_past: bool = True) -> tuple[ShownBaseline, ...]:
        with self.engine.connect() as connection:
            return list_baselines(connection, with_past=with_past)

    def list_kinds(self) -> list[tuple[str, Any, Any]]:
        return [(one["kind"], one["paged_at"], one["closed_at"]) for one in self.list_alerts()]


def assert_same_state(found: Any, expected: Any) -> None:  # noqa: ANN401 - stored states
    assert (found.block, found.baseline) == (expected.block, expected.baseline)
    assert (found.state.level, found.state.opened) == (expected.state.level, expected.state.opened)
    assert np.allclose(found.state.log_bets, expected.state.log_bets, rtol=0, atol=1e-9)


__all__ = ["DAY", "STRATA", "WELL", "SteeringGround", "assert_same_state", "join_counts", "level"]
