"""One process owns what is in a data directory, for as long as it lives."""

from __future__ import annotations

import fcntl
import os
from typing import TYPE_CHECKING

from ragsonde.servers.processes import read_pid
from ragsonde_schemas.errors import SetupError

if TYPE_CHECKING:
    from pathlib import Path


class Ownership:
    """A file lock: the kernel takes it back when its holder dies, so it can be neither stale nor forged.

    Args:
        path: the lock file; its content, the holder's pid, is only for people.
        what: named in the error.
    """

    def __init__(self, path: Path, *, what: str) -> None:
        self._path = path
        self._what = what
        self._descriptor: int | None = None

    @property
    def is_held(self) -> bool:
        """Whether this object holds the lock."""
        return self._descriptor is not None

    def take(self) -> None:
        """Makes this process the owner; again is nothing.

        Raises:
            SetupError: another living process owns it; its pid is named.
        """
        if self._descriptor is not None:
            return
        try:
            descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except PermissionError as error:
            raise SetupError(
                f"{self._path} belongs to another user: run as that user, or choose another --data-dir"
            ) from error
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(descriptor)
            holder = read_pid(self._path)
            raise SetupError(
                f"{self._what} in {self._path.parent} is already running, owned by process "
                f"{holder or 'unknown'}: use that one, stop it, or choose another --data-dir"
            ) from error
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
        self._descriptor = descriptor

    def release(self) -> None:
        """Gives the lock back; the file stays, for removing it would let two owners hold two files."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
