"""The directory that holds everything of an embedded stack."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ragsonde_schemas.errors import SetupError

if TYPE_CHECKING:
    from pathlib import Path


def prepare_data_dir(data_dir: Path) -> Path:
    """Its absolute path, after making it where it is missing.

    Raises:
        SetupError: it cannot be made, or is not ours to write in.
    """
    path = data_dir.expanduser().resolve()
    try:
        if not path.is_dir():
            path.mkdir(parents=True)
            # as root, the account of Postgres must pass through it; nothing in it is readable for others
            path.chmod(0o711 if os.geteuid() == 0 else 0o700)
    except OSError as error:
        raise SetupError(
            f"the data directory {path} cannot be made ({error.strerror}): choose another with --data-dir"
        ) from error
    if not os.access(path, os.R_OK | os.W_OK | os.X_OK):
        raise SetupError(
            f"the data directory {path} belongs to user {path.stat().st_uid} and cannot be written by user "
            f"{os.geteuid()}: run as its owner, change its owner, or choose another with --data-dir"
        )
    return path
