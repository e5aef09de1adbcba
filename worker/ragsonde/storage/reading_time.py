"""One time for all that a request reads: statements and locks are waited for only as long as it lasts."""

from __future__ import annotations

import time
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

from sqlalchemy import event

from ragsonde_schemas.errors import GivenUpError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Connection, Engine

_ENDS_AT: ContextVar[float | None] = ContextVar("reading_ends_at", default=None)
_LOCK_SHARE = 0.8
"""Of what is left, for a lock: so the error tells a slow statement from one that is kept waiting."""
_OWN = "SELECT set_config('statement_timeout', "
_LIMIT = _OWN + "'{statement}', true), set_config('lock_timeout', '{lock}', true)"
_MILLISECONDS = 1000


@contextmanager
def reading_within(seconds: float) -> Iterator[None]:
    """Inside it, all that an engine of `bound_reads` reads ends within so many seconds."""
    token = _ENDS_AT.set(time.monotonic() + seconds)
    try:
        yield
    finally:
        _ENDS_AT.reset(token)


def bound_reads(engine: Engine) -> Engine:
    """The engine over the same connections, heeding `reading_within`.

    Its statements raise GivenUpError where the time is over, and what Postgres says where it ends meanwhile.
    """
    bounded = engine.execution_options()
    event.listen(bounded, "before_cursor_execute", _limit_statement)
    return bounded


def _limit_statement(connection: Connection, _cursor: object, statement: str, *_rest: object) -> None:
    ends_at = _ENDS_AT.get()
    if ends_at is None or statement.startswith(_OWN):
        return
    left = (ends_at - time.monotonic()) * _MILLISECONDS
    if left < 1:
        raise GivenUpError("the time to read in is over; a statement before this one took it")
    limit = _LIMIT.format(statement=int(left), lock=max(1, int(left * _LOCK_SHARE)))
    connection.exec_driver_sql(limit)
