"""What two releases of an app scored, by event time: live traces alone, as they count now."""

from __future__ import annotations

from collections import defaultdict
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sqlalchemy import text

from ragsonde.regression.blocks import BlockCounts, gather_counts
from ragsonde.regression.release_gate import Model, ReleaseScores
from ragsonde.storage.engine import TAKE_TIME, translating_losses
from ragsonde.storage.trace_rows import to_utc
from ragsonde_schemas.score_stream import OTHER

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from sqlalchemy import Engine, Row

MOST_NAMES = 200

# The column that tells releases apart is put in by name, from ReleaseKind. Days are named for each table, so
# that only the partitions of the window are read. Of a trace that was scored under several versions the one
# that counts is the one that the view `current_score` has: under the active version, else the newest row. The
# view itself would look into all days, and would hide what live traffic scored behind what a backfill did.
_READ = """
WITH side AS MATERIALIZED (
    SELECT t.trace_id, t.app, t.record_key, t.revision, t.day, t.{kind} = :new AS is_new,
        floor(extract(epoch FROM t.occurred_at) / 300)::bigint AS block,
        coalesce((SELECT named.place FROM unnest(CAST(:tags AS text[])) WITH ORDINALITY AS named(tag, place)
            WHERE named.tag = ANY(t.tags) ORDER BY named.place LIMIT 1), 0) AS tag
    FROM trace t
    WHERE t.day BETWEEN :first_day AND :last_day AND t.occurred_at >= :since AND t.occurred_at < :until
      AND t.app = :app AND t.environment = :environment AND t.{kind} IN (:new, :old)
)
SELECT s.scorer, s.judge, s.is_new, s.version, s.fingerprint, s.judge_epoch, s.block, s.tag, s.bin,
    count(*) AS n
FROM (
    SELECT DISTINCT ON ({record}, s.judge, s.scorer)
        s.scorer, s.judge, j.is_new, s.version, s.judge_epoch, j.block, j.tag, s.status,
        coalesce(s.answered_fingerprint, s.fingerprint) AS fingerprint,
        CASE WHEN s.status = 'scored' THEN ceil(s.raw * 100 - 1e-9)::int END AS bin
    FROM side j
    JOIN evaluation e USING (trace_id, app, record_key, revision, day)
    JOIN score s USING (trace_id, app, record_key, revision, day, judge, fingerprint)
    WHERE e.day BETWEEN :first_day AND :last_day AND s.day BETWEEN :first_day AND :last_day
      AND e.state <> 'superseded' AND NOT e.is_added AND e.backfill_id IS NULL
      AND NOT EXISTS (
        SELECT FROM scorer_version v WHERE v.scorer = s.scorer AND v.is_active
          AND v.version NOT IN (s.version, split_part(s.version, ':', 1)))
    ORDER BY {record}, s.judge, s.scorer, s.created_at DESC, s.fingerprint DESC, s.version DESC
) s
WHERE s.status IN ('scored', 'error')
GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9
"""
_RECORD = "hashtextextended(s.trace_id, 0), s.trace_id, s.record_key, s.revision"
"""Numbers sort far quicker than texts."""
_NAMES = """
SELECT environment, {kind} AS name, count(*) AS traces, max(occurred_at) AS last_at FROM trace
WHERE day BETWEEN :first_day AND :last_day AND occurred_at >= :since AND occurred_at < :until AND app = :app
GROUP BY 1, 2 ORDER BY {kind} IN (:new, :old) DESC, last_at DESC, 1, 2 LIMIT :most
"""


class ReleaseKind(StrEnum):
    """Which column of a trace tells releases apart."""

    RELEASE = "release"
    VARIANT = "variant"


class Rivals(NamedTuple):
    """Two releases of an app, and a stretch of event time; its days are those of `trace.day`.

    Attributes:
        app: '' is the unknown one.
        kind: what tells them apart.
        new, old: their names.
        since, until: aware; `until` itself lies outside.
    """

    app: str
    kind: ReleaseKind
    new: str
    old: str
    since: datetime
    until: datetime


class NamedRelease(NamedTuple):
    """A release or variant that has traces."""

    environment: str
    name: str
    traces: int
    last_at: datetime


class Sides(NamedTuple):
    """Both releases under one scorer and judge."""

    old: ReleaseScores
    new: ReleaseScores

    @property
    def has_scores(self) -> bool:
        """Whether either has one."""
        return bool(self.old.counts or self.new.counts)


def list_releases(engine: Engine, rivals: Rivals) -> tuple[NamedRelease, ...]:
    """The releases of the app in that time: the two first, then those seen last; at most 200.

    Raises:
        DatabaseLostError: Postgres is away.
        GivenUpError: it took too long.
    """
    with translating_losses(), engine.begin() as connection:
        connection.execute(text(TAKE_TIME))
        statement = text(_NAMES.format(kind=rivals.kind.value))
        rows = connection.execute(statement, {**bound_reading(rivals), "most": MOST_NAMES})
        return tuple(NamedRelease(row[0], row[1], row[2], to_utc(row[3])) for row in rows)


def read_release_scores(
    engine: Engine, rivals: Rivals, *, environment: str, tags: Sequence[str] = ()
) -> dict[tuple[str, str], Sides]:
    """What both scored, by scorer and judge; those under which neither has an outcome are left out.

    Only what counts: newest revisions under the version that is shown, each once. Only live traces: what a
    backfill judged was chosen later. Strata are the first of `tags` that a trace has.

    Args:
        engine: of this process.
        rivals: which traces.
        environment: of theirs.
        tags: of the settings, the first one first.

    Raises:
        DatabaseLostError: Postgres is away.
        GivenUpError: it took too long.
    """
    columns = {**bound_reading(rivals), "environment": environment, "tags": list(tags)}
    with translating_losses(), engine.begin() as connection:
        connection.execute(text(TAKE_TIME))
        rows = connection.execute(text(write_reading(rivals.kind)), columns).all()
    strata = (OTHER, *tags)
    sides: dict[tuple[str, str], dict[bool, list[Row[Any]]]] = defaultdict(lambda: {False: [], True: []})
    for row in rows:
        sides[row.scorer, row.judge][row.is_new].append(row)
    return {
        key: Sides(_gather(both[False], strata), _gather(both[True], strata))
        for key, both in sorted(sides.items())
    }


def write_reading(kind: ReleaseKind) -> str:
    """The statement that reads scores."""
    return _READ.format(kind=kind.value, record=_RECORD)


def bound_reading(rivals: Rivals) -> dict[str, Any]:
    """Its parameters but for the environment and the tags."""
    return {
        **rivals._asdict(),
        "first_day": rivals.since.date(),
        "last_day": rivals.until.date(),
    }


def _gather(rows: Sequence[Row[Any]], strata: Sequence[str]) -> ReleaseScores:
    scored: dict[Model, list[Row[Any]]] = defaultdict(list)
    for row in rows:
        if row.bin is not None:
            scored[Model(row.version, row.fingerprint, row.judge_epoch)].append(row)
    counts = {model: _count(of_model, strata) for model, of_model in scored.items()}
    return ReleaseScores(counts, failed=sum(row.n for row in rows if row.bin is None))


def _count(rows: Sequence[Row[Any]], strata: Sequence[str]) -> BlockCounts:
    table = np.array([(row.block, row.tag, row.bin, row.n) for row in rows], dtype=np.int64)
    return gather_counts(*table.T, strata=strata)
