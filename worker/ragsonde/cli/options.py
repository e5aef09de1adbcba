"""Options that several commands share."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class OutputForm(StrEnum):
    """How a command shows its result."""

    TABLE = "table"
    """for people"""
    JSON = "json"
    """for scripts"""


ConfigOption = Annotated[
    Path | None,
    typer.Option(
        "--config",
        metavar="FILE",
        help="The settings file; else $RAGSONDE_CONFIG, else ./ragsonde.yaml if present.",
    ),
]
OutputOption = Annotated[OutputForm, typer.Option("--output", "-o", help="For people, or for scripts.")]
