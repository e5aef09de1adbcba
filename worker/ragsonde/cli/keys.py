"""Single keys from a terminal, or from a pipe."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

END = ""
"""What a key is when there are no more."""


@contextmanager
def open_keys() -> Iterator[Callable[[], str]]:
    """A function that waits for the next key; in a pipe blanks and line ends are no keys.

    A terminal gives keys at once, without Enter and without showing them, and is set back in the end.
    """
    if not sys.stdin.isatty():
        yield lambda: _read_visible(sys.stdin.read)
        return
    import termios  # noqa: PLC0415 - only POSIX has it, and only a terminal needs it
    import tty  # noqa: PLC0415

    descriptor = sys.stdin.fileno()
    before = termios.tcgetattr(descriptor)
    try:
        tty.setcbreak(descriptor)
        yield lambda: _read_visible(sys.stdin.read)
    finally:
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)


def _read_visible(read: Callable[[int], str]) -> str:
    key = read(1)
    while key.isspace():
        key = read(1)
    return key
