"""What the monitor itself counts about an alert, now: the alert's own numbers, beside their limits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from ragsonde.page.wording import say_age
from ragsonde_schemas.watched_alert import MOST_WAITING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime

    from ragsonde_schemas.watched_alert import JudgeStanding

    ReadSeries = Callable[[str], Mapping[tuple[str, ...], float]]

QUEUES = "queue_messages"
_JOBS = "monitor_job_last_success_timestamp_seconds"


class Figure(NamedTuple):
    """One series of the monitor as people read it.

    Attributes:
        series: its name without prefix.
        heading: what it counts.
        limit: from when on it is too much, in words.
        say: a value as text.
    """

    series: str
    heading: str
    limit: str
    say: Callable[[float], str]


@dataclass(frozen=True, kw_only=True)
class StandingBlock:
    """The rows of one figure: names and values; none where the monitor holds no number now."""

    heading: str
    limit: str
    rows: tuple[tuple[str, str], ...]


def _say_count(value: float) -> str:
    return f"{value:,.0f}"


def _say_seconds(value: float) -> str:
    return "none is due" if value <= 0 else f"{value:,.0f} s"


def _say_days(value: float) -> str:
    return f"{value:,.0f} days" if value >= 1 else "less than a day"


def _say_percent(value: float) -> str:
    return f"{value:.0%}".replace("%", "\u00a0%")


_QUEUES = Figure(QUEUES, "Messages that wait in queues", "", _say_count)
_GROWING = _QUEUES._replace(limit="1,000 messages, and half as many again as 15 minutes ago")
_STALLED = _QUEUES._replace(limit="any for 5 minutes while no worker is done with one")
_DEAD = _QUEUES._replace(limit="any in ragsonde.traces.dead")
_OLDEST = Figure("queue_oldest_seconds", "Work that has been due longest", "10 minutes", _say_seconds)
_GATHERED = Figure("open_traces", "Traces whose spans are still gathered", "", _say_count)
_PAUSED = Figure(
    "judge_paused",
    "Judges that are paused",
    "any for 5 minutes",
    lambda value: "paused" if value else "not paused",
)
_BUDGET = Figure(
    "judge_budget_ratio",
    "Spent and reserved of the present period's budget",
    "80 %, where less of the hour or day is over by 5 points",
    _say_percent,
)
_DRIFT = Figure(
    "judge_drift", "Mean change on the check set", "0.03 and three standard errors", lambda v: f"{v:+.3f}"
)
_ERROR = Figure("judge_drift_stderr", "Standard error of that change", "", lambda v: f"{v:.3f}")
_CHECKED = Figure(
    "judge_check_age_seconds", "Last score of the check set", "", lambda v: f"{v / 3600:.1f} h ago"
)
_FAILURES = Figure(
    "monitor_job_failures_total",
    "Runs of this monitor's jobs that failed since it began",
    "any of gathered, pauses, budgets",
    _say_count,
)
_BROKEN = Figure("ledger_violations", "Rows that break an invariant of the ledger", "any", _say_count)
_CONFIG = Figure(
    "config_info",
    "Hash of this monitor's settings; each other process shows its own in its /metrics",
    "more than one hash for 15 minutes",
    lambda _value: "in force here",
)

_EVIDENCE = Figure(
    "regression_evidence_days",
    "Chance alone would show each stream's scores about once in so many days",
    "30 for a warning; for a page as below",
    _say_days,
)
_PAGES = Figure("regression_page_threshold_days", "What a page needs", "", _say_days)
_DROP = Figure("regression_drop", "How far scores fell, where a fall is open", "", lambda v: f"{v:.2f}")
_BASELINE = Figure("regression_baseline_mean", "Mean of the baseline", "", lambda v: f"{v:.2f}")
_WATCHED = (_DROP, _EVIDENCE, _PAGES, _BASELINE)

_FIGURES: dict[str, tuple[Figure, ...]] = {
    "RagsondeRegression": _WATCHED,
    "RagsondeRegressionSuspected": _WATCHED,
    "RagsondeRegressionFallback": _WATCHED,
    "RagsondeQueueGrowing": (_GROWING, _OLDEST._replace(limit="")),
    "RagsondeQueueOld": (_OLDEST, _QUEUES, _GATHERED),
    "RagsondeWorkerStalled": (_STALLED, _OLDEST._replace(limit="")),
    "RagsondeNoTraces": (_QUEUES,),
    "RagsondeDeadLetters": (_DEAD,),
    "RagsondeDatabaseErrors": (_FAILURES,),
    "RagsondeJudgePaused": (_PAUSED,),
    "RagsondeJudgeDown": (_PAUSED._replace(limit=""), _OLDEST._replace(limit="")),
    "RagsondeBudgetNearlySpent": (_BUDGET,),
    "RagsondeJudgeMoved": (_DRIFT, _ERROR, _CHECKED),
    "RagsondeConfigDiffers": (_CONFIG,),
    "RagsondeLedgerBroken": (_BROKEN,),
}
STALE = "RagsondeMonitorStale"
_OF_JUDGES = frozenset({"RagsondeJudgePaused", "RagsondeJudgeDown", "RagsondeCoverageDrop"})


def list_blocks(
    name: str,
    read_series: ReadSeries,
    *,
    list_standings: Callable[[], Sequence[JudgeStanding]] | None,
    now: datetime,
) -> tuple[StandingBlock, ...]:
    """The alert's own numbers; () for one that traces show.

    Args:
        name: of the alert.
        read_series: the monitor's own values, by label values, of a series without its prefix.
        list_standings: reads judges that are paused or waited for; asked only for alerts about
            judges; None: they cannot be read.
        now: what ages are reckoned from.
    """
    blocks = [_build(one, read_series(one.series)) for one in _FIGURES.get(name, ())]
    if name in _OF_JUDGES and list_standings is not None:
        blocks.append(_list_judges(list_standings(), now=now))
    if name == STALE:
        blocks.append(_list_jobs(read_series(_JOBS), now=now))
    return tuple(blocks)


def describe_queues(read_series: ReadSeries) -> str:
    """How many messages the broker holds, as the monitor last counted them."""
    queues = read_series(QUEUES)
    if not queues:
        return "How many messages wait in queues is not known now."
    held = [f"{number:,.0f} in {labels[0]}" for labels, number in sorted(queues.items()) if number]
    return f"Messages that wait in queues: {', '.join(held) or '0'}."


def _build(figure: Figure, values: Mapping[tuple[str, ...], float]) -> StandingBlock:
    rows = tuple((", ".join(labels) or "all", figure.say(value)) for labels, value in sorted(values.items()))
    return StandingBlock(heading=figure.heading, limit=figure.limit, rows=rows)


def _list_judges(standings: Sequence[JudgeStanding], *, now: datetime) -> StandingBlock:
    rows = []
    for one in standings:
        facts = []
        if one.paused_since is not None:
            facts.append(f"paused since {say_age(one.paused_since, now=now)}: {one.pause_message}")
        if one.waits_since is not None:
            number = f"{one.waiting:,}" + (" or more" if one.waiting >= MOST_WAITING else "")
            facts.append(f"{number} evaluations wait, the oldest born {say_age(one.waits_since, now=now)}")
        rows.append((f"{one.judge}@{one.fingerprint[:6]}", "; ".join(facts)))
    return StandingBlock(heading="Judges that are paused or waited for", limit="", rows=tuple(rows))


def _list_jobs(successes: Mapping[tuple[str, ...], float], *, now: datetime) -> StandingBlock:
    """The one that has not succeeded for longest first."""
    rows = tuple(
        (labels[0], f"{now.timestamp() - at:,.0f} s ago" if at else "not yet since this monitor began")
        for labels, at in sorted(successes.items(), key=lambda pair: pair[1])
    )
    limit = "5 minutes for a quick job, 90 minutes for one that counts a day or comes once an hour"
    return StandingBlock(heading="Last success of this monitor's jobs", limit=limit, rows=rows)
