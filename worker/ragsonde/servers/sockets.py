"""Where a server's unix socket lies: beside its data, or in a short private directory."""

from __future__ import annotations

import hashlib
import os
import re
import stat
import tempfile
from pathlib import Path

from ragsonde_schemas.errors import SetupError

LONGEST_SOCKET_PATH_BYTES = 100
"""The kernel's room is 108 bytes on Linux and 104 on macOS, a final zero included."""

# anything else would need quoting in a URL, and a comma is a list to Postgres and to its clients
_PLAIN_PATH = re.compile(r"[A-Za-z0-9/._-]+")


def choose_socket_dir(preferred: Path, *, socket_name: str, owner: tuple[int, int]) -> Path:
    """`preferred` where a socket fits in it, else a directory below the temporary one, made for `owner` only.

    Args:
        preferred: absolute; private to the owner already.
        socket_name: longest file name the server makes there.
        owner: uid and gid of the server.

    Raises:
        SetupError: the short directory exists and is not the owner's alone.
    """
    path = str(preferred / socket_name)
    if len(path.encode()) <= LONGEST_SOCKET_PATH_BYTES and _PLAIN_PATH.fullmatch(path):
        return preferred
    digest = hashlib.sha256(os.fsencode(preferred)).hexdigest()[:16]
    short = Path(tempfile.gettempdir()) / f"ragsonde-{digest}"
    if len(str(short / socket_name)) > LONGEST_SOCKET_PATH_BYTES:
        short = Path("/tmp") / short.name  # noqa: S108 - made below with mode 700, its owner checked
    try:
        short.mkdir(mode=0o700)
        os.chown(short, *owner)
    except FileExistsError:
        pass
    found = short.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != owner[0] or stat.S_IMODE(found.st_mode) & 0o077:
        raise SetupError(
            f"{short} is needed for a socket ({preferred} is too long or has unusual characters) and should "
            f"be a directory with mode 700 of user {owner[0]}, but is not: remove it, or choose a shorter "
            f"--data-dir"
        )
    return short


def drop_socket_dir(directory: Path, *, preferred: Path) -> None:
    """Removes the short directory once its server has ended; `preferred` itself stays."""
    if directory == preferred:
        return
    try:
        directory.rmdir()
    except OSError:  # a socket of a killed server is in it: the next start uses it again
        return
