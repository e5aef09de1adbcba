"""Where a report goes: a file, or standard output."""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING

from ragsonde.cli.terminal import write_json, write_note
from ragsonde.reporting.html import write_html
from ragsonde.reporting.markdown import write_markdown
from ragsonde_schemas.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

    from ragsonde.reporting.report import OwnersReport

_INDENT = 2


def refuse_bad_target(to: Path | None) -> None:
    """Nothing where a file can be written there, or none is asked for; before anything is read.

    Raises:
        InputError: it is a folder, or its folder is not there or may not be written to.
    """
    if to is None:
        return
    if to.is_dir():
        raise InputError(f"--to {to}: found a folder, expected the name of a file")
    if not to.parent.is_dir():
        raise InputError(f"--to {to}: its folder is not there; make {to.parent} first")
    if not os.access(to.parent, os.W_OK):
        raise InputError(f"--to {to}: its folder may not be written to; expected another one")


def write_report(report: OwnersReport, *, form: str, to: Path | None) -> None:
    """Writes it in one of the forms `md`, `html` and `json`; to a file whole or not at all.

    Raises:
        InputError: the file cannot be written.
    """
    if to is None:
        if form == "json":
            write_json(report.model_dump(mode="json"))
        else:
            sys.stdout.write(_render(report, form=form))
        return
    unfinished = to.with_name(f"{to.name}.part")
    try:
        unfinished.write_text(_render(report, form=form), "utf-8")
        unfinished.replace(to)
    except OSError as error:
        raise InputError(f"--to {to}: cannot be written: {error.strerror}") from None
    write_note(f"written to {to}")


def _render(report: OwnersReport, *, form: str) -> str:
    if form == "html":
        return write_html(report)
    if form == "json":
        return json.dumps(report.model_dump(mode="json"), ensure_ascii=True, indent=_INDENT) + "\n"
    return write_markdown(report)
