"""Scores that two sides gave to the same traces: two judges, or two versions of a scorer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from psycopg.rows import dict_row

from ragsonde.storage.engine import pipelined_transaction
from ragsonde.storage.result_rows import rebuild_assessment
from ragsonde.storage.trace_rows import rebuild_trace

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import date

    from sqlalchemy import Engine

    from ragsonde_schemas.assessment import Assessment
    from ragsonde_schemas.trace import Trace

_SIDE = """
SELECT DISTINCT ON (s.trace_id, s.app, s.record_key, s.revision, s.scorer)
    s.trace_id, s.app, s.record_key, s.revision, s.scorer, s.raw
FROM score s
JOIN evaluation e USING (trace_id, app, record_key, revision, day, judge, fingerprint)
WHERE s.day = %(day)s AND s.judge = %({side}_judge)s AND s.fingerprint = %({side}_fingerprint)s
  AND (%({side}_version)s::text IS NULL OR split_part(s.version, ':', 1) = %({side}_version)s)
  AND (%(app)s::text IS NULL OR s.app = %(app)s) AND (%(scorer)s::text IS NULL OR s.scorer = %(scorer)s)
  AND s.status = 'scored' AND e.state <> 'superseded'
ORDER BY s.trace_id, s.app, s.record_key, s.revision, s.scorer, s.created_at DESC, s.version DESC
"""

_READ = f"""
WITH old AS ({_SIDE.format(side="old")}), new AS ({_SIDE.format(side="new")})
SELECT trace_id, app, scorer, old.raw, new.raw FROM old
JOIN new USING (trace_id, app, record_key, revision, scorer)
ORDER BY trace_id, app, scorer
"""  # noqa: S608  # constants

_READ_VERDICTS = """
SELECT t.*, x.query, x.retrieval_query, x.turns, x.contexts, x.answer, x.reference,
    a.verdicts AS old_verdicts, b.verdicts AS new_verdicts
FROM assessment a
JOIN assessment b USING (trace_id, app, record_key, revision, day)
JOIN trace t USING (trace_id, app, record_key, revision, day)
JOIN trace_text x USING (trace_id, app, record_key, revision, day)
WHERE a.day = %(day)s AND a.judge = %(old_judge)s AND a.fingerprint = %(old_fingerprint)s
  AND b.judge = %(new_judge)s AND b.fingerprint = %(new_fingerprint)s
  AND (%(app)s::text IS NULL OR a.app = %(app)s)
ORDER BY trace_id, app, record_key, revision LIMIT %(limit)s
"""

_VERSIONS = """
SELECT split_part(version, ':', 1) AS version FROM score
WHERE scorer = %(scorer)s AND day BETWEEN %(since)s AND %(until)s
  AND (%(judge)s::text IS NULL OR judge = %(judge)s)
GROUP BY 1 ORDER BY max(created_at) DESC, 1
"""

_FINGERPRINTS = """
SELECT fingerprint FROM evaluation
WHERE judge = %(judge)s AND day BETWEEN %(since)s AND %(until)s AND state = 'scored'
GROUP BY 1 ORDER BY max(created_at) DESC, 1
"""


class Side(NamedTuple):
    """Who gave the scores.

    Attributes:
        version: of the scorers, without its basis; None for the newest of each.
    """

    judge: str
    fingerprint: str
    version: str | None = None


class Pair(NamedTuple):
    """Two raw scores of one trace."""

    trace_id: str
    app: str
    scorer: str
    old: float
    new: float


def read_pairs(
    engine: Engine,
    old: Side,
    new: Side,
    *,
    days: Sequence[date],
    app: str | None = None,
    scorer: str | None = None,
) -> Iterator[tuple[Pair, ...]]:
    """The scores that both sides gave to the same revisions, a day at a time.

    Args:
        engine: of this process.
        old: the side before.
        new: the side after.
        days: of the traces.
        app: only this one; None = all.
        scorer: only this one; None = all.

    Raises:
        DatabaseLostError: Postgres is away.
    """
    for day in days:
        columns = {**_name_sides(old, new), "day": day, "app": app, "scorer": scorer}
        with pipelined_transaction(engine) as connection:
            rows = connection.execute(_READ, columns).fetchall()
        yield tuple(Pair(*row) for row in rows)


def read_verdicts(
    engine: Engine, old: Side, new: Side, *, days: Sequence[date], app: str | None = None, limit: int
) -> Iterator[tuple[Trace, Assessment, Assessment]]:
    """Traces with what both sides said of them, as far as their texts are kept; the newest days first.

    Args:
        engine: of this process.
        old: the side before.
        new: the side after.
        days: of the traces.
        app: only this one; None = all.
        limit: so many at most.

    Raises:
        DatabaseLostError: Postgres is away.
    """
    left = limit
    for day in sorted(days, reverse=True):
        if left <= 0:
            return
        columns = {**_name_sides(old, new), "day": day, "app": app, "limit": left}
        with pipelined_transaction(engine) as connection:
            rows = connection.cursor(row_factory=dict_row).execute(_READ_VERDICTS, columns).fetchall()
        left -= len(rows)
        for row in rows:
            sides = ({"verdicts": row[f"{side}_verdicts"]} for side in ("old", "new"))
            before, after = (rebuild_assessment(side, ()) for side in sides)
            yield rebuild_trace(row), before, after


def list_versions(
    engine: Engine, scorer: str, *, since: date, until: date, judge: str | None = None
) -> tuple[str, ...]:
    """The versions of a scorer that traces of these days have scores of, without their basis, newest first.

    Raises:
        DatabaseLostError: Postgres is away.
    """
    columns = {"scorer": scorer, "since": since, "until": until, "judge": judge}
    with pipelined_transaction(engine) as connection:
        return tuple(version for (version,) in connection.execute(_VERSIONS, columns).fetchall())


def list_fingerprints(engine: Engine, judge: str, *, since: date, until: date) -> tuple[str, ...]:
    """The fingerprints under which a judge has scored traces of these days, newest first.

    Raises:
        DatabaseLostError: Postgres is away.
    """
    columns = {"judge": judge, "since": since, "until": until}
    with pipelined_transaction(engine) as connection:
        return tuple(name for (name,) in connection.execute(_FINGERPRINTS, columns).fetchall())


def _name_sides(old: Side, new: Side) -> dict[str, Any]:
    return {
        f"{side}_{name}": value
        for side, of_side in (("old", old), ("new", new))
        for name, value in of_side._asdict().items()
    }
