"""What a path that is read with GET answers, to whichever server asks."""

from __future__ import annotations

from typing import Protocol


class PageAnswer(Protocol):
    """A whole answer."""

    @property
    def status(self) -> int:
        """The HTTP status."""
        ...

    @property
    def content_type(self) -> str:
        """The media type of the body."""
        ...

    @property
    def body(self) -> bytes:
        """The page."""
        ...
