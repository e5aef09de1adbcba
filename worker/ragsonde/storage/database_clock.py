"""What time it is for Postgres."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import text

from ragsonde.storage.engine import translating_losses

if TYPE_CHECKING:
    from datetime import datetime

    from sqlalchemy import Engine


def read_database_time(engine: Engine) -> datetime:
    """What Postgres's clock says.

    Raises:
        DatabaseLostError: Postgres is away.
    """
    with translating_losses(), engine.connect() as connection:
        moment: datetime = connection.execute(text("SELECT clock_timestamp()")).scalar_one()
    return moment
