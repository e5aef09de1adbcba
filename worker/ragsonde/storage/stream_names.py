"""Every stream that was ever counted: to tell a wrong name from an empty history."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import text

from ragsonde.storage.block_tables import STREAM_KEY
from ragsonde.storage.engine import translating_losses
from ragsonde_schemas.score_stream import ScoreStream

if TYPE_CHECKING:
    from sqlalchemy import Engine

_KEY = ", ".join(STREAM_KEY)
_READ = text(f"SELECT {_KEY} FROM score_stream ORDER BY {_KEY}")  # noqa: S608  # constants


def list_named_streams(engine: Engine) -> tuple[ScoreStream, ...]:
    """All of them, whether or not they have blocks still.

    Raises:
        DatabaseLostError: Postgres is away.
    """
    with translating_losses(), engine.connect() as connection:
        rows = connection.execute(_READ).all()
    return tuple(ScoreStream(**dict(zip(STREAM_KEY, row, strict=True))) for row in rows)
