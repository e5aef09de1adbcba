"""What is to be erased, and the traces that are meant by it, wherever they rest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ragsonde.decoding.body_names import read_names
from ragsonde.storage.engine import TAKE_TIME, pipelined_transaction, translating_losses
from ragsonde.storage.partitions import list_partitions

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import date

    from sqlalchemy import Engine

PAGE_ROWS = 5_000
"""No index leads to a user or a session: a whole day is read, which keeps nobody waiting."""
_AFTER_RECORD = ("after", "after_app", "after_key", "after_revision")

_PLACE = """(%(app)s::text IS NULL OR app = %(app)s)"""

_OF_PERSONS = """(%(users)s::text[] IS NULL OR user_id = ANY(%(users)s)
    OR EXISTS (SELECT FROM unnest(%(users)s::text[]) given(id) WHERE position(given.id in metadata::text) > 0
        OR position(given.id in extra::text) > 0))
  AND (%(sessions)s::text[] IS NULL OR session_id = ANY(%(sessions)s)
    OR EXISTS (SELECT FROM unnest(%(sessions)s::text[]) given(id)
        WHERE position(given.id in metadata::text) > 0 OR position(given.id in extra::text) > 0))"""

_IN_TRACES = f"""
SELECT trace_id, app, record_key, revision, user_id, session_id,
    CASE WHEN %(names_persons)s THEN metadata::text || extra::text ELSE '' END
FROM trace WHERE day = %(day)s AND {_PLACE} AND {_OF_PERSONS}
  AND (trace_id, app, record_key, revision) > (%(after)s, %(after_app)s, %(after_key)s, %(after_revision)s)
ORDER BY trace_id, app, record_key, revision LIMIT %(limit)s
"""  # noqa: S608  # constants of this file
_IN_CHECKS = f"""
SELECT DISTINCT trace_id FROM check_set
WHERE {_PLACE} AND (%(users)s::text[] IS NULL OR user_id = ANY(%(users)s))
  AND (%(sessions)s::text[] IS NULL OR session_id = ANY(%(sessions)s))
  AND (%(before)s::date IS NULL
       OR coalesce((trace ->> 'occurred_at')::timestamptz, chosen_at) < %(before)s::date)
"""  # noqa: S608  # constants of this file
_IN_RECORDS = f"""
SELECT trace_id FROM open_record
WHERE trace_id > %(after)s AND {_PLACE} AND (%(before)s::date IS NULL OR last_received_at < %(before)s::date)
ORDER BY trace_id LIMIT %(limit)s
"""  # noqa: S608  # constants of this file
_IN_SPANS = f"""
SELECT s.trace_id, s.span_id, s.payload FROM span_buffer s JOIN open_record r USING (trace_id)
WHERE {_PLACE} AND (%(before)s::date IS NULL OR r.last_received_at < %(before)s::date)
  AND (s.trace_id, s.span_id) > (%(after)s, %(after_span)s)
  AND EXISTS (SELECT FROM unnest(%(needles)s::bytea[]) given(id) WHERE position(given.id in s.payload) > 0)
