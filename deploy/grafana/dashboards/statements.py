r"""SQL of the dashboards.

Values chosen on a dashboard come as regular expressions between `$$`: Grafana escapes each `$` in them, so
none can end the literal, whatever a producer has named its app. `\A` and `\Z` are the ends of a text: a `$`
would run into the quotes.
"""

from __future__ import annotations

from ragsonde.exposition.labels import LABEL_MAX_CHARACTERS
from ragsonde.scoring.formula import Direction
from ragsonde.scoring.table import FORMULAS
from ragsonde_schemas.stream_labels import FINGERPRINT_CHARACTERS

MOST_TRACES = 50
MOST_ASSESSMENTS = 2_000

_TARGETS = ", ".join(f"'{one.id}'" for one in FORMULAS if one.direction is Direction.TARGET)


def _choose(column: str, variable: str) -> str:
    return f"{column} ~ $$\\A(?:${{{variable}:regex}})\\Z$$"


def _show_app(alias: str) -> str:
    return f"coalesce(nullif({alias}.app, ''), 'default')"


def _name_judge(alias: str, *, fingerprint: str) -> str:
    """The judge as labels name it, but for the epoch."""
    return f"{alias}.judge || '@' || left({fingerprint}, {FINGERPRINT_CHARACTERS})"


_JUDGE = _name_judge("s", fingerprint="coalesce(s.answered_fingerprint, s.fingerprint)")
_JUDGE_EPOCH = f"{_JUDGE} || CASE WHEN s.judge_epoch > 1 THEN '.' || s.judge_epoch ELSE '' END"
_SCORER = (
    "left(s.scorer || coalesce(substring(s.version from ':.*'), '') "
    f"|| coalesce('@' || substring(s.version from '[+]([^:]*)'), ''), {LABEL_MAX_CHARACTERS})"
)

_KEY = "trace_id, app, record_key, revision, day, judge, fingerprint"
_SAME_RECORD = " AND ".join(
    f"t.{name} = c.{name}" for name in ("trace_id", "app", "record_key", "revision", "day")
)
_OF_KEY = ", ".join(f"s.{name}" for name in _KEY.split(", "))
_MEAN = f"coalesce(avg(s.raw) FILTER (WHERE s.scorer NOT IN ({_TARGETS})), avg(s.raw))"

WORST_TRACES = f"""
WITH lowest AS (
    SELECT c.*, t.environment, t.release, t.occurred_at
    FROM (
        SELECT {_OF_KEY}, {_MEAN} AS compared FROM score s
        WHERE $__timeFilter(s.created_at) AND s.status = 'scored' AND {_choose(_show_app("s"), "app")}
          AND {_choose(_SCORER, "scorer")} AND {_choose(_JUDGE_EPOCH, "judge")}
        GROUP BY {_OF_KEY} ORDER BY compared
    ) c
    CROSS JOIN LATERAL (
        SELECT t.environment, t.release, t.occurred_at FROM trace t
        WHERE {_SAME_RECORD} AND {_choose("t.environment", "environment")} OFFSET 0
    ) t
    ORDER BY c.compared LIMIT {4 * MOST_TRACES}
)
SELECT s.trace_id, l.occurred_at, {_show_app("s")} AS app, l.environment, l.release,
    {_JUDGE_EPOCH} AS judge, avg(s.raw) AS mean_score, count(*) AS scores,
    (array_agg(s.scorer || ': ' || s.reason ORDER BY s.raw, s.scorer))[1] AS lowest
FROM lowest l JOIN current_score s USING ({_KEY})
WHERE s.status = 'scored' AND {_choose(_SCORER, "scorer")} AND {_choose(_JUDGE_EPOCH, "judge")}
GROUP BY {_OF_KEY}, l.environment, l.release, l.occurred_at, {_JUDGE_EPOCH}
ORDER BY {_MEAN}, l.occurred_at DESC LIMIT {MOST_TRACES}
"""  # noqa: S608 - constants; what people choose is quoted as said above
"""Lowest mean first; scorers of which less is not worse count only where no other is chosen.

The lowest are found among all rows and looked up one by one, from the lowest up, until there are enough;
which of their scores still count is asked of these alone: of all it takes ten times as long. Four times as
many as are shown, as some were replaced by a newer revision.
"""

LEDGER = f"""
SELECT {_show_app("e")} AS app, e.judge, count(*) FILTER (WHERE e.state <> 'superseded') AS evaluations,
    count(*) FILTER (WHERE e.state = 'scored') AS scored,
    count(*) FILTER (WHERE e.state = 'not_evaluable') AS not_evaluable,
    count(*) FILTER (WHERE e.state = 'failed') AS failed,
    count(*) FILTER (WHERE e.state IN ('waiting', 'running')) AS waiting,
    count(*) FILTER (WHERE e.state IN ('sampled_out', 'filtered')) AS left_out,
    count(*) FILTER (WHERE e.state = 'shed') AS shed,
    count(*) FILTER (WHERE e.state = 'superseded') AS superseded
FROM evaluation e
WHERE $__timeFilter(e.created_at) AND {_choose(_show_app("e"), "app")}
GROUP BY 1, 2 ORDER BY evaluations DESC, 1, 2
"""  # noqa: S608 - constants; what people choose is quoted as said above

