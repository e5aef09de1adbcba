"""Options of the commands that talk to broker and database."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

BrokerUrlOption = Annotated[
    str | None,
    typer.Option(
        "--broker-url", metavar="URL", help="amqp://user:password@host:5672/vhost; default: embedded."
    ),
]
DatabaseUrlOption = Annotated[
    str | None,
    typer.Option(
        "--database-url", metavar="URL", help="postgresql://user@host:5432/database; default: embedded."
    ),
]
DataDirOption = Annotated[
    Path | None,
    typer.Option("--data-dir", metavar="DIR", help="Data of the embedded servers; default: ./ragsonde-data."),
]
