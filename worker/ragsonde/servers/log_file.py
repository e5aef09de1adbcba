"""Files that programs we started write their output to, kept below a size."""

from __future__ import annotations

import os
import re
import shutil
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_COMPLAINT = re.compile(r"\b(FATAL|PANIC|ERROR|Fatal|Error|cannot)\b")
_TAIL_BYTES = 16_384


class LogFile:
    """An appended file of at most about `limit_bytes`, with one older part of the same size beside it (`.1`).

    The writer is another process that keeps the file open, so shortening copies and empties it in place;
    lines written in that moment are lost.
    """

    def __init__(self, path: Path, *, limit_bytes: int = 10 * 1024 * 1024) -> None:
        self.path = path
        self._limit_bytes = limit_bytes

    @contextmanager
    def open(self) -> Iterator[int]:
        """A descriptor to hand to a new process; closed here afterwards."""
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.shorten()
        # only with O_APPEND does a writer go on at the new end after the file was emptied
        descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        try:
            yield descriptor
        finally:
            os.close(descriptor)

    def size_bytes(self) -> int:
        """Its present size; 0 where there is none."""
        try:
            return self.path.stat().st_size
        except FileNotFoundError:
            return 0

    def shorten(self) -> None:
        """Moves the content to the older part when it has grown over the limit."""
        if self.size_bytes() > self._limit_bytes:
            shutil.copyfile(self.path, self.path.with_name(f"{self.path.name}.1"))
            os.truncate(self.path, 0)

    def lines(self, *, since_bytes: int = 0) -> list[str]:
        """What was written after `since_bytes`, without blank lines; of much, only the end."""
        try:
            with self.path.open("rb") as file:
                file.seek(max(since_bytes, self.size_bytes() - _TAIL_BYTES))
                text = file.read().decode(errors="replace")
        except FileNotFoundError:
            return []
        return [line.strip() for line in text.splitlines() if line.strip()]

    def complaint(self, *, since_bytes: int = 0) -> str:
        """The last line after `since_bytes` that reads like an error, else the last line, else empty."""
        written = self.lines(since_bytes=since_bytes)
        complaints = [line for line in written if _COMPLAINT.search(line)]
        return (complaints or written or [""])[-1]
