"""Refuses to work on a database whose schema is not this program's."""

from __future__ import annotations

from ragsonde.storage.engine import build_engine
from ragsonde.storage.migrations import schema_state
from ragsonde_schemas.errors import SetupError


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
