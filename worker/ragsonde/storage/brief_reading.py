"""Reads for what only illustrates alerts: those of a transaction share some seconds, none is asked twice."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sqlalchemy import text
from sqlalchemy.exc import OperationalError

from ragsonde.storage.engine import STATEMENT_TIMEOUT_SECONDS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlalchemy import Connection, TextClause

MOST_SECONDS = 30.0
"""Of a transaction: it holds a lock that others wait for."""
LONGEST_SECONDS = 10.0
"""Of one read."""
_USUAL_TIMEOUT = text(f"SET LOCAL statement_timeout = '{STATEMENT_TIMEOUT_SECONDS}s'")
_CANCELLED = "57014"


@dataclass(slots=True, kw_only=True)
class BriefReading:
    """Reads within a transaction that must go on; what takes too long is left out.

    Attributes:
        connection: of the caller's transaction.
        seconds_left: for all reads that are still to come.
    """

    connection: Connection
    seconds_left: float = MOST_SECONDS
    _known: dict[tuple[object, ...], list[Mapping[str, Any]]] = field(default_factory=dict)
    _left_out: list[str] = field(default_factory=list)

    def read(self, what: str, statement: TextClause, columns: Mapping[str, Any]) -> list[Mapping[str, Any]]:
        """The rows; none where it takes too long, or no time is left.

        Args:
            what: is read; `take_left_out` names it where it was not.
            statement: asked once for the same values of what it names.
            columns: values by name; those that the statement does not name are passed over.
        """
        named = {name: columns[name] for name in statement.compile().params}
        key = (id(statement), *sorted(named.items()))
        if key not in self._known:
            rows = self._ask(statement, named) if self.seconds_left > 0 else None
            if rows is None:
                self._left_out.append(what)
                return []
            self._known[key] = rows
        return self._known[key]

    def take_left_out(self) -> tuple[str, ...]:
        """What was left out since this was asked last, by name."""
        taken = tuple(self._left_out)
        self._left_out.clear()
        return taken

    def _ask(self, statement: TextClause, columns: dict[str, Any]) -> list[Mapping[str, Any]] | None:
        milliseconds = max(1, round(1000 * min(self.seconds_left, LONGEST_SECONDS)))
        begun = time.monotonic()
        try:
            with self.connection.begin_nested():
                self.connection.execute(text(f"SET LOCAL statement_timeout = {milliseconds}"))
                found = self.connection.execute(statement, columns).mappings()
                rows: list[Mapping[str, Any]] = [dict(row) for row in found]
                self.connection.execute(_USUAL_TIMEOUT)
                return rows
        except OperationalError as error:
            if getattr(error.orig, "sqlstate", None) != _CANCELLED:
                raise
            return None
        finally:
            self.seconds_left -= time.monotonic() - begun
