"""Waitress's parser with a deadline: Waitress itself only counts silence, which a byte now and then ends."""

from __future__ import annotations

import time

from waitress.parser import HTTPRequestParser


class TimedParser(HTTPRequestParser):
    """Collects one request and knows since when.

    Args:
        adj: Waitress's adjustments.
        request_seconds: for the whole request to arrive.
    """

    def __init__(self, adj: object, *, request_seconds: float) -> None:
        super().__init__(adj)
        self.request_seconds = request_seconds
        self.begun_at = time.monotonic()

    @property
    def is_late(self) -> bool:
        """True when the request should have arrived by now."""
        return time.monotonic() - self.begun_at > self.request_seconds
