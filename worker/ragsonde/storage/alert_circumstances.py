"""What was other near the beginning of a fall: rules of extraction, contexts, answers, the check set.

Read are the day before and at most a day after, of each at most 500 traces: those with the lowest hash.
"""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import numpy as np
from sqlalchemy import text

from ragsonde.regression.circumstances import (
    SeenHeads,
    SeenTrace,
    compare_answers,
    compare_checks,
    compare_contexts,
)
from ragsonde.regression.extraction_shares import Rule, list_moves

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from ragsonde.storage.brief_reading import BriefReading
    from ragsonde_schemas.alert_explanation import AlertCircumstances, ExtractionMoved
    from ragsonde_schemas.score_stream import ScoreStream

SIDE = timedelta(days=1)
MOST_TRACES = 500
MOST_MOVES = 10
CHECKED_BEFORE = timedelta(days=7)

_RULES = text(
    """
SELECT b.start >= :since AS is_after, f.key AS field, r.key AS rule, sum(r.value::int)::int AS n
FROM extraction_block b, jsonb_each(b.rules) AS f, jsonb_each_text(f.value) AS r
WHERE b.app = :app AND b.environment = :environment AND b.start >= :begin AND b.start < :end
GROUP BY 1, 2, 3
"""
)
_SEEN = """
WITH seen AS MATERIALIZED (
    SELECT trace_id, app, record_key, revision, day, is_after FROM (
        SELECT trace_id, app, record_key, revision, day, occurred_at >= :since AS is_after,
            row_number() OVER (PARTITION BY occurred_at >= :since
                ORDER BY hashtext(trace_id), trace_id, record_key) AS place
        FROM trace t
        WHERE day BETWEEN :first_day AND :last_day AND app = :app AND environment = :environment
          AND occurred_at >= :begin AND occurred_at < :end
          AND NOT EXISTS (SELECT FROM trace newer WHERE newer.trace_id = t.trace_id AND newer.app = t.app
            AND newer.record_key = t.record_key AND newer.day = t.day AND newer.revision > t.revision)) AS one
    WHERE place <= :most
)
"""
_CONTEXTS = text(
    f"""
{_SEEN}
SELECT seen.is_after, coalesce(s.contexts, jsonb_array_length(x.contexts)) AS contexts,
    (SELECT coalesce(sum(length(c ->> 'content')), 0) FROM jsonb_array_elements(x.contexts) AS c)
        AS characters
FROM seen
LEFT JOIN LATERAL (
    SELECT CASE WHEN jsonb_typeof(t.contexts) = 'array' THEN t.contexts END AS contexts FROM trace_text t
    WHERE t.trace_id = seen.trace_id AND t.app = seen.app AND t.record_key = seen.record_key
      AND t.revision = seen.revision AND t.day = seen.day OFFSET 0) AS x ON true
LEFT JOIN LATERAL (
    SELECT (one.details ->> 'n_contexts')::numeric::int AS contexts FROM score one
    WHERE one.trace_id = seen.trace_id AND one.app = seen.app AND one.record_key = seen.record_key
      AND one.revision = seen.revision AND one.day = seen.day
      AND jsonb_typeof(one.details -> 'n_contexts') = 'number' LIMIT 1) AS s ON true
"""  # noqa: S608  # constants
)
_HEADS = text(
    f"""
{_SEEN}
SELECT seen.is_after, a.fingerprint,
    (SELECT avg(v.value::float8) FROM jsonb_each_text(a.verdicts #> '{{notes,query_only}}') AS v)
        AS retrieval,
    CASE WHEN jsonb_typeof(a.verdicts #> '{{notes,query_answer}}') = 'object' THEN
        (SELECT avg(v.value::float8) FROM jsonb_each_text(a.verdicts #> '{{notes,query_answer}}') AS v)
    END AS answer
FROM seen CROSS JOIN LATERAL (
    SELECT fingerprint, verdicts FROM assessment one
    WHERE one.trace_id = seen.trace_id AND one.app = seen.app AND one.record_key = seen.record_key
      AND one.revision = seen.revision AND one.day = seen.day AND one.head IS NOT NULL
      AND jsonb_typeof(one.verdicts #> '{{notes,query_only}}') = 'object' OFFSET 0) AS a
"""  # noqa: S608  # constants
)
_CHECKS = text(
    """
SELECT (array_agg(raw ORDER BY judged_at DESC) FILTER (WHERE judged_at < :since))[1] AS before,
    (array_agg(raw ORDER BY judged_at DESC) FILTER (WHERE judged_at >= :since))[1] AS after
FROM (SELECT check_id, judged_at, (scores -> :scorer ->> 'raw')::float8 AS raw FROM check_result
    WHERE judge = :judge AND fingerprint = :fingerprint AND answered_fingerprint IS NULL
      AND day BETWEEN :first_day AND :last_day AND judged_at >= :begin AND judged_at < :end
      AND scores -> :scorer ->> 'version' = :version AND scores -> :scorer ->> 'raw' IS NOT NULL) AS one
GROUP BY check_id
"""
)


