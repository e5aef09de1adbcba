"""The schema's migrations, run from a source checkout and from an installed wheel alike."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING

from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory

from ragsonde.storage.engine import build_engine, translating_losses
from ragsonde_schemas.errors import SetupError

if TYPE_CHECKING:
    from sqlalchemy import Engine

_ALONE = threading.Lock()
"""Alembic keeps the migration that runs in a global of the process."""


def migrate(url: str, *, revision: str = "head") -> None:
    """Brings the schema of a database to a revision; safe when many do it at once.

    Raises:
        DatabaseLostError: Postgres is away, or another migration holds its lock for too long.
        SetupError: the migrations are not where they belong.
    """
    engine = build_engine(url, application_name="ragsonde migrate", pool_size=1)
    try:
        with translating_losses(), _ALONE:
            command.upgrade(build_config(engine), revision)
    finally:
        engine.dispose()


def schema_state(engine: Engine) -> tuple[str | None, str | None]:
    """The revision that the database has, None for an empty one, and the newest that this program knows.

    Raises:
        DatabaseLostError: Postgres is away.
        SetupError: the migrations are not where they belong.
    """
    head = ScriptDirectory.from_config(build_config(engine)).get_current_head()
    with translating_losses(), engine.connect() as connection:
        return MigrationContext.configure(connection).get_current_revision(), head


def build_config(engine: Engine) -> Config:
    """Alembic's configuration for one database, without any file.

    Raises:
        SetupError: the migrations are not where they belong.
    """
    config = Config()
    config.set_main_option("script_location", str(find_migrations()).replace("%", "%%"))
    config.attributes["engine"] = engine
    return config


def find_migrations() -> Path:
    """The folder of the migrations: of the checkout, or `ragsonde_migrations` beside the installed package.

    Raises:
        SetupError: neither is there.
    """
    package = Path(__file__).resolve().parents[1]
    places = (package.parents[1] / "migrations", package.parent / "ragsonde_migrations")
    for place in places:
        if (place / "env.py").is_file():
            return place
    looked = " and ".join(str(place) for place in places)
    raise SetupError(f"no migrations in {looked}: install ragsonde again")
