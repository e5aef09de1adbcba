"""The schema's migrations, run from a source checkout and from an installed wheel alike."""

from __future__ import annotations

import logging
import threading
import time
from typing import TYPE_CHECKING

from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import text

from ragsonde.storage.engine import build_engine, translating_losses
from ragsonde.storage.schema_state import find_migrations, is_newer, schema_state
from ragsonde_schemas.errors import DatabaseLostError, GivenUpError, LockedOutError

if TYPE_CHECKING:
    from sqlalchemy import Engine

logger = logging.getLogger(__name__)

PATIENCE_SECONDS = 60.0
PAUSE_SECONDS = 3.0
"""Between two attempts: longer than one of them may keep writers waiting."""

_HOLDERS = """
SELECT a.application_name, a.pid, extract(epoch FROM clock_timestamp() - a.xact_start)::int
FROM pg_stat_activity a
WHERE a.datname = current_database() AND a.xact_start < clock_timestamp() - interval '2 seconds'
  AND EXISTS (SELECT FROM pg_locks l WHERE l.pid = a.pid AND l.granted
    AND (l.locktype = 'advisory' OR l.relation IN (
        SELECT oid FROM pg_class WHERE relnamespace = current_schema()::regnamespace)))
ORDER BY a.xact_start LIMIT 5
"""
"""Transactions of more than the two seconds that a migration waits for a lock."""

_ALONE = threading.Lock()
"""Alembic keeps the migration that runs in a global of the process."""


def migrate(url: str, *, revision: str = "head", patience_seconds: float = PATIENCE_SECONDS) -> None:
    """Brings the schema of a database to a revision; safe when many do it at once, and while workers run.

    Each revision on the way is one transaction, so that the locks of one are gone before the next begins, and
    a migration that was killed goes on where it was. Where a revision cannot have a lock at once it gives way
    to those who write, changes nothing, and is tried again. A schema newer than this program's is left as it
    is.

    Args:
        url: of the database.
        revision: where to.
        patience_seconds: after which a revision that always had to give way is given up.

    Raises:
        DatabaseLostError: Postgres is away, or others held the locks for all the time; the revisions before
            are there, and migrating again goes on from them.
        SetupError: the migrations are not where they belong.
    """
    engine = build_engine(url, application_name="ragsonde migrate", pool_size=1)
    try:
        while (step := _find_next(engine, revision)) is not None:
            _take_step(engine, step, patience_seconds=patience_seconds)
    finally:
        engine.dispose()


def _find_next(engine: Engine, revision: str) -> str | None:
    """The next revision on the way to that one; None where the schema is there, or newer than all known."""
    current, head = schema_state(engine)
    if is_newer(current, head):
        return None
    script = ScriptDirectory.from_config(build_config(engine))
    way = [one.revision for one in script.iterate_revisions(revision, current or "base")]
    return way[-1] if way else None


def _take_step(engine: Engine, revision: str, *, patience_seconds: float) -> None:
    """Does one revision, unless another process has done it meanwhile: Alembic looks under the lock."""
    ends_at = time.monotonic() + patience_seconds
    while True:
        try:
            with translating_losses(), _ALONE:
                command.upgrade(build_config(engine), revision)
        except (LockedOutError, GivenUpError) as error:
            held_by = ", ".join(_list_holders(engine)) or "nobody now"
            if time.monotonic() >= ends_at:
                raise DatabaseLostError(
                    f"{error}; held by {held_by}; nothing of revision {revision} was changed, migrate later"
                ) from error
            extra = {"error": str(error), "revision": revision, "held_by": held_by}
            logger.warning("migration_gave_way", extra=extra)
            time.sleep(PAUSE_SECONDS)
        else:
            return


def _list_holders(engine: Engine) -> list[str]:
    """Who has kept locks for longer than a migration waits, the longest first."""
    with translating_losses(), engine.connect() as connection:
        rows = connection.execute(text(_HOLDERS)).all()
    return [f"{name or 'a client without a name'} (pid {pid}, {seconds} s)" for name, pid, seconds in rows]


def build_config(engine: Engine) -> Config:
    """Alembic's configuration for one database, without any file.

    Raises:
        SetupError: the migrations are not where they belong.
    """
    config = Config()
    config.set_main_option("script_location", str(find_migrations()).replace("%", "%%"))
    config.attributes["engine"] = engine
    return config
