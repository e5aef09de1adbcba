"""Which schema a database has, and which one this program knows."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import text

from ragsonde.storage.engine import translating_losses
from ragsonde_schemas.errors import SetupError

if TYPE_CHECKING:
    from sqlalchemy import Engine

_HAS_ANY = text("SELECT to_regclass('alembic_version') IS NOT NULL")
_READ = text("SELECT version_num FROM alembic_version")


def schema_state(engine: Engine) -> tuple[str | None, str | None]:
    """The revision that the database has, None for an empty one, and the newest that this program knows.

    Alembic is not asked, which is slow to import: a revision's number begins the name of its file.

    Raises:
        DatabaseLostError: Postgres is away.
        SetupError: the migrations are not where they belong.
    """
    head = max(
        (path.name.partition("_")[0] for path in find_migrations().glob("versions/*_*.py")), default=None
    )
    with translating_losses(), engine.connect() as connection:
        if not connection.execute(_HAS_ANY).scalar_one():
            return None, head
        return connection.execute(_READ).scalar(), head


def is_newer(current: str | None, head: str | None) -> bool:
    """True for the schema of a later version than this program's.

    Migrations only expand what workers of the version before use, so such a program goes on: it must be able
    to start again between the migration and its replacement.
    """
    return current is not None and head is not None and current.isdigit() and int(current) > int(head)


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
