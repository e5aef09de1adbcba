"""`ragsonde export-schema`."""

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from ragsonde_schemas.errors import InputError
from ragsonde_schemas.wire import WIRE_SCHEMA_FILE, wire_schema

EXAMPLES = (
    ("ragsonde export-schema > trace.v1.json", "the schema that producers validate against"),
    ("ragsonde export-schema --output-dir schemas/wire", "written under its own name"),
)

OutputDirOption = Annotated[
    Path | None,
    typer.Option("--output-dir", metavar="DIR", help="Write trace.v1.json there instead of printing."),
]


def export_schema(output_dir: OutputDirOption = None) -> None:
    """Print the JSON Schema of the native message."""
    text = json.dumps(wire_schema(), indent=2, ensure_ascii=False) + "\n"
    if output_dir is None:
        sys.stdout.write(text)
        return
    path = output_dir / WIRE_SCHEMA_FILE
    try:
        output_dir.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(
            f"{path}: cannot be written ({error.strerror}); choose another --output-dir"
        ) from error
    sys.stdout.write(f"{path}\n")
