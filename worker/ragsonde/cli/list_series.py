"""`ragsonde list-series`."""

import sys
from enum import StrEnum
from typing import Annotated

import typer
from rich.table import Table

from ragsonde.cli.series_page import list_all, list_processes, write_page
from ragsonde.cli.terminal import make_console, show, write_json

EXAMPLES = (
    ("ragsonde list-series", "what each series says, and which process exposes it"),
    ("ragsonde list-series --output json", "all of it, for scripts"),
    ("ragsonde list-series --output markdown", "the reference page"),
)


class ListForm(StrEnum):
    """How the series are shown."""

    TABLE = "table"
    """for people"""
    JSON = "json"
    """for scripts"""
    MARKDOWN = "markdown"
    """the reference page"""


ListOption = Annotated[
    ListForm, typer.Option("--output", "-o", help="For people, for scripts, or as the reference page.")
]


def list_series(*, output: ListOption = ListForm.TABLE) -> None:
    """List what is exposed to Prometheus.

    Values are asked of a running process, by its /metrics.
    """
    if output is ListForm.MARKDOWN:
        sys.stdout.write(write_page())
    elif output is ListForm.JSON:
        write_json(
            [
                {
                    "name": declared.full_name,
                    "type": declared.type_name,
                    "labels": list(declared.labels),
                    "unit": declared.unit or None,
                    "buckets": list(declared.buckets) or None,
                    "processes": list_processes(declared),
                    "over_processes": declared.over_processes,
                    "help": declared.help,
                }
                for declared in list_all()
            ]
        )
    else:
        table = Table("series", "type", "labels", "process", "")
        for declared in list_all():
            process, labels = ", ".join(list_processes(declared)), ", ".join(declared.labels)
            table.add_row(
                show(declared.full_name), declared.type_name, show(labels), process, show(declared.help)
            )
        make_console().print(table)
