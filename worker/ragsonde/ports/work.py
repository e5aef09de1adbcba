"""What work needs around it: time, the user's functions, its turn, a database that comes back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager
    from datetime import datetime

    from ragsonde.extraction.findings import Findings
    from ragsonde_schemas.decoded import Record


T = TypeVar("T")


class Clock(Protocol):
    """Tells the time."""

    def now(self) -> datetime:
        """The present, aware, UTC."""
        ...

    def monotonic(self) -> float:
        """Seconds that only grow; for durations and deadlines."""
        ...


class Resolver(Protocol):
    """Runs what users configured that may do I/O: extractors, and texts for contexts known by id only."""

    def resolve(self, found: Findings, record: Record) -> Findings:
        """What was found, completed; a failure of the user's code is in `failure`, never raised."""
        ...


class Isolation(Protocol):
    """Lets work share the process, or have it alone."""

    def hold(self, *, alone: bool) -> AbstractContextManager[bool]:
        """Waits for its turn and holds it until the block ends.

        What a thread holds already counts for everything inside. The value of the block is False where it was
        to be alone and is inside of shared work: then it is not.
        """
        ...


class Insist(Protocol):
    """Keeps trying while the database is away."""

    def __call__(self, action: Callable[[], T], /) -> T:
        """What the action returned when the database was there."""
        ...
