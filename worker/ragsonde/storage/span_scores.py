"""What the scorers say of a stretch of time, of all scores however many there are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragsonde.storage.counted_scores import sum_counted
from ragsonde.storage.watched_scores import FEW_BLOCKS, complete, summarise_scores

if TYPE_CHECKING:
    from datetime import datetime

    from sqlalchemy import Engine

    from ragsonde.storage.watched_live import Stretch
    from ragsonde_schemas.watched import Place, ScorerSummary


def summarise_span(
    engine: Engine, stretch: Stretch, *, now: datetime
) -> dict[Place, tuple[ScorerSummary, ...]]:
    """One summary for each scorer and each model that answered, by place; no trends.

    Counts lack what passed its threshold and why there is no score: that is read from rows, and where there
    are few of them they tell all the rest as well. Of many a part tells it, beside counts of all.

    Args:
        engine: of this process.
        stretch: of the time at which traces occurred.
        now: of the same clock as the stores'.

    Raises:
        DatabaseLostError: Postgres is away.
    """
    outcomes = summarise_scores(engine, stretch, most_blocks=FEW_BLOCKS)
    if outcomes.share >= 1:
        return outcomes.scorers
    counted = sum_counted(engine, stretch, now=now)
    if counted is None:
        return summarise_scores(engine, stretch).scorers
    return complete(outcomes.scorers, counted.summarise(share=1.0))
