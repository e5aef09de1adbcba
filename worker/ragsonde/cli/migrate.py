"""`ragsonde migrate`: brings the database to this program's schema."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

import typer
from rich.console import Console

from ragsonde.cli.connection_options import DatabaseUrlOption, DataDirOption
from ragsonde.cli.connections import find_database_url
from ragsonde.cli.options import ConfigOption
from ragsonde.settings import read_settings
from ragsonde.storage.engine import build_engine
from ragsonde.storage.migrations import migrate as migrate_schema
from ragsonde.storage.partitions import ensure_partitions
from ragsonde.storage.schema_state import is_newer, schema_state

EXAMPLES = (
    (
        "ragsonde migrate --database-url postgresql://ragsonde@127.0.0.1/ragsonde",
        "create or upgrade the tables",
    ),
    ("ragsonde migrate --dry-run", "only say what would be done"),
)


def migrate(
    *,
    config: ConfigOption = None,
    database_url: DatabaseUrlOption = None,
    data_dir: DataDirOption = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be done, change nothing.")
    ] = False,
) -> None:
    """Create or upgrade the tables.

    Safe to run again, and while workers run: it gives way to those who write, and tries again for a minute.
    Several at once wait for each other.
    """
    settings = read_settings(config, options={"database_url": database_url, "data_dir": data_dir})
    url = find_database_url(settings)
    engine = build_engine(url, application_name="ragsonde-migrate", pool_size=1)
    console = Console()
    try:
        current, head = schema_state(engine)
        if current == head:
            console.print(f"schema {head} is there already")
        elif is_newer(current, head):
            console.print(
                f"schema {current} is newer than {head}, the newest this ragsonde knows: left as it is"
            )
        elif dry_run:
            console.print(f"would go from schema {current or 'none'} to {head}")
        else:
            migrate_schema(url)
            console.print(f"schema {current or 'none'} -> {head}")
        if not dry_run:
            ensure_partitions(engine, today=datetime.now(UTC).date())
    finally:
        engine.dispose()
