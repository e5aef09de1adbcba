"""What was told of a stream, by whichever way the detector was asked."""

from __future__ import annotations

from typing import NamedTuple


class Told(NamedTuple):
    """An alert of a stream.

    Attributes:
        kind: page, warn or resolve.
        block: at whose end it was told.
        since: the block in which it began.
    """

    kind: str
    block: int
    since: int
