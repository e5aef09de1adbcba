"""How Alembic reaches the database: one at a time, never waiting long for a lock that writers hold."""

from __future__ import annotations

import re

from alembic import context
from sqlalchemy import Connection, text

from ragsonde.storage.locks import MIGRATION_LOCK
from ragsonde.storage.table_names import PARTITIONED
from ragsonde.storage.tables import Tables

LOCK_TIMEOUT = "2s"  # writers queue up behind a migration that waits: it gives way, and is tried again
STATEMENT_TIMEOUT = "15min"
TURN_TIMEOUT = "60s"  # how long to wait for another process that migrates, or reads the ledger

_PARTITION = re.compile(rf"({'|'.join(PARTITIONED)})_\d{{8}}")


def is_ours(name: str | None, kind: str, _parents: object) -> bool:
    """False for partitions: they come and go with the days, only their parents are migrated."""
    return not (kind == "table" and name is not None and _PARTITION.fullmatch(name))


def migrate(connection: Connection) -> None:
    """One transaction: so its lock cannot outlive it, not even behind a pooler of transactions.

    `ragsonde migrate` asks for one revision at a time, so that no transaction holds the locks of two.
    """
    context.configure(
        connection=connection,
        target_metadata=Tables.metadata,
        include_name=is_ours,
        compare_server_default=True,
    )
    with context.begin_transaction():
        connection.execute(text(f"SET LOCAL statement_timeout = '{STATEMENT_TIMEOUT}'"))
        connection.execute(text(f"SET LOCAL lock_timeout = '{TURN_TIMEOUT}'"))
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": MIGRATION_LOCK})
        connection.execute(text(f"SET LOCAL lock_timeout = '{LOCK_TIMEOUT}'"))
        context.run_migrations()


with context.config.attributes["engine"].connect() as connection:
    migrate(connection)
