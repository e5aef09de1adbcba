"""A few more attempts for what Postgres gave up on: most of that passes within a second."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, TypeVar

from ragsonde_schemas.errors import DatabaseLostError, GivenUpError, LockedOutError

if TYPE_CHECKING:
    from collections.abc import Callable

PAUSES_SECONDS = (0.1, 0.5)
"""Before the second attempt and the third, which is the last."""

_Result = TypeVar("_Result")


class Retries:
    """Runs transactions up to three times.

    Args:
        wait: lets so many seconds pass.
    """

    def __init__(self, wait: Callable[[float], None] = time.sleep) -> None:
        self._wait = wait

    def run(self, attempt: Callable[[], _Result]) -> _Result:
        """The result of the first attempt that Postgres did not give up on.

        Raises:
            GivenUpError: all three failed: it is this statement's own trouble, and no outage.
            DatabaseLostError: Postgres is away, or somebody keeps everybody waiting.
        """
        for seconds in PAUSES_SECONDS:
            try:
                return attempt()
            except (GivenUpError, LockedOutError):
                self._wait(seconds)
        return attempt()

    def insist(self, attempt: Callable[[], _Result]) -> _Result:
        """The same for what has no other way out, as parking: without it nothing can go on.

        Raises:
            DatabaseLostError: Postgres is away, or gave up three times.
        """
        try:
            return self.run(attempt)
        except GivenUpError as error:
            raise DatabaseLostError(str(error)) from error
