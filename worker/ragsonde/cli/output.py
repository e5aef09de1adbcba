"""Standard output that tells its own failures from those of other files."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TextIO, cast

from ragsonde.cli.failures import OutputLostError, ReaderGoneError

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def watching_output() -> Iterator[None]:
    """Makes writing to standard output inside the block raise what a person can understand.

    Raises:
        OutputLostError: it is closed, or cannot be written.
        ReaderGoneError: its reader went away. No BrokenPipeError, for which Rich ends the process with 1.
    """
    stream = sys.stdout
    if stream is None:
        raise OutputLostError("it is closed")
    sys.stdout = cast("TextIO", _WatchedOutput(stream))
    try:
        yield
        sys.stdout.flush()
    finally:
        sys.stdout = stream


class _WatchedOutput:
    """A stream in all respects but the errors of writing."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever a stream has
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        with _translating_errors():
            return self._stream.write(text)

    def flush(self) -> None:
        with _translating_errors():
            self._stream.flush()


@contextmanager
def _translating_errors() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        raise ReaderGoneError from None
    except OSError as error:
        raise OutputLostError(error.strerror or str(error)) from error
