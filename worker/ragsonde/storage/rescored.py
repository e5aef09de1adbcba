"""Scores by other options, stored beside the old ones, and which version of a scorer is shown."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple

from ragsonde.storage.dirty_marks import mark_records
from ragsonde.storage.engine import pipelined_transaction
from ragsonde.storage.jsonb import clean_text, encode_json
from ragsonde.storage.result_rows import JudgedResult, insert_scores
from ragsonde.storage.trace_rows import list_key_columns
from ragsonde_schemas.evaluation import EvaluationResult, EvaluationState
from ragsonde_schemas.score import Score

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from sqlalchemy import Engine

    from ragsonde_schemas.assessment import Assessment
    from ragsonde_schemas.evaluation import EvaluationKey
    from ragsonde_schemas.score import Outcome

_BEFORE_ITS_JUDGING = timedelta(milliseconds=1)
"""A score that was computed later must not count in place of the first only by being there: where no version
is active, the newest row counts. So its time is just before that of the scores it stands beside."""

_REVALUE = """
UPDATE score s
SET value = r.value, passed = r.passed, reason = r.reason, details = r.details::jsonb
FROM unnest(
    %(scorers)s::text[], %(versions)s::text[], %(raws)s::float8[], %(values)s::float8[], %(passed)s::bool[],
    %(reasons)s::text[], %(details)s::text[]
) AS r(scorer, version, raw, value, passed, reason, details)
WHERE s.trace_id = %(trace_id)s AND s.app = %(app)s AND s.record_key = %(record_key)s
  AND s.revision = %(revision)s AND s.day = %(day)s AND s.judge = %(judge)s
  AND s.fingerprint = %(fingerprint)s AND s.scorer = r.scorer AND s.version = r.version AND s.raw = r.raw
  AND (s.value, s.passed) IS DISTINCT FROM (r.value, r.passed)
RETURNING s.scorer
"""
"""Scale and threshold are no part of a version: they change how the same raw score is told."""

_KEEP = """
SELECT FROM evaluation
WHERE trace_id = %(trace_id)s AND app = %(app)s AND record_key = %(record_key)s AND revision = %(revision)s
  AND day = %(day)s AND judge = %(judge)s AND fingerprint = %(fingerprint)s
FOR KEY SHARE
"""
"""Who erases it waits until its scores are there, and erases them too."""

_ACTIVATE = """
INSERT INTO scorer_version (scorer, version, is_active, changed_at)
VALUES (%(scorer)s, %(version)s, true, %(now)s)
ON CONFLICT (scorer, version) DO UPDATE SET is_active = true, changed_at = %(now)s
"""
_DEACTIVATE = """
UPDATE scorer_version SET is_active = false, changed_at = %(now)s WHERE scorer = %(scorer)s AND is_active
"""
_READ_ACTIVE = "SELECT scorer, version FROM scorer_version WHERE is_active"


class RescoredEvaluation(NamedTuple):
    """An evaluation's outcomes by other options.

    Attributes:
        assessment: whose stream (model that answered, epoch) the scores belong to.
        judged_at: when the verdicts were given.
    """

    key: EvaluationKey
    assessment: Assessment | None
    judged_at: datetime
    outcomes: tuple[Outcome, ...]


class Written(NamedTuple):
    """What was stored: rows that are new, and rows whose value or passing changed."""

    new: int
    changed: int


def store_rescored(engine: Engine, rescored: Sequence[RescoredEvaluation]) -> Written:
    """Stores a batch in one transaction; doing it again changes nothing.

    Rows of another version stay. A row of the same version keeps its raw score. Of an evaluation that was
    erased meanwhile nothing is stored.

    Raises:
        DatabaseLostError: nothing was stored, or it is not known; call again.
    """
    with pipelined_transaction(engine) as connection:
        cursors = []
        for one in rescored:
            identity = {
                **list_key_columns(one.key.trace, revision=one.key.revision),
                "judge": one.key.judge,
                "fingerprint": one.key.fingerprint,
                "now": one.judged_at - _BEFORE_ITS_JUDGING,
            }
            if connection.execute(_KEEP, identity).fetchone() is None:
                continue
            scores = [outcome for outcome in one.outcomes if isinstance(outcome, Score)]
            changed = connection.execute(_REVALUE, {**identity, **_list_values(scores)})
            result = EvaluationResult(
                state=EvaluationState.SCORED, outcomes=one.outcomes, assessment=one.assessment
            )
            judged = JudgedResult(one.key.judge, one.key.fingerprint, result)
            cursors.append((insert_scores(connection, identity, [judged]), changed))
        mark_records(connection, [one.key.trace for one in rescored])
        return Written(
            new=sum(len(inserted.fetchall()) if inserted else 0 for inserted, _ in cursors),
            changed=sum(len(changed.fetchall()) for _, changed in cursors),
        )


def read_active_versions(engine: Engine) -> dict[str, str]:
    """The version that alone is shown, by scorer; none for a scorer of which each trace's own is.

    Raises:
        DatabaseLostError: Postgres is away.
    """
    with pipelined_transaction(engine) as connection:
        return dict(connection.execute(_READ_ACTIVE).fetchall())


def activate_versions(engine: Engine, versions: Mapping[str, str | None], *, now: datetime) -> None:
    """Lets only these versions be shown, by scorer; None: of each trace again the one it was judged by.

    A version without basis (`1` for `1:answer` and `1:reference`) stands for both.

    Raises:
        DatabaseLostError: nothing was changed, or it is not known; call again.
    """
    with pipelined_transaction(engine) as connection:
        for scorer, version in versions.items():
            columns = {"scorer": scorer, "version": version, "now": now}
            connection.execute(_DEACTIVATE, columns)
            if version is not None:
                connection.execute(_ACTIVATE, columns)


def _list_values(scores: Sequence[Score]) -> dict[str, list[Any]]:
    return {
        "scorers": [score.scorer for score in scores],
        "versions": [score.version for score in scores],
        "raws": [score.raw for score in scores],
        "values": [score.value for score in scores],
        "passed": [score.passed for score in scores],
        "reasons": [clean_text(score.reason) for score in scores],
        "details": [encode_json(score.details) for score in scores],
    }
