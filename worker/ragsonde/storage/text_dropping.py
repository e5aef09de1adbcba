"""Drops what `text_keeping` no longer keeps and no transaction has dropped: a page of texts at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ragsonde.storage.engine import pipelined_transaction, translating_losses
from ragsonde.storage.partitions import list_partitions
from ragsonde.storage.text_keeping import OF_REVISION, STAYS, StoredTexts, TextRule

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import date

    from sqlalchemy import Engine

PAGE_ROWS = 1_000
"""Texts looked at in one transaction."""

_PAGE = """
WITH page AS (
    SELECT trace_id, app, record_key, revision, day FROM trace_text
    WHERE day = %(day)s AND (trace_id, app, record_key, revision)
        > (%(after_trace_id)s, %(after_app)s, %(after_record_key)s, %(after_revision)s)
    ORDER BY trace_id, app, record_key, revision LIMIT %(rows)s
), gone AS (
    {action}
)
SELECT (SELECT count(*) FROM gone), (SELECT count(*) FROM page), trace_id, app, record_key, revision
FROM page ORDER BY trace_id DESC, app DESC, record_key DESC, revision DESC LIMIT 1
"""
_OF_PAGE = f"x.day = %(day)s AND {OF_REVISION.format('p')}"
_DROP_PAGE = _PAGE.format(
    action=f"DELETE FROM trace_text x USING page p WHERE {_OF_PAGE} AND NOT {STAYS} RETURNING 1"  # noqa: S608
)
_COUNT_PAGE = _PAGE.format(action=f"SELECT FROM page x WHERE NOT {STAYS}")  # constants


def drop_texts(
    engine: Engine,
    rule: TextRule,
    *,
    should_pause: Callable[[], bool] = lambda: False,
    on_day: Callable[[date], None] = lambda _day: None,
    is_dry: bool = False,
) -> int:
    """How many texts were dropped because nothing waits for them and the rule does not keep them.

    All days are gone through, a page a transaction; what was begun is gone on with by the next run.

    Args:
        engine: of this process.
        rule: which stay.
        should_pause: asked between pages; True ends the run early.
        on_day: is told each day that is done.
        is_dry: only count them.

    Raises:
        DatabaseLostError: Postgres is away; what was dropped stays so.
    """
    if rule.keep is StoredTexts.ALL:
        return 0
    with translating_losses(), engine.connect() as connection:
        days = [
            one.day for one in list_partitions(connection) if one.table == "trace_text" and one.is_attached
        ]
    dropped = 0
    for day in days:
        after: tuple[Any, ...] = ("", "", "", 0)
        seen = PAGE_ROWS
        while seen == PAGE_ROWS:
            if should_pause():
                return dropped
            gone, seen, after = _take_page(engine, rule, day=day, after=after, is_dry=is_dry)
            dropped += gone
        on_day(day)
    return dropped


def _take_page(
    engine: Engine, rule: TextRule, *, day: date, after: tuple[Any, ...], is_dry: bool
) -> tuple[int, int, tuple[Any, ...]]:
    """How many texts of a page go, how many it has, and its last key."""
    place = dict(
        zip(("after_trace_id", "after_app", "after_record_key", "after_revision"), after, strict=True)
    )
    with pipelined_transaction(engine) as connection:
        query = _COUNT_PAGE if is_dry else _DROP_PAGE
        columns = {**rule.columns, **place, "day": day, "rows": PAGE_ROWS}
        row = connection.execute(query, columns).fetchone()
    return (0, 0, after) if row is None else (int(row[0]), int(row[1]), tuple(row[2:]))