def find_circumstances(
    reading: BriefReading, stream: ScoreStream, *, since: datetime, until: datetime, smallest_drop: float
) -> AlertCircumstances:
    """What is to be told of the time around a fall; a key that would say nothing is absent.

    Args:
        reading: within the caller's transaction.
        stream: whose scores fell.
        since: when the fall began.
        until: the end of the block that raised the alert.
        smallest_drop: that matters, on the scale 0 to 1.
    """
    begin, end = since - SIDE, min(until, since + SIDE)
    columns = {
        **stream.model_dump(),
        "since": since,
        "begin": begin,
        "end": end,
        "first_day": begin.date(),
        "last_day": end.date(),
        "most": MOST_TRACES,
    }
    found: AlertCircumstances = {}
    if (extraction := _find_extraction(reading, columns)) is not None:
        found["extraction"] = extraction
    traces = [SeenTrace(**row) for row in reading.read("contexts", _CONTEXTS, columns)]
    if (contexts := compare_contexts(traces)) is not None:
        found["contexts"] = contexts
    first = since - CHECKED_BEFORE
    checked = {**columns, "begin": first, "end": until, "first_day": first.date(), "last_day": until.date()}
    pairs = [
        (row["before"], row["after"])
        for row in reading.read("check_set", _CHECKS, checked)
        if row["before"] is not None and row["after"] is not None
    ]
    if (drift := compare_checks(pairs, smallest_drop=smallest_drop)) is not None:
        found["check_set"] = drift
    if (answers := compare_answers(_read_heads(reading, columns), smallest_drop=smallest_drop)) is not None:
        found["answers"] = answers
    return found


def _find_extraction(reading: BriefReading, columns: Mapping[str, Any]) -> ExtractionMoved | None:
    counts: tuple[Counter[Rule], Counter[Rule]] = (Counter(), Counter())
    for row in reading.read("extraction", _RULES, columns):
        counts[row["is_after"]][Rule(row["field"], row["rule"])] += row["n"]
    rules = tuple(sorted({*counts[0], *counts[1]}))
    before, after = (np.array([side[rule] for rule in rules], np.int64) for side in counts)
    moves = list_moves(rules, before, after)
    if not moves:
        return None
    totals: tuple[Counter[str], Counter[str]] = (Counter(), Counter())
    for side, total in zip(counts, totals, strict=True):
        for rule, n in side.items():
            total[rule.field] += n
    return {
        "moved": [
            {"field": one.rule.field, "rule": one.rule.name, "before": one.before, "after": one.after}
            for one in moves[:MOST_MOVES]
        ],
        "n_before": max(totals[0].values()),
        "n_after": max(totals[1].values()),
    }


def _read_heads(reading: BriefReading, columns: Mapping[str, Any]) -> list[SeenHeads]:
    """By the judge that has most on both sides: probabilities of two versions cannot be compared."""
    by_judge: dict[str, list[SeenHeads]] = {}
    for row in reading.read("answers", _HEADS, columns):
        if row["retrieval"] is not None:
            one = SeenHeads(row["is_after"], row["retrieval"], row["answer"])
            by_judge.setdefault(row["fingerprint"], []).append(one)
    return max(by_judge.values(), key=_count_smaller_side, default=[])


def _count_smaller_side(traces: list[SeenHeads]) -> int:
    after = sum(one.is_after for one in traces)
    return min(after, len(traces) - after)
