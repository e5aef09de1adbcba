"""Asks on the terminal before something goes for good."""

from __future__ import annotations

import sys

import typer

from ragsonde_schemas.errors import InputError


def confirm(what: str, *, verb: str) -> None:
    """Returns where the answer was yes.

    Args:
        what: would go.
        verb: what would be done to it: `erase`, `remove`.

    Raises:
        typer.Abort: the answer was no.
        InputError: nobody can be asked.
    """
    if not sys.stdin.isatty():
        raise InputError(
            f"{what} would be {verb.removesuffix('e')}ed; expected --yes where nobody can be asked"
        )
    typer.confirm(f"{verb} {what}?", abort=True, err=True)
