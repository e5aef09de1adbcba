"""What is noted of every request: an event with fields, and the counts. Nothing of its body."""

from __future__ import annotations

import logging
from http import HTTPStatus
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

    from ragsonde.receiver.answers import Answer
    from ragsonde.receiver.requests import RequestHead
    from ragsonde.receiver.tally import Tally

logger = logging.getLogger(__name__)

OTHER = "other"
_PATH_CHARACTERS = 100


def _choose_level(status: int) -> int:
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return logging.WARNING
    return logging.INFO if status >= HTTPStatus.BAD_REQUEST else logging.DEBUG


class ExchangeLog:
    """Notes answered requests. What went well is an event of level debug: there may be thousands a second.

    Args:
        known_paths: paths that exist; the others are one in the counts.
        tally: counts.
    """

    def __init__(self, *, known_paths: Collection[str], tally: Tally) -> None:
        self._known_paths = frozenset(known_paths)
        self._tally = tally

    def note(self, head: RequestHead, answer: Answer, *, seconds: float) -> None:
        """Notes one request and its answer."""
        is_known = head.path in self._known_paths
        status = answer.status.value
        self._tally.count_request(path=head.path if is_known else OTHER, status=status, seconds=seconds)
        logger.log(
            _choose_level(status),
            "request_answered",
            extra={
                "method": head.method[:20],
                # a path that does not exist is whatever a stranger wrote
                "path": head.path if is_known else ascii(head.path[:_PATH_CHARACTERS]),
                "status": status,
                "client": head.client,
                "body_bytes": head.body_bytes,
                "milliseconds": round(seconds * 1000, 1),
            },
        )
