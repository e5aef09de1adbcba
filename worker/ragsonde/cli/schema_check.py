"""Opens the database for a command, and refuses one whose schema is older than this program's, or strange."""

from __future__ import annotations

import logging
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ragsonde.cli.connections import find_database_url
from ragsonde.storage.engine import build_engine
from ragsonde.storage.schema_state import is_newer, schema_state
from ragsonde_schemas.errors import SetupError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Engine

    from ragsonde.settings import Settings


logger = logging.getLogger(__name__)


@contextmanager
def open_database(settings: Settings, *, command: str) -> Iterator[Engine]:
    """One connection to the database of the settings, for as long as the block lasts.

    Args:
        settings: whose database, else the running embedded stack's.
        command: names the connection in Postgres.

    Raises:
        SetupError: there is no database, or its schema is older.
        DatabaseLostError: Postgres is away.
    """
    url = find_database_url(settings)
    require_current_schema(url)
    engine = build_engine(url, application_name=f"ragsonde-{command}", pool_size=1)
    try:
        yield engine
    finally:
        engine.dispose()


def require_current_schema(database_url: str) -> None:
    """Returns when the database has the schema that this program knows, or a newer one, which is logged.

    Raises:
        SetupError: it has an older one, or none.
        DatabaseLostError: Postgres is away.
    """
    engine = build_engine(database_url, application_name="ragsonde-check", pool_size=1)
    try:
        current, head = schema_state(engine)
    finally:
        engine.dispose()
    if is_newer(current, head):
        logger.warning("schema_is_newer", extra={"schema": current, "known": head})
    elif current != head:
        raise SetupError(
            f"the database has schema {current or 'none'}, expected {head}: run `ragsonde migrate` with "
            "the same database_url first"
        )