ORDER BY s.trace_id, s.span_id LIMIT %(limit)s
"""  # noqa: S608  # constants of this file


@dataclass(frozen=True, slots=True, kw_only=True)
class ErasureChoice:
    """What is to be erased; what is given must all be true of it.

    Attributes:
        user: as the producer writes it.
        stored_users: as it is stored, by every key that was ever used.
        stored_sessions, stored_traces: as the id is stored where it was redacted.
        app: '' for the unknown one; None for all.
        before: only what occurred before this day (UTC).
    """

    user: str | None = None
    stored_users: tuple[str, ...] = ()
    session: str | None = None
    stored_sessions: tuple[str, ...] = ()
    trace: str | None = None
    stored_traces: tuple[str, ...] = ()
    app: str | None = None
    before: date | None = None

    @property
    def names_persons(self) -> bool:
        """True when a user or a session is meant."""
        return self.user is not None or self.session is not None

    @property
    def users(self) -> tuple[str, ...]:
        """The user in every form that it may have anywhere."""
        return () if self.user is None else _list_forms(self.user, *self.stored_users)

    @property
    def sessions(self) -> tuple[str, ...]:
        """The session in every form that it may have anywhere."""
        return _list_forms(self.session, *self.stored_sessions)

    @property
    def traces(self) -> tuple[str, ...]:
        """The trace that is named, in every form that its id may have anywhere."""
        return _list_forms(self.trace, *self.stored_traces)


def _list_forms(*forms: str | None) -> tuple[str, ...]:
    return tuple(dict.fromkeys(one for one in forms if one is not None))


def find_traces(engine: Engine, choice: ErasureChoice) -> Iterator[list[str]]:
    """The ids of the traces that are meant, in lists of at most some thousands; one may come more than once.

    What is erased between two lists changes nothing of those that follow.

    Raises:
        DatabaseLostError: Postgres is away; call again.
    """
    if choice.trace is not None:
        yield list(choice.traces)
        return
    for day in _list_days(engine, before=choice.before):
        yield from _find_stored(engine, choice, day=day)
    checks = _find_ids(engine, _IN_CHECKS, _list_columns(choice))
    if checks:
        yield checks
    yield from _find_spans(engine, choice) if choice.names_persons else _find_records(engine, choice)


def _list_days(engine: Engine, *, before: date | None) -> list[date]:
    with translating_losses(), engine.connect() as connection:
        days = {one.day for one in list_partitions(connection) if one.table == "trace" and one.is_attached}
    return sorted(day for day in days if before is None or day < before)


def _find_stored(engine: Engine, choice: ErasureChoice, *, day: date) -> Iterator[list[str]]:
    place: tuple[Any, ...] = ("", "", "", 0)
    while True:
        columns = {**_list_columns(choice), "day": day, **dict(zip(_AFTER_RECORD, place, strict=True))}
        rows = _read(engine, _IN_TRACES, columns)
        found = [row[0] for row in rows if _is_meant(choice, *row[len(place) :])]
        if found:
            yield list(dict.fromkeys(found))
        if len(rows) < PAGE_ROWS:
            return
        place = rows[-1][: len(place)]


def _is_meant(choice: ErasureChoice, user_id: str | None, session_id: str | None, rest: str) -> bool:
    """Looks at what the database found by position alone: an id may be a part of another one."""
    if not choice.names_persons:
        return True
    names = read_names(rest.encode(errors="replace"))
    is_user = user_id in choice.users or not names.users.isdisjoint(choice.users)
    is_session = session_id in choice.sessions or not names.sessions.isdisjoint(choice.sessions)
    return (choice.user is None or is_user) and (choice.session is None or is_session)


def _find_records(engine: Engine, choice: ErasureChoice) -> Iterator[list[str]]:
    columns = {**_list_columns(choice), "after": ""}
    while found := _find_ids(engine, _IN_RECORDS, columns):
        yield found
        columns["after"] = found[-1]


def _find_spans(engine: Engine, choice: ErasureChoice) -> Iterator[list[str]]:
    """User and session may be named by different spans of a trace."""
    columns: dict[str, Any] = {
        **_list_columns(choice),
        "needles": [one.encode() for one in (*choice.users, *choice.sessions)],
        "after": "",
        "after_span": "",
    }
    of_user: set[str] = set()
    of_session: set[str] = set()
    while True:
        rows = _read(engine, _IN_SPANS, columns)
        for trace_id, _, payload in rows:
            names = read_names(payload)
            if not names.users.isdisjoint(choice.users):
                of_user.add(trace_id)
            if not names.sessions.isdisjoint(choice.sessions):
                of_session.add(trace_id)
        if len(rows) < PAGE_ROWS:
            break
        columns["after"], columns["after_span"], _ = rows[-1]
    wanted = [
        found
        for found, criterion in ((of_user, choice.user), (of_session, choice.session))
        if criterion is not None
    ]
    if found := sorted(set.intersection(*wanted)):
        yield found


def _find_ids(engine: Engine, statement: str, columns: dict[str, Any]) -> list[str]:
    return [trace_id for (trace_id,) in _read(engine, statement, columns)]


def _read(engine: Engine, statement: str, columns: dict[str, Any]) -> list[tuple[Any, ...]]:
    with pipelined_transaction(engine) as connection:
        connection.execute(TAKE_TIME)
        return connection.execute(statement, columns).fetchall()


def _list_columns(choice: ErasureChoice) -> dict[str, Any]:
    return {
        "app": choice.app,
        "before": choice.before,
        "users": list(choice.users) or None,
        "sessions": list(choice.sessions) or None,
        "names_persons": choice.names_persons,
        "limit": PAGE_ROWS,
    }