COST_TODAY = f"""
WITH today AS (SELECT date_trunc('day', now(), 'UTC') AS begun),
judges AS (
    SELECT DISTINCT e.judge FROM evaluation e, today
    WHERE e.created_at >= begun - interval '2 days'
      AND {_choose(_name_judge("e", fingerprint="e.fingerprint"), "judge")}
),
runs AS (
    SELECT e.judge, e.calls, e.cost_usd FROM evaluation e, today
    WHERE e.created_at >= begun - interval '2 days' AND e.finished_at >= begun
    UNION ALL
    SELECT r.judge, r.calls, r.cost_usd FROM check_result r, today
    WHERE r.day = (begun AT TIME ZONE 'UTC')::date
),
spent AS (
    SELECT s.judge, s.spent_calls AS calls, s.spent_usd, s.unpriced_calls AS unpriced
    FROM judge_spend s, today WHERE s.period = 'day' AND s.starts_at = begun
    UNION ALL
    SELECT r.judge, sum(coalesce(r.calls, 0)), sum(coalesce(r.cost_usd, 0)),
        count(*) FILTER (WHERE r.calls > 0 AND r.cost_usd IS NULL)
    FROM runs r WHERE NOT EXISTS (SELECT FROM judge_spend s WHERE s.judge = r.judge) GROUP BY 1
)
SELECT j.judge, coalesce(s.calls, 0) AS calls, coalesce(s.spent_usd, 0) AS spent_usd,
    coalesce(s.spent_usd, 0) * 86400 / greatest(extract(epoch FROM now() - begun), 60)::float8
        AS projected_usd,
    coalesce(s.unpriced, 0) AS unpriced
FROM judges j CROSS JOIN today LEFT JOIN spent s USING (judge) ORDER BY spent_usd DESC, 1
"""  # noqa: S608 - constants; what people choose is quoted as said above
"""By when calls were made, as budgets are kept; of a judge that never had one by when its runs ended, so what
was tried again on another day is of that one. A day is one of UTC.
"""

AGREEMENT = f"""
WITH newest AS (
    SELECT {_name_judge("a", fingerprint="a.fingerprint")} AS name, a.trace_id, a.app, a.record_key,
        a.revision, a.day, a.verdicts
    FROM assessment a WHERE $__timeFilter(a.created_at) ORDER BY a.created_at DESC LIMIT {MOST_ASSESSMENTS}
),
pairs AS (
    SELECT one.name AS judge, other.name AS against,
        avg((mine.verdict -> 'relevant' = theirs.verdict -> 'relevant')::int)::float8 AS agreement,
        count(*) AS contexts
    FROM newest one JOIN newest other USING (trace_id, app, record_key, revision, day)
    CROSS JOIN LATERAL jsonb_each(one.verdicts -> 'contexts') AS mine(number, verdict)
    JOIN LATERAL jsonb_each(other.verdicts -> 'contexts') AS theirs(number, verdict)
        ON mine.number = theirs.number
    WHERE one.name <> other.name AND mine.verdict ->> 'relevant' IS NOT NULL
      AND theirs.verdict ->> 'relevant' IS NOT NULL
    GROUP BY 1, 2
),
seen AS (SELECT name, count(*) AS assessments FROM newest GROUP BY name)
SELECT s.name AS judge, s.assessments, coalesce(p.against, 'nobody') AS against, p.agreement,
    coalesce(p.contexts, 0) AS contexts
FROM seen s LEFT JOIN pairs p ON s.name = p.judge
WHERE {_choose("s.name", "judge")} ORDER BY 1, 3
"""  # noqa: S608 - constants; what people choose is quoted as said above

CHECK_SET = f"""
WITH judges AS (
    SELECT DISTINCT e.judge, e.fingerprint FROM evaluation e WHERE $__timeFilter(e.created_at)
),
members AS (SELECT count(*) AS traces FROM check_set c WHERE c.is_active)
SELECT {_name_judge("j", fingerprint="j.fingerprint")} AS judge, members.traces,
    count(r.judged_at) AS judged, count(r.cause) AS without_score, max(r.judged_at) AS newest
FROM judges j CROSS JOIN members
LEFT JOIN check_result r ON r.judge = j.judge AND r.fingerprint = j.fingerprint AND r.day > now()::date - 30
WHERE {_choose(_name_judge("j", fingerprint="j.fingerprint"), "judge")}
GROUP BY 1, 2 ORDER BY 1
"""  # noqa: S608 - constants; what people choose is quoted as said above

_STREAM_JUDGE = (
    f"{_name_judge('s', fingerprint='s.fingerprint')}"
    " || CASE WHEN s.judge_epoch > 1 THEN '.' || s.judge_epoch ELSE '' END"
)
_ROUNDED = "round((a.explanation ->> '{}')::numeric, 2)"

TOLD_FALLS = f"""
SELECT a.since AS time, coalesce(a.closed_at, $__timeTo()) AS timeend,
    {_SCORER} || ' by ' || {_STREAM_JUDGE} || ' fell by ' || {_ROUNDED.format("drop")}
        || ' (' || {_ROUNDED.format("drop_lower")} || ' to ' || {_ROUNDED.format("drop_upper")}
        || '), from a mean of ' || {_ROUNDED.format("baseline_mean")}
        || '. <a href="${{page}}/falls/' || a.id || '" target="_blank">Fall ' || a.id || '</a>' AS text,
    concat_ws(',', CASE WHEN a.paged_at IS NULL THEN 'suspected' ELSE 'fallen' END,
        CASE WHEN a.closed_at IS NULL THEN 'open' END) AS tags
FROM alert a JOIN score_stream s ON s.id = a.stream_id
WHERE a.since <= $__timeTo() AND (a.closed_at IS NULL OR a.closed_at >= $__timeFrom())
  AND {_choose(_show_app("a"), "app")} AND {_choose("a.environment", "environment")}
  AND {_choose(_SCORER, "scorer")} AND {_choose(_STREAM_JUDGE, "judge")}
ORDER BY a.since DESC LIMIT {MOST_TRACES}
"""  # noqa: S608 - constants; what people choose is quoted as said above
"""Each from when it began to when it ended; what is still open to the right edge."""
