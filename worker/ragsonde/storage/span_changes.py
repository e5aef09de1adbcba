"""Which models began to answer for judges, and which versions of scorers to count, in a span of time."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import text

from ragsonde.storage.engine import translating_losses
from ragsonde.storage.trace_rows import to_utc
from ragsonde_schemas.stream_labels import judge_label, scorer_label

if TYPE_CHECKING:
    from datetime import datetime

    from sqlalchemy import Engine

_MODELS = text(
    """
SELECT judge, fingerprint, epoch, answered_model, first_since AS at FROM judge_epoch
WHERE first_since >= :since AND first_since < :until ORDER BY first_since, judge, epoch
"""
)
_VERSIONS = text(
    """
SELECT scorer, version, changed_at AS at FROM scorer_version
WHERE changed_at >= :since AND changed_at < :until AND is_active ORDER BY changed_at, scorer
"""
)


class JudgeModel(NamedTuple):
    """A model that answered for a judge for the first time then; it is the first one of all in epoch 1."""

    judge: str
    model: str
    epoch: int
    at: datetime


class ScorerVersion(NamedTuple):
    """A version of a scorer that began to count then, as people read its name."""

    scorer: str
    version: str
    at: datetime


def read_new_models(engine: Engine, *, since: datetime, until: datetime) -> tuple[JudgeModel, ...]:
    """The oldest first.

    Raises:
        DatabaseLostError: Postgres is away.
    """
    with translating_losses(), engine.connect() as connection:
        rows = connection.execute(_MODELS, {"since": since, "until": until})
        return tuple(
            JudgeModel(
                judge_label(row.judge, row.fingerprint, row.epoch),
                row.answered_model,
                row.epoch,
                to_utc(row.at),
            )
            for row in rows
        )


def read_new_versions(engine: Engine, *, since: datetime, until: datetime) -> tuple[ScorerVersion, ...]:
    """The oldest first.

    Raises:
        DatabaseLostError: Postgres is away.
    """
    with translating_losses(), engine.connect() as connection:
        rows = connection.execute(_VERSIONS, {"since": since, "until": until})
        return tuple(
            ScorerVersion(scorer_label(row.scorer, row.version), row.version, to_utc(row.at)) for row in rows
        )
