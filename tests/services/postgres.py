"""Which Postgres the tests use, and databases of their own on it."""

from __future__ import annotations

import os
import uuid
from contextlib import contextmanager
from typing import TYPE_CHECKING

import psycopg
import pytest
from psycopg.sql import SQL, Identifier
from sqlalchemy import make_url

from ragsonde.storage.tables import Tables

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Engine

HOST, PORT = "127.0.0.1", 5432
VARIABLE = "TEST_DATABASE_URL"


def find_server() -> str | None:
    """The URL of a server for our databases: the environment's, else the local one, else None."""
    if given := os.environ.get(VARIABLE):
        return given
    local = f"postgresql://postgres@{HOST}:{PORT}/postgres"
    try:
        psycopg.connect(local, connect_timeout=5).close()
    except psycopg.OperationalError as error:
        if os.environ.get("CI"):
            pytest.fail(f"CI is set and no Postgres lets us in on {HOST}:{PORT}: {error}")
        return None
    return local


@contextmanager
def own_database(server_url: str, *, template: str | None = None) -> Iterator[str]:
    """The URL of a fresh database, empty or a copy of the template, dropped afterwards."""
    name = f"ragsonde_test_{uuid.uuid4().hex[:12]}"
    create = SQL("CREATE DATABASE {}").format(Identifier(name))
    if template is not None:
        create = SQL("{} TEMPLATE {}").format(create, Identifier(template))
    _execute(server_url, create)
    try:
        yield make_url(server_url).set(database=name).render_as_string(hide_password=False)
    finally:
        _execute(server_url, SQL("DROP DATABASE {} WITH (FORCE)").format(Identifier(name)))


def empty_tables(engine: Engine) -> None:
    """Deletes all rows; for few rows in many partitions that is far quicker than TRUNCATE."""
    with engine.begin() as connection:
        for table in reversed(Tables.metadata.sorted_tables):
            connection.execute(table.delete())


def _execute(server_url: str, statement: SQL | psycopg.sql.Composed) -> None:
    with psycopg.connect(server_url, autocommit=True) as connection:
        connection.execute(statement)
