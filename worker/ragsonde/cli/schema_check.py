"""Opens the database for a command, and refuses one whose schema is not this program's."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from ragsonde.cli.connections import find_database_url
from ragsonde.storage.engine import build_engine
from ragsonde.storage.migrations import schema_state
from ragsonde_schemas.errors import SetupError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Engine

    from ragsonde.settings import Settings


@contextmanager
def open_database(settings: Settings, *, command: str) -> Iterator[Engine]:
    """One connection to the database of the settings, for as long as the block lasts.

    Args:
        settings: whose database, else the running embedded stack's.
        command: names the connection in Postgres.

    Raises:
        SetupError: there is no database, or it has another schema.
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
    """Returns when the database has the schema that this program knows.

    Raises:
        SetupError: it has another one.
        DatabaseLostError: Postgres is away.
    """
    engine = build_engine(database_url, application_name="ragsonde-check", pool_size=1)
    try:
        current, head = schema_state(engine)
    finally:
        engine.dispose()
    if current != head:
        raise SetupError(
            f"the database has schema {current or 'none'}, expected {head}: run `ragsonde migrate` with "
            "the same database_url first"
        )
