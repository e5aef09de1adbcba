"""Traces chosen for people to look at: those with the lowest scores, and others at random."""

from __future__ import annotations

from datetime import timedelta
from hashlib import md5
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

from psycopg.rows import dict_row

from ragsonde.storage.day_samples import MOST_BLOCKS, SAMPLED, measure_share, plan_samples
from ragsonde.storage.engine import pipelined_transaction
from ragsonde.storage.trace_rows import rebuild_trace

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import date

    from sqlalchemy import Engine

    from ragsonde_schemas.trace import Trace

    Row = Mapping[str, Any]

CANDIDATES_A_TRACE = 20
FEWEST_CANDIDATES = 200
"""Of a day, so that enough are left when those that do not count, or have lost their texts, are gone."""

_LOW = f"""
SELECT trace_id, app, record_key, revision, day, fingerprint, version, raw FROM score {SAMPLED}
WHERE app = %(app)s AND scorer = %(scorer)s AND judge = %(judge)s AND day = %(day)s AND status = 'scored'
ORDER BY raw, md5(trace_id), record_key LIMIT %(candidates)s
"""  # noqa: S608  # constants

_DRAWN = f"""
SELECT trace_id, app, record_key, revision, day FROM trace {SAMPLED}
WHERE app = %(app)s AND day = %(day)s
ORDER BY md5(trace_id), record_key LIMIT %(candidates)s
"""  # noqa: S608  # constants

_READ = """
SELECT t.*, x.query, x.retrieval_query, x.turns, x.contexts, x.answer, x.reference
FROM unnest(
    %(trace_ids)s::text[], %(record_keys)s::text[], %(revisions)s::smallint[], %(days)s::date[],
    %(fingerprints)s::text[], %(versions)s::text[]
) WITH ORDINALITY AS k(trace_id, record_key, revision, day, fingerprint, version, place)
JOIN trace t ON t.trace_id = k.trace_id AND t.app = %(app)s AND t.record_key = k.record_key
    AND t.revision = k.revision AND t.day = k.day
JOIN trace_text x ON x.trace_id = k.trace_id AND x.app = %(app)s AND x.record_key = k.record_key
    AND x.revision = k.revision AND x.day = k.day
"""
_IN_ORDER = "ORDER BY k.place LIMIT %(limit)s"

_READ_COUNTING = f"""{_READ}
CROSS JOIN LATERAL (
    SELECT FROM current_score s
    WHERE s.trace_id = k.trace_id AND s.app = %(app)s AND s.record_key = k.record_key
      AND s.revision = k.revision AND s.day = k.day AND s.judge = %(judge)s
      AND s.fingerprint = k.fingerprint AND s.scorer = %(scorer)s AND s.version = k.version
    OFFSET 0
) s
{_IN_ORDER}
"""

_READ_NEWEST = f"""{_READ}
WHERE jsonb_array_length(coalesce(x.contexts, '[]')) > 0
  AND NOT EXISTS (
    SELECT FROM trace n
    WHERE n.trace_id = k.trace_id AND n.app = %(app)s AND n.record_key = k.record_key AND n.day = k.day
      AND n.revision > k.revision)
{_IN_ORDER}
"""


class Choice(NamedTuple):
    """The traces chosen.

    Attributes:
        share: of what is stored of these days, the part they were chosen from; 1.0 = all.
    """

    traces: list[Trace]
    share: float = 1.0


def read_worst(
    engine: Engine,
    *,
    app: str,
    days: Sequence[date],
    scorer: str,
    judge: str,
    limit: int,
    most_blocks: int = MOST_BLOCKS,
) -> Choice:
    """The app's traces with the lowest raw scores that count, as far as their texts are there.

    Of a day with many scores a part is looked at, the same each time: there may be worse ones in the rest.

    Raises:
        DatabaseLostError: Postgres is away.
    """
    which = {"app": app, "scorer": scorer, "judge": judge}
    return _choose(
        engine,
        _Question("score", _LOW, _READ_COUNTING, which, lambda row: (row["raw"], *_draw(row))),
        days=days,
        limit=limit,
        most_blocks=most_blocks,
    )


def read_random(
    engine: Engine, *, app: str, days: Sequence[date], limit: int, most_blocks: int = MOST_BLOCKS
) -> Choice:
    """The app's traces with contexts that come first by a hash of their ids; newest revisions only.

    By hash, so that the same traces come again. Of a day with many traces they are drawn from a part.

    Raises:
        DatabaseLostError: Postgres is away.
    """
    question = _Question("trace", _DRAWN, _READ_NEWEST, {"app": app}, _draw)
    return _choose(engine, question, days=days, limit=limit, most_blocks=most_blocks)


def list_days(last: date, *, days: int) -> list[date]:
    """So many days, `last` the last of them."""
    return [last - timedelta(days=back) for back in reversed(range(days))]


class _Question(NamedTuple):
    """How a day's candidates are found, in which order they are taken, how those that will do are read."""

    table: str
    find: str
    read: str
    which: dict[str, Any]
    order: Callable[[Row], tuple[Any, ...]]


def _choose(
    engine: Engine, question: _Question, *, days: Sequence[date], limit: int, most_blocks: int
) -> Choice:
    if not limit:
        return Choice([])
    candidates = max(FEWEST_CANDIDATES, CANDIDATES_A_TRACE * limit)
    with pipelined_transaction(engine) as connection:
        samples = plan_samples(connection, question.table, days, most_blocks=most_blocks)
        cursors = [
            connection.cursor(row_factory=dict_row).execute(
                question.find,
                {**question.which, "day": sample.day, "percent": sample.percent, "candidates": candidates},
            )
            for sample in samples
        ]
        found = sorted(chain.from_iterable(cursor.fetchall() for cursor in cursors), key=question.order)
        rows: list[Row] = []
        for start in range(0, len(found), candidates):
            keys = _list_keys(found[start : start + candidates])
            columns = {**question.which, **keys, "limit": limit - len(rows)}
            rows += connection.cursor(row_factory=dict_row).execute(question.read, columns).fetchall()
            if len(rows) >= limit:
                break
    return Choice([rebuild_trace(row) for row in rows], measure_share(samples))


def _list_keys(rows: Sequence[Row]) -> dict[str, list[Any]]:
    names = ("trace_id", "record_key", "revision", "day", "fingerprint", "version")
    return {f"{name}s": [row.get(name) for row in rows] for name in names}


def _draw(row: Row) -> tuple[str, str]:
    return md5(row["trace_id"].encode(), usedforsecurity=False).hexdigest(), row["record_key"]
