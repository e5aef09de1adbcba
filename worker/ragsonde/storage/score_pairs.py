"""Scores that two sides gave to the same traces: two judges, or two versions of a scorer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from psycopg.rows import dict_row

from ragsonde.storage.engine import TAKE_TIME, pipelined_transaction
from ragsonde.storage.result_rows import rebuild_assessment
from ragsonde.storage.trace_rows import rebuild_trace

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import date

    from psycopg.rows import TupleRow
    from sqlalchemy import Engine

    from ragsonde_schemas.assessment import Assessment
    from ragsonde_schemas.trace import Trace

_SIDE = """
SELECT DISTINCT ON (s.trace_id, s.app, s.record_key, s.revision, s.scorer)
    s.trace_id, s.app, s.record_key, s.revision, s.scorer, s.raw
FROM score s
JOIN evaluation e USING (trace_id, app, record_key, revision, day, judge, fingerprint)
WHERE s.day = %(day)s AND s.judge = %({side}_judge)s AND s.fingerprint = %({side}_fingerprint)s
  AND CASE WHEN %({side}_version)s::text IS NOT NULL
    THEN split_part(s.version, ':', 1) = %({side}_version)s
    ELSE NOT EXISTS (SELECT FROM scorer_version v WHERE v.scorer = s.scorer AND v.is_active
        AND v.version NOT IN (s.version, split_part(s.version, ':', 1))) END
  AND (%(app)s::text IS NULL OR s.app = %(app)s) AND (%(scorer)s::text IS NULL OR s.scorer = %(scorer)s)
  AND s.status = 'scored' AND e.state <> 'superseded'
ORDER BY s.trace_id, s.app, s.record_key, s.revision, s.scorer, s.created_at DESC, s.version DESC
"""

_READ = f"""
WITH old AS ({_SIDE.format(side="old")}), new AS ({_SIDE.format(side="new")})
SELECT trace_id, app, scorer, old.raw, new.raw FROM old
JOIN new USING (trace_id, app, record_key, revision, scorer)
ORDER BY hashtextextended(trace_id, 0), trace_id, app, scorer LIMIT %(limit)s
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
GROUP BY 1 ORDER BY min(created_at) DESC, 1
"""

_JUDGES = """
SELECT DISTINCT judge FROM score
WHERE scorer = %(scorer)s AND status = 'scored' AND day BETWEEN %(since)s AND %(until)s ORDER BY 1
"""

_RIVALS = """
SELECT o.judge, o.fingerprint, count(*) FROM evaluation n
JOIN evaluation o USING (trace_id, app, record_key, revision, day)
WHERE n.day BETWEEN %(since)s AND %(until)s AND n.judge = %(judge)s AND n.fingerprint = %(fingerprint)s
  AND (%(app)s::text IS NULL OR n.app = %(app)s) AND n.state = 'scored' AND o.state = 'scored'
  AND (o.judge <> n.judge OR o.fingerprint <> n.fingerprint)
GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2
"""

_FINGERPRINTS = """
SELECT fingerprint FROM evaluation
WHERE judge = %(judge)s AND day BETWEEN %(since)s AND %(until)s AND state = 'scored'
GROUP BY 1 ORDER BY max(created_at) DESC, 1
"""


class Side(NamedTuple):
    """Who gave the scores.

    Attributes:
        version: of the scorers, without its basis; None for the one of each that is shown.
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
    limit: int,
) -> Iterator[tuple[Pair, ...]]:
    """The scores that both sides gave to the same revisions, a day at a time.

    Args:
        engine: of this process.
        old: the side before.
        new: the side after.
        days: of the traces.
        app: only this one; None = all.
        scorer: only this one; None = all.
        limit: so many of a day at most, of traces drawn by their id.

    Raises:
        DatabaseLostError: Postgres is away.
    """
    for day in days:
        columns = {**_name_sides(old, new), "day": day, "app": app, "scorer": scorer, "limit": limit}
        yield tuple(Pair(*row) for row in _read(engine, _READ, columns))


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
            connection.execute(TAKE_TIME)
            rows = connection.cursor(row_factory=dict_row).execute(_READ_VERDICTS, columns).fetchall()
        left -= len(rows)
        for row in rows:
            sides = ({"verdicts": row[f"{side}_verdicts"]} for side in ("old", "new"))
            before, after = (rebuild_assessment(side, ()) for side in sides)
            yield rebuild_trace(row), before, after


def list_versions(
    engine: Engine, scorer: str, *, since: date, until: date, judge: str | None = None
) -> tuple[str, ...]:
    """The versions of a scorer with scores of traces of these days, without their basis.

    The one that was stored last for the first time comes first, whichever is in use now.

    Raises:
        DatabaseLostError: Postgres is away.
    """
    columns = {"scorer": scorer, "since": since, "until": until, "judge": judge}
    return tuple(version for (version,) in _read(engine, _VERSIONS, columns))


def list_judges(engine: Engine, scorer: str, *, since: date, until: date) -> tuple[str, ...]:
    """The judges by whose verdicts a scorer has scored traces of these days, by name.

    Raises:
        DatabaseLostError: Postgres is away.
    """
    columns = {"scorer": scorer, "since": since, "until": until}
    return tuple(name for (name,) in _read(engine, _JUDGES, columns))


def list_rivals(
    engine: Engine, side: Side, *, since: date, until: date, app: str | None = None
) -> tuple[tuple[Side, int], ...]:
    """Who else has scored traces that a judge has scored, and how many of them, the most first.

    Raises:
        DatabaseLostError: Postgres is away.
    """
    columns = {
        "judge": side.judge,
        "fingerprint": side.fingerprint,
        "since": since,
        "until": until,
        "app": app,
    }
    return tuple((Side(judge, print_), count) for judge, print_, count in _read(engine, _RIVALS, columns))


def list_fingerprints(engine: Engine, judge: str, *, since: date, until: date) -> tuple[str, ...]:
    """The fingerprints under which a judge has scored traces of these days, newest first.

    Raises:
        DatabaseLostError: Postgres is away.
    """
    columns = {"judge": judge, "since": since, "until": until}
    return tuple(name for (name,) in _read(engine, _FINGERPRINTS, columns))


def _read(engine: Engine, statement: str, columns: dict[str, Any]) -> list[TupleRow]:
    with pipelined_transaction(engine) as connection:
        connection.execute(TAKE_TIME)
        return connection.execute(statement, columns).fetchall()


def _name_sides(old: Side, new: Side) -> dict[str, Any]:
    return {
        f"{side}_{name}": value
        for side, of_side in (("old", old), ("new", new))
        for name, value in of_side._asdict().items()
    }
